"""No worked example of any prompt is a problem that a paper tests on, or of a public test file."""

import csv
import gzip
import json
import os
import re
from collections.abc import Callable, Iterable
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


def by(*names: str | int) -> Callable[[Iterable[Any]], list[str]]:
    """Reads texts out of records, by their names."""
    return lambda records: [record[name] for record in records for name in names]


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


def read(name: str) -> Any:
    """What a file holds: a record a line, rows of a table, an object or a text."""
    path = FOLDER / name
    if path.suffix == ".gz":
        return json.loads(gzip.decompress(path.read_bytes()))
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    if path.suffix == ".csv":
        return list(csv.reader(text.splitlines(keepends=True)))
    return json.loads(text) if path.suffix == ".json" else text


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]


def clues(boards: Any) -> list[str]:
    return [clue for asked, _ in boards for clue in asked]


SETS: dict[str, tuple[list[str], Callable[[Any], Iterable[str]], int]] = {
    "gsm8k": (["math/gsm8k_test_first_half.jsonl"], by("question"), 600),
    "aqua": (["math/aqua_test_first_half.jsonl"], by("question"), 120),
    "math": (["math/math500_first_half.jsonl"], by("problem"), 250),
    "svamp": (["math/svamp_first_half.json"], by("Body", "Question"), 900),
    "theoremqa": (["math/theoremqa_first_half.json"], by("Question"), 400),
    "mmlu": (["math/mmlu/*_test.csv"], by(0), 500),
    "hotpotqa": (["wiki/hotpotqa_*_100.jsonl"], by("question"), 300),
    "strategyqa": (["wiki/strategyqa_dev.json"], by("question"), 229),
    "scenes": (["scenes/*.json.gz"], lambda made: by("question")(made["questions"]), 3_000),
    "paper": (["scenes/paper_scenes.json"], lambda made: by("question")(made.values()), 1),
    "creative writing": (["puzzles/creative_writing_100.txt"], sentences, 390),
    "clues": (["puzzles/crosswords_20.json"], clues, 200),
}
"""The files of each set, what of them is asked, and how much that is at least."""


@pytest.mark.parametrize(("names", "asks", "least"), SETS.values(), ids=SETS)
def test_no_worked_example_is_a_public_test_question(names, asks, least, shown):
    files = [path for name in names for path in sorted(FOLDER.glob(name))]
    asked = [text for path in files for text in asks(read(str(path.relative_to(FOLDER))))]
    assert len(asked) >= least
    again = {question: where for question in asked if (where := asked_again(question, shown))}
    assert not again


def test_a_question_that_is_shown_is_found(shown):
    question = "What is the sum of the first 20 positive odd numbers?"
    assert asked_again(question, shown) == ["stepwise/formulas.md"]
    assert asked_again("Can you chew argon?", shown)
    assert asked_again("Change to fit", shown)
    assert not asked_again("to choose", shown)


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


def test_no_shown_crossword_shares_two_words_with_a_test_board():
    boards = [set(words("".join(letters))) for _, letters in read("puzzles/crosswords_20.json")]
    for text in prompts().values():
        for board in re.findall(r"(?:(?:[A-Z] ){4}[A-Z]\n){5}", f"{text}\n"):
            ours = set(words(re.sub(r"\W", "", board)))
            assert max(len(ours & theirs) for theirs in boards) <= 1


def words(letters: str) -> list[str]:
    rows = [letters[5 * at : 5 * at + 5] for at in range(5)]
    return [*rows, *("".join(column) for column in zip(*rows, strict=True))]
