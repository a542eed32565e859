"""No worked example of any prompt is a problem that a paper tests on, or of a public test file."""

import csv
import gzip
import json
import os
import re
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph.tasks.game24.game24 import solvable

VARIABLE = "THOUGHTGRAPH_TEST_SETS"
FOLDER = Path(os.environ.get(VARIABLE, ""))
pytestmark = pytest.mark.skipif(
    VARIABLE not in os.environ,
    reason=f"{VARIABLE} names no folder with public test sets: puzzles, math, wiki, scenes",
)
TESTED_RANKS = range(901, 1001)
"""Game of 24: Tree of Thoughts, section 4.1; Thought Rollback, section 5, follows it. Which puzzles
FGDIP took (section 5.4) is not published."""
LEAST_WORDS = 4
"""Shorter questions ("Which is it?") are compared with whole lines, longer ones with any text."""


def prompts() -> dict[str, str]:
    """The text of every prompt file."""
    folder = Path(str(files("thoughtgraph.prompts")))
    found = [path for path in folder.rglob("*") if path.suffix in (".md", ".json")]
    assert len(found) > 80
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in found}


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def asked_again(question: str, shown: dict[str, str]) -> list[str]:
    """The prompts that hold a question: `shown` are their plain texts, a line a line."""
    words = plain(question)
    edge = " " if len(words.split()) >= LEAST_WORDS else "\n"
    return [name for name, text in shown.items() if f"{edge}{words}{edge}" in text]


def lines_of(text: str) -> str:
    """Plain lines, without what stands before a question, with spaces and line ends around."""
    asked = [
        re.sub(r"^\W*(?:question|claim|input|[hv]\d)\b", "", line.casefold())
        for line in text.split("\n")
    ]
    return "".join(f"\n{plain(line)}\n" for line in asked) + f" {plain(text)} "


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    return {name: lines_of(text) for name, text in prompts().items()}


def read(path: Path) -> Any:
    """What a file holds: a record a line, rows of a table, an object or sentences."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = raw.decode()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    if path.suffix == ".csv":
        return [{"question": row[0]} for row in csv.reader(text.splitlines(keepends=True))]
    if path.suffix == ".txt":
        return [{"question": part} for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]
    return json.loads(text)


def asks(value: Any) -> Iterator[str]:
    """Finds what is asked, however deep it stands."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from [each] if key in ASKED else asks(each)
    elif isinstance(value, list):
        for each in value:
            yield from asks(each)


ASKED = ("question", "problem", "Question", "Body")
SETS = {
    "math/gsm8k_*.jsonl": 600,
    "math/aqua_*.jsonl": 120,
    "math/math500_*.jsonl": 250,
    "math/svamp_*.json": 900,
    "math/theoremqa_*.json": 400,
    "math/mmlu/*_test.csv": 500,
    "wiki/hotpotqa_*_100.jsonl": 300,
    "wiki/strategyqa_dev.json": 229,
    "scenes/*.json.gz": 3000,
    "scenes/paper_scenes.json": 1,
    "puzzles/creative_writing_100.txt": 390,
}
"""Files, and how much is asked in them at least."""


@pytest.mark.parametrize(("files", "least"), SETS.items())
def test_no_worked_example_is_a_public_test_question(files, least, shown):
    asked = [text for path in sorted(FOLDER.glob(files)) for text in asks(read(path))]
    assert len(asked) >= least
    again = {question: where for question in asked if (where := asked_again(question, shown))}
    assert not again


def test_no_shown_puzzle_is_among_those_that_the_papers_test():
    with (FOLDER / "puzzles/game24.csv").open(encoding="utf-8", newline="") as lines:
        ranks = {hand(row["Puzzles"]): int(row["Rank"]) for row in csv.DictReader(lines)}
    assert len(ranks) == 1362
    found = {
        hand(four): name
        for name, text in prompts().items()
        for four in re.findall(r"(?=(?<![\d.])(\d+ \d+ \d+ \d+)(?![\d.]))", text)
    }
    assert sum(solvable(tuple(map(Fraction, numbers))) for numbers in found) >= 7
    tested = {puzzle: name for puzzle, name in found.items() if ranks.get(puzzle) in TESTED_RANKS}
    assert not tested


def hand(puzzle: str) -> tuple[int, ...]:
    return tuple(sorted(map(int, puzzle.split())))
