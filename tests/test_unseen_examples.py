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


def _json_lines(name: str) -> Iterator[Any]:
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _json(name: str) -> Any:
    path = FOLDER / name
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return json.loads(text)


def gsm8k() -> list[str]:
    return [each["question"] for each in _json_lines("math/gsm8k_test_first_half.jsonl")]


def aqua() -> list[str]:
    return [each["question"] for each in _json_lines("math/aqua_test_first_half.jsonl")]


def math() -> list[str]:
    return [each["problem"] for each in _json_lines("math/math500_first_half.jsonl")]


def svamp() -> list[str]:
    asked = _json("math/svamp_first_half.json")
    return [text for each in asked for text in (each["Body"], each["Question"])]


def theoremqa() -> list[str]:
    return [each["Question"] for each in _json("math/theoremqa_first_half.json")]


def mmlu() -> list[str]:
    tests = sorted((FOLDER / "math/mmlu").glob("*_test.csv"))
    texts = [path.read_text(encoding="utf-8") for path in tests]
    return [row[0] for text in texts for row in csv.reader(text.splitlines(keepends=True))]


def hotpotqa() -> list[str]:
    levels = ("easy", "medium", "hard")
    files_ = [f"wiki/hotpotqa_{level}_100.jsonl" for level in levels]
    return [each["question"] for name in files_ for each in _json_lines(name)]


def strategyqa() -> list[str]:
    return [each["question"] for each in _json("wiki/strategyqa_dev.json")]


def scenes() -> list[str]:
    sets = (
        "clevr_val_questions_0-999",
        "clevr_generated_on_val_scenes_200-349",
        "ptr_real_scene_questions",
    )
    asked = [
        each["question"] for name in sets for each in _json(f"scenes/{name}.json.gz")["questions"]
    ]
    return [*asked, *(each["question"] for each in _json("scenes/paper_scenes.json").values())]


def creative_writing() -> list[str]:
    inputs = (FOLDER / "puzzles/creative_writing_100.txt").read_text(encoding="utf-8")
    return [text for text in re.split(r"(?<=[.!?])\s+", inputs) if text.strip()]


def crossword_clues() -> list[str]:
    return [clue for clues, _ in _json("puzzles/crosswords_20.json") for clue in clues]


@pytest.mark.parametrize(
    ("problems", "least"),
    [
        (gsm8k, 600),
        (aqua, 120),
        (math, 250),
        (svamp, 900),
        (theoremqa, 400),
        (mmlu, 500),
        (hotpotqa, 300),
        (strategyqa, 229),
        (scenes, 3000),
        (creative_writing, 390),
        (crossword_clues, 200),
    ],
)
def test_no_worked_example_is_a_public_test_question(problems, least, shown):
    asked = problems()
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
    boards = [set(words("".join(letters))) for _, letters in _json("puzzles/crosswords_20.json")]
    for text in prompts().values():
        for board in re.findall(r"(?:(?:[A-Z] ){4}[A-Z]\n){5}", f"{text}\n"):
            ours = set(words(re.sub(r"\W", "", board)))
            assert max(len(ours & theirs) for theirs in boards) <= 1


def words(letters: str) -> list[str]:
    rows = [letters[5 * at : 5 * at + 5] for at in range(5)]
    return [*rows, *("".join(column) for column in zip(*rows, strict=True))]
