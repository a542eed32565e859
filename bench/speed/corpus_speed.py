"""How long an offline corpus takes to search, to build and to open, and how much memory it needs.

python -m thoughtgraph.bench.speed.corpus_speed PAGES.jsonl 8000 1000000 --questions hotpotqa.jsonl

The first pages of a size are those of the file, the others are made of its sentences and of the
words of its titles. Three kinds of queries: titles as they stand, titles with two letters swapped,
and questions (sentences of the file when no file of questions is given). Searches are timed one
after the other in a process that has just opened the index, which the operating system still holds
in its memory; the memory reported includes the parts of the index that were read.
"""

import argparse
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

from thoughtgraph.tools.wiki.corpus import Corpus
from thoughtgraph.tools.wiki.corpus_files import read_entries
from thoughtgraph.tools.wiki.pages import Page

QUERIES = 1_000
"""Queries of each kind that are timed."""


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


def queries(file: Path, questions: Path | None) -> dict[str, list[str]]:
    """Returns the queries of each kind for a file of pages."""
    draw = random.Random(1)
    with file.open("rb") as lines:
        total = sum(1 for _ in lines)
        lines.seek(0)
        chosen = set(draw.sample(range(total), min(QUERIES, total)))
        # One line at a time: the memory reported is to be the index's.
        pages = [json.loads(line) for at, line in enumerate(lines) if at in chosen]
    titles = [page["title"] for page in pages]
    if questions is None:
        asked = [draw.choice(page["sentences"]) for page in pages]
    else:
        with questions.open(encoding="utf-8") as lines:
            asked = [json.loads(line)["question"] for line in lines]
    swapped = [_swapped(title, draw) for title in titles]
    return {"title": titles, "misspelt": swapped, "question": asked}


def _swapped(title: str, draw: random.Random) -> str:
    at = draw.randrange(max(1, len(title) - 1))
    return title[:at] + title[at : at + 2][::-1] + title[at + 2 :]


def measure(file: Path, folder: Path, questions: Path | None) -> None:
    """Builds the index of a file when there is none, else searches it; prints one line a figure."""
    built = folder.exists()
    began = time.perf_counter()
    corpus = Corpus.open(file, folder)
    print(f"  {'open' if built else 'build'}: {time.perf_counter() - began:.2f} s")
    if built:
        for kind, asked in queries(file, questions).items():
            _report(kind, corpus, asked)
    size = sum(part.stat().st_size for part in folder.rglob("*") if part.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  index {size / 1e6:.0f} MB on disk, {peak:.0f} MiB of memory at most")


def _report(kind: str, corpus: Corpus, asked: Sequence[str]) -> None:
    spent, hits = [], 0
    for query in asked:
        began = time.perf_counter()
        found = corpus.find_now(query)
        spent.append(1000 * (time.perf_counter() - began))
        hits += isinstance(found, Page)
    spent.sort()
    p50, p95 = (spent[int(len(spent) * share)] for share in (0.5, 0.95))
    print(f"  {kind:9} p50 {p50:6.2f} ms  p95 {p95:6.2f} ms  ({hits} of {len(asked)} are pages)")


def main() -> None:
    """Measures each size in processes of their own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("sizes", type=int, nargs="*", default=[8_000])
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--index", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.index is not None:
        measure(given.pages, given.index, given.questions)
        return
    asked = ["--questions", str(given.questions)] if given.questions else []
    with tempfile.TemporaryDirectory() as work:
        for size in given.sizes:
            print(f"{size:,} pages")
            file, index = Path(work, f"{size}.jsonl"), Path(work, str(size))
            write_pages(given.pages, size, file)
            command = [
                sys.executable,
                "-m",
                "thoughtgraph.bench.speed.corpus_speed",
                str(file),
                *asked,
            ]
            for _ in ("build", "search"):
                subprocess.run([*command, "--index", str(index)], check=True)


if __name__ == "__main__":
    main()
