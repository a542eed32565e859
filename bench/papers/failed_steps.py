"""Finds the step at which Game of 24 fails: Figure 3 (b) of Tree of Thoughts.

A sample fails at the first of its three steps that is invalid or leaves numbers that cannot reach
24. A search fails where the furthest of the thoughts that it kept fails. A wrong sample that could
still reach 24 after its third step fails at the fourth, the answer.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from thoughtgraph.bench.questions.game24_puzzles import solvable
from thoughtgraph.tasks.game24.game24 import STEPS
from thoughtgraph.tasks.game24.lines import EQUATION
from thoughtgraph.tasks.game24.rollback_steps import LENGTH, left_over
from thoughtgraph.tasks.numbers import number
from thoughtgraph.tree import ROOT, Tree, children_of, path_to, texts

FAILED = tuple(range(1, STEPS + 1))
"""The steps at which a sample can fail."""


def reachable(problem: str, steps: Sequence[str]) -> bool:
    """Returns whether steps are valid and the numbers that they leave can reach 24.

    Args:
        problem: The puzzle.
        steps: The steps' texts. If the last one lists the numbers left, the list must be right.
    """
    left = left_over(problem, steps)
    if left is None or not solvable(tuple(sorted(left))):
        return False
    equation = EQUATION.search(steps[-1])
    return equation is None or Counter(map(number, equation[5].split())) == Counter(left)


def failed_step(problem: str, steps: Sequence[str]) -> int:
    """Returns the number, from 1, of the step at which a sample without a right answer failed."""
    numbered = range(1, min(LENGTH, len(steps)) + 1)
    failed = (at for at in numbered if not reachable(problem, steps[:at]))
    return next(failed, len(numbered) + 1)


def steps_in(text: str) -> list[str]:
    """Returns the equations in a chain of thought, each with the numbers that it leaves."""
    return [match[0] for match in EQUATION.finditer(text)]


def samples(problem: str, tree: Tree, right: Collection[str | None]) -> Iterator[int | None]:
    """Yields the step at which each sample of a direct method failed; None for a right sample.

    Samples without steps are skipped, such as those of the prompt that asks for the answer alone.

    Args:
        problem: The puzzle.
        tree: The samples.
        right: The right answers among them.
    """
    for sample in children_of(tree, ROOT):
        if steps := steps_in(sample["text"]):
            yield None if sample.get("answer") in right else failed_step(problem, steps)


def search(problem: str, tree: Tree, right: Collection[str | None]) -> Iterator[int | None]:
    """Yields the step at which a breadth-first search failed; None if an output is right.

    A search without thoughts, which a limit ended at once, is skipped.

    Args:
        problem: The puzzle.
        tree: The search.
        right: The right answers among its outputs.
    """
    ids = [key for key, thought in tree.items() if key != ROOT and thought["status"] != "pruned"]
    if len(tree) > 1:
        failures = (failed_step(problem, texts(path_to(tree, key))) for key in ids)
        yield None if right else max(failures, default=1)
