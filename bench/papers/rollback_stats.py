"""What the rollbacks of Thought Rollback did: the data of the paper's Figure 3.

Interactions by method (a), the kinds of reasoning paths with how many of each are right (b),
failures at the first step of Game of 24 by rollbacks to the problem and by the span of the one that
led to the step (c), and the spans of all rollbacks.
"""

from collections.abc import Sequence
from typing import NamedTuple

from thoughtgraph.bench.papers.failed_steps import reachable
from thoughtgraph.tree import ROOT, Tree, path_to

STRUCTURED = "rollback"
"""The method whose structure is told."""
METHODS = (STRUCTURED, "chain", "level_tot")
"""The methods whose interactions are told."""
MOST_OUT = 2
"""A path is Out Rollback when rollbacks leave more of its thoughts than this (section 5.1)."""


class Kinds(NamedTuple):
    """Which kinds of path a path is; the first two may both hold, and neither may."""

    into: bool
    """In Rollback: rollbacks led to the creation of more than half of its thoughts."""
    out: bool
    """Out Rollback: rollbacks leave more than two of its thoughts."""
    none: bool
    """No Rollback: neither occurs on it."""


def kinds(tree: Tree, key: str) -> Kinds:
    """Returns which kinds of path ends in a thought."""
    path = path_to(tree, key)
    into = sum("caused_by" in thought for thought in path)
    out = sum("rollback" in thought for thought in path)
    return Kinds(2 * into > len(path), out > MOST_OUT, not into and not out)


def spans(tree: Tree) -> list[int]:
    """Returns how many thoughts each rollback went back, oldest first."""
    return [
        thought["depth"] - tree[thought["rollback"]["to"]]["depth"]
        for thought in tree.values()
        if "rollback" in thought
    ]


def solutions(tree: Tree) -> list[str]:
    """Returns the thoughts that end a path and count as solutions, in order."""
    return [key for key, thought in tree.items() if thought["status"] == "terminal"]


class FirstStep(NamedTuple):
    """A first step of a Game of 24 search."""

    before: int
    """How many rollbacks had led to the root's continuations up to it, itself included."""
    failed: bool
    """Whether it is no step, or 24 cannot be reached from the numbers that it leaves."""


def first_steps(problem: str, tree: Tree) -> list[FirstStep]:
    """Returns the first steps of a Game of 24 search, in order."""
    steps: list[FirstStep] = []
    for thought in tree.values():
        if thought["parent"] == ROOT:
            before = sum("caused_by" in tree[key] for key in _firsts(tree, thought["id"]))
            steps.append(FirstStep(before, not reachable(problem, [thought["text"]])))
    return steps


def _firsts(tree: Tree, key: str) -> Sequence[str]:
    """Returns the first steps up to one, itself included."""
    return [k for k, t in tree.items() if t["parent"] == ROOT and int(k) <= int(key)]
