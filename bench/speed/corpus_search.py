"""How long an offline corpus takes to search, to build and to open, and how much memory it needs.

The first pages of a size are those of the file that is named, the others are made of its sentences
and of the words of its titles. Three kinds of queries: titles as they stand, titles with two
letters swapped, and questions (sentences of the file when no file of questions is given). Building
and searching are processes of their own, because the memory is measured: searches are timed one
after the other in a process that has just opened the index, which the operating system still holds
in its memory; the memory told includes the parts of the index that were read.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from thoughtgraph.bench.speed.measurement import (
    Conditions,
    Figure,
    Measurement,
    Readings,
    Unavailable,
)
from thoughtgraph.tools.wiki.corpus import Corpus
from thoughtgraph.tools.wiki.corpus_files import read_entries
from thoughtgraph.tools.wiki.pages import Page

QUERIES = 1_000
"""Queries of each kind that are timed."""
SMALL = 8_000
"""Pages of the smaller corpus."""
KINDS = ("title", "misspelt title", "question")


def write_pages(source: Path, size: int, target: Path) -> None:
    """Writes a file of that many pages."""
    with target.open("w", encoding="utf-8") as out:
        for title, sentences in islice(_pages(source), size):
            out.write(json.dumps({"title": title, "sentences": sentences}) + "\n")


def _pages(source: Path) -> Iterator[tuple[str, Sequence[str]]]:
    real = [page for page in read_entries(source) if isinstance(page, Page)]
    for page in real:
        yield page.title, [sentence for paragraph in page.paragraphs for sentence in paragraph]
    draw = random.Random(0)
    words = [word for page in real for word in page.title.split()]
    sentences = [sentence for page in real for part in page.paragraphs for sentence in part]
    while True:
        yield " ".join(draw.choices(words, k=3)), draw.choices(sentences, k=4)


def queries(file: Path, questions: str) -> dict[str, list[str]]:
    """Returns the queries of each kind for a file of pages."""
    draw = random.Random(1)
    with file.open("rb") as lines:
        total = sum(1 for _ in lines)
        lines.seek(0)
        chosen = set(draw.sample(range(total), min(QUERIES, total)))
        # One line at a time: the memory reported is to be the index's.
        pages = [json.loads(line) for at, line in enumerate(lines) if at in chosen]
    titles = [page["title"] for page in pages]
    if questions:
        with Path(questions).open(encoding="utf-8") as lines:
            asked = [json.loads(line)["question"] for line in lines]
    else:
        asked = [draw.choice(page["sentences"]) for page in pages]
    return dict(zip(KINDS, (titles, [_swapped(t, draw) for t in titles], asked), strict=True))


def _swapped(title: str, draw: random.Random) -> str:
    at = draw.randrange(max(1, len(title) - 1))
    return title[:at] + title[at : at + 2][::-1] + title[at + 2 :]


def opened(file: Path, folder: Path, questions: str) -> Readings:
    """Builds the index of a file when there is none, else searches it."""
    built = folder.exists()
    began = time.perf_counter()
    corpus = Corpus.open(file, folder)
    readings = {"open" if built else "build": time.perf_counter() - began}
    for kind, asked in queries(file, questions).items() if built else ():
        readings |= _searched(kind, corpus, asked)
    size = sum(part.stat().st_size for part in folder.rglob("*") if part.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**readings, "disk": size / 1e6, "memory": peak}


def _searched(kind: str, corpus: Corpus, asked: Sequence[str]) -> Readings:
    spent, hits = [], 0
    for query in asked:
        began = time.perf_counter()
        found = corpus.find_now(query)
        spent.append(1000 * (time.perf_counter() - began))
        hits += isinstance(found, Page)
    spent.sort()
    p50, p95 = (spent[int(len(spent) * share)] for share in (0.5, 0.95))
    return {f"{kind}, 50 %": p50, f"{kind}, 95 %": p95, f"{kind}, pages": hits / len(asked)}


async def measured(under: Conditions) -> Readings:
    """Returns what a small corpus takes, and one of as many pages as were asked for."""
    if not under.pages:
        raise Unavailable("it needs --pages FILE: lines of JSON with title and sentences")
    readings: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as work:
        for label, size in (("small", SMALL), ("large", under.count)):
            file, index = Path(work, f"{label}.jsonl"), Path(work, label)
            write_pages(Path(under.pages), size, file)
            command = [sys.executable, "-m", __name__, str(file), str(index), under.questions]
            for _ in ("build", "search"):
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
                found = json.loads(done.stdout)
                readings |= {f"{label}, {name}": value for name, value in found.items()}
    return readings


CORPUS = Measurement(
    "corpus",
    "searching, building and opening an offline corpus of 8,000 pages and one of a million",
    "1,000 queries of each kind; the large corpus has --count pages; --pages, --questions",
    tuple(
        Figure(f"{label}, {name}", unit)
        for label in ("small", "large")
        for name, unit in (
            *((f"{kind}, {share}", "ms") for kind in KINDS for share in ("50 %", "95 %")),
            *((f"{kind}, pages", "share") for kind in KINDS),
            *(("build", "s"), ("open", "s"), ("disk", "MB"), ("memory", "MiB")),
        )
    ),
    count=1_000_000,
    quick=10_000,
    take=measured,
)

if __name__ == "__main__":
    pages, folder, asked = sys.argv[1:]
    print(json.dumps(opened(Path(pages), Path(folder), asked)))
