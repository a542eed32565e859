"""At which step Game of 24 fails: Figure 3 (b) of Tree of Thoughts.

A sample has failed at the first of three steps that is none, or after which 24 cannot be reached
from the numbers left; a search has where this holds of all thoughts that it kept. What still could
reach 24 after the third and is wrong failed at the fourth, the answer.
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
    """Returns whether steps are right and 24 can be reached from the numbers that they leave.

    Args:
        problem: The puzzle.
        steps: The steps' texts. Numbers that the last of them says are left must be those.
    """
    left = left_over(problem, steps)
    if left is None or not solvable(tuple(sorted(left))):
        return False
    said = EQUATION.search(steps[-1])
    return said is None or Counter(map(number, said[5].split())) == Counter(left)


def failed_step(problem: str, steps: Sequence[str]) -> int:
    """Returns the step, from 1, at which steps without a right answer failed."""
    numbered = range(1, min(LENGTH, len(steps)) + 1)
    failed = (at for at in numbered if not reachable(problem, steps[:at]))
    return next(failed, len(numbered) + 1)


def steps_in(text: str) -> list[str]:
    """Returns the equations, each with the numbers left, that a chain of thought holds."""
    return [match[0] for match in EQUATION.finditer(text)]


def samples(problem: str, tree: Tree, right: Collection[str | None]) -> Iterator[int | None]:
    """Yields the step at which each sample of a direct question failed; None of one that is right.

    An output without steps, such as of the prompt that asks for the answer alone, is passed over.

    Args:
        problem: The puzzle.
        tree: The samples.
        right: The right answers among them.
    """
    for sample in children_of(tree, ROOT):
        if steps := steps_in(sample["text"]):
            yield None if sample.get("answer") in right else failed_step(problem, steps)


def search(problem: str, tree: Tree, right: Collection[str | None]) -> Iterator[int | None]:
    """Yields the step at which a breadth-first search failed; None where an output is right.

    A search without a thought, which a limit ended at once, is passed over.

    Args:
        problem: The puzzle.
        tree: The search.
        right: The right answers among its outputs.
    """
    kept = [key for key, thought in tree.items() if key != ROOT and thought["status"] != "pruned"]
    if len(tree) > 1:
        reached = (failed_step(problem, texts(path_to(tree, key))) for key in kept)
        yield None if right else max(reached, default=1)
