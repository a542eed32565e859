"""Statistics of Thought Rollback's rollbacks: the data of the paper's Figure 3.

They are the interactions by method (a), the kinds of reasoning paths with the number of right ones
(b), failures at the first step of Game of 24 by the number of rollbacks to the problem (c), and the
spans of all rollbacks.
"""

from collections.abc import Sequence
from typing import NamedTuple

from thoughtgraph.bench.papers.failed_steps import reachable
from thoughtgraph.tree import ROOT, Tree, path_to

STRUCTURED = "rollback"
"""The method whose paths and rollbacks are counted."""
METHODS = (STRUCTURED, "chain", "level_tot")
"""The methods whose interactions are counted."""
MOST_OUT = 2
"""A path is Out Rollback if rollbacks leave from more of its thoughts than this (section 5.1)."""


class Kinds(NamedTuple):
    """The kinds of a reasoning path; the first two may both hold, or neither."""

    into: bool
    """In Rollback: rollbacks led to the creation of more than half of its thoughts."""
    out: bool
    """Out Rollback: rollbacks leave from more than two of its thoughts."""
    none: bool
    """No Rollback: rollbacks neither created nor leave from any of its thoughts."""


def kinds(tree: Tree, key: str) -> Kinds:
    """Returns the kinds of the path that ends in a thought."""
    path = path_to(tree, key)
    into = sum("caused_by" in thought for thought in path)
    out = sum("rollback" in thought for thought in path)
    return Kinds(2 * into > len(path), out > MOST_OUT, not into and not out)


def spans(tree: Tree) -> list[int]:
    """Returns the number of thoughts that each rollback went back, oldest rollback first."""
    return [
        thought["depth"] - tree[thought["rollback"]["to"]]["depth"]
        for thought in tree.values()
        if "rollback" in thought
    ]


def solutions(tree: Tree) -> list[str]:
    """Returns the ids of thoughts that end a path as a solution, in order."""
    return [key for key, thought in tree.items() if thought["status"] == "terminal"]


class FirstStep(NamedTuple):
    """A first step of a Game of 24 search."""

    before: int
    """Number of first steps that a rollback led to, up to and including this one."""
    failed: bool
    """Whether the step is invalid or leaves numbers that cannot reach 24."""


def first_steps(problem: str, tree: Tree) -> list[FirstStep]:
    """Returns the first steps of a Game of 24 search, in order."""
    steps: list[FirstStep] = []
    for thought in tree.values():
        if thought["parent"] == ROOT:
            before = sum("caused_by" in tree[key] for key in _first_ids(tree, thought["id"]))
            steps.append(FirstStep(before, not reachable(problem, [thought["text"]])))
    return steps


def _first_ids(tree: Tree, key: str) -> Sequence[str]:
    """Returns the ids of the first steps up to and including thought `key`."""
    return [k for k, t in tree.items() if t["parent"] == ROOT and int(k) <= int(key)]
