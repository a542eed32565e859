"""The task `game24`: what it asks, what it makes of verdicts, and which puzzles can be solved."""

import itertools
from fractions import Fraction
from typing import Any

import pytest
from support.scripted import rng

from thoughtgraph.tasks.game24.game24 import Game24, solvable
from thoughtgraph.tree import Thought

TASK: Any = Game24()
PUZZLE = "4 9 10 13"
STEP = "4 + 9 = 13 (left: 10 13 13)"


def path(*lines: str) -> list[Thought]:
    return [{"text": line} for line in lines]


def test_every_line_is_kept_where_the_official_parser_is_asked_for() -> None:
    text = f"Possible next steps:\n{STEP}\n"
    found = TASK.propose(PUZZLE, [], {"strict_parse": False}).read([text])
    assert [draft["text"] for draft in found] == ["Possible next steps:", STEP, ""]


@pytest.mark.parametrize(
    ("samples", "answers"),
    [
        (["Answer: (11 - 8) * ( = 24", "Answer: 4 + 9 = 24"], [None, "4 + 9"]),
        (["Answer: - = 24", "Answer: 3 / 0 = 24"], ["-", "3 / 0"]),
    ],
)
def test_answers_without_a_value_get_votes_only_where_no_answer_has_one(
    samples: list[str], answers: list[str | None]
) -> None:
    assert TASK.ask(PUZZLE, "cot", {}).read(samples) == answers


@pytest.mark.parametrize(
    ("samples", "value", "label", "malformed"),
    [
        (["x\nsure", "likely", "x\nSure."], 41.0, "sure, likely, sure", 0),
        (["maybe", "impossible", "hm"], 1.001, "maybe, impossible, ?", 1),
        (["**sure**", "`Likely`", ""], 21.0, "sure, likely, ?", 1),
        (["surely", "sure thing", "not sure"], 0.0, "?, ?, ?", 3),
    ],
)
def test_the_worths_of_verdicts_add_up(
    samples: list[str], value: float, label: str, malformed: int
) -> None:
    verdict = TASK.value(PUZZLE, path(STEP), {}).read(samples)
    assert verdict.value == pytest.approx(value)
    assert (verdict.label, verdict.malformed) == (label, malformed)


def test_prompts_end_in_the_numbers_that_are_left_or_in_the_answer() -> None:
    assert TASK.value(PUZZLE, path(STEP), {}).prompt.user.endswith("\n10 13 13")
    finished = path("a (left: 10 6 4)", "b (left: 6 4)", "c (left: 24)", "Answer: 6 * 4 = 24")
    last = TASK.value(PUZZLE, finished, {}).prompt.user
    assert "give a judgement (sure/impossible)" in last
    assert last.rstrip().endswith(f"Input: {PUZZLE}\nAnswer: 6 * 4 = 24\nJudge:")
    first = TASK.propose(PUZZLE, [], {}).prompt.user
    assert first.endswith(f"Input: {PUZZLE}\nPossible next steps:\n")
    three = TASK.propose(PUZZLE, path(STEP), {"shots": 3}).prompt.user
    assert three.count("Possible next steps:") == 4
    done = TASK.propose(PUZZLE, path(STEP, "6 * 4 = 24 (left: 24)"), {}).prompt.user
    assert done.endswith(f"Input: {PUZZLE}\nSteps:\n{STEP}\n6 * 4 = 24 (left: 24)\n")


@pytest.mark.parametrize("hands", [range(3), pytest.param(range(3, 15), marks=pytest.mark.ci)])
def test_solvable_agrees_with_writing_every_expression_down(hands: range) -> None:
    for seed in hands:
        numbers = [rng("hand", seed, at).randrange(1, 14) for at in range(4)]
        puzzle = " ".join(map(str, numbers))
        by_hand = any(TASK.check(puzzle, expression) for expression in expressions(numbers))
        assert solvable(tuple(map(Fraction, numbers))) == by_hand, puzzle


def expressions(numbers: list[int]) -> Any:
    """Every way to write four numbers with three operations and parentheses."""
    shapes = ("(({}{}{}){}{}){}{}", "({}{}({}{}{})){}{}", "({}{}{}){}({}{}{})",
              "{}{}(({}{}{}){}{})", "{}{}({}{}({}{}{}))")  # fmt: skip
    for a, b, c, d in set(itertools.permutations(numbers)):
        for x, y, z in itertools.product("+-*/", repeat=3):
            for shape in shapes:
                yield shape.format(a, x, b, y, c, z, d)
