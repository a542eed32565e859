"""Game of 24 as structured reasoning steps (Thought Rollback, section 5; the form is ours).

A step names two numbers of the current set, an operation and its result. Exactly three steps make a
path; its answer is the expression that they compose. Numbers are tracked exactly.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from thoughtgraph.prompts import fill, load
from thoughtgraph.task import Options
from thoughtgraph.tasks.game24.lines import Operand, combine, keyboard
from thoughtgraph.tasks.rollback_prompts import Reasoning
from thoughtgraph.tools.arithmetic import ExpressionError, evaluate
from thoughtgraph.tree import Path, texts

LENGTH = 3
"""Steps of a path: each takes two numbers and puts one back."""
TOPIC = "Game of 24: combine four numbers into 24"
SETTINGS = {"steps": LENGTH, "temperature": 0.7}
PUBLISHED = dict.fromkeys(("rollback", "chain", "level_tot"), SETTINGS)
"""Published settings by method."""

_NUMBER = r"(-?\d{1,9}(?:/\d{1,9}|\.\d{1,9})?)"
_STEP = re.compile(
    rf"{_NUMBER}\)?\s{{0,3}}([-+*/])\s{{0,3}}\(?{_NUMBER}\)?\s{{0,3}}=\s{{0,3}}\(?{_NUMBER}"
)


class StructuredSteps(Reasoning):
    """Thought Rollback's steps of Game of 24, a mixin of the task."""

    topic = TOPIC
    examples = "game24/steps"

    def task_statement(self, options: Options) -> str:
        """Describes the task; three steps end a path, so there is no marker."""
        return fill("rollback/head_game24", topic=TOPIC)

    def step_format(self) -> str:
        """Returns the instruction on the form of a step."""
        return load("rollback/form_game24")

    def read_step(self, problem: str, path: Path, text: str) -> dict[str, Any]:
        """Returns the text as a step, unchanged; the third step ends the path."""
        if len(path) + 1 < LENGTH:
            return {"text": text}
        answer = composed(problem, [*texts(path), text])
        return {"text": text, "status": "terminal", "answer": answer}


def composed(problem: str, steps: Sequence[str]) -> str | None:
    """Returns the expression that steps compose from a puzzle's numbers.

    Args:
        problem: The puzzle.
        steps: The steps' texts.

    Returns:
        The expression; None if a step names no operation, uses a number that is not in the current
        set or has a wrong result, or if numbers are left over.
    """
    parts = _operands_after(problem, steps)
    if parts is None or len(parts) != 1:
        return None
    return parts[0].expression.removeprefix("(").removesuffix(")")


def left_over(problem: str, steps: Sequence[str]) -> list[Fraction] | None:
    """Returns the numbers left after steps; None if a step is wrong."""
    parts = _operands_after(problem, steps)
    return None if parts is None else [part.value for part in parts]


def _operands_after(problem: str, steps: Sequence[str]) -> list[Operand] | None:
    parts = [Operand(Fraction(number), number) for number in problem.split()]
    for step in steps:
        equation = _STEP.search(" ".join(keyboard(step).split()))
        if equation is None:
            return None
        a, sign, b, result = equation.groups()
        try:
            left = combine(parts, a, sign, b)
            if not left or left[-1].value != evaluate(result):
                return None
        except ExpressionError:
            return None
        parts = left
    return parts
