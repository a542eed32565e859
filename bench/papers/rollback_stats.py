"""What the rollbacks of Thought Rollback did: the data of the paper's Figure 3.

Interactions by method (a), the kinds of reasoning paths with how many of each are right (b),
failures at the first step of Game of 24 by rollbacks to the problem and by the span of the one that
led to the step (c), and the spans of all rollbacks.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from thoughtgraph.bench.papers.failed_steps import reachable
from thoughtgraph.tree import ROOT, Tree, path_to

Right = Callable[[str, str | None], bool]
"""Whether an answer, to a problem, is right."""
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
    span: int
    """How many thoughts the rollback that led to it went back; 0 where none did."""
    failed: bool
    """Whether it is no step, or 24 cannot be reached from the numbers that it leaves."""


def first_steps(problem: str, tree: Tree) -> list[FirstStep]:
    """Returns the first steps of a Game of 24 search, in order."""
    found: list[FirstStep] = []
    for thought in tree.values():
        if thought["parent"] == ROOT:
            before = sum("caused_by" in tree[key] for key in _firsts(tree, thought["id"]))
            span = tree[thought["caused_by"]]["depth"] if "caused_by" in thought else 0
            found.append(FirstStep(before, span, not reachable(problem, [thought["text"]])))
    return found


def summary(results: Iterable[Mapping[str, Any]], right: Right | None = None) -> dict[str, Any]:
    """Returns the data of Figure 3 over several results.

    Args:
        results: Stored results; an interaction is a sample (section 5).
        right: Whether an answer is right; None: nothing is said about solving rates.
    """
    interactions: dict[str, list[int]] = {}
    paths = {name: Counter(paths=0, right=0) for name in Kinds._fields}
    by_rollbacks: dict[int, Counter[str]] = {}
    by_span: dict[int, Counter[str]] = {}
    spanned: Counter[int] = Counter()
    for result in results:
        tree: Tree = result["tree"]
        spent = int(result["usage"].get("samples", 0))
        interactions.setdefault(result["method"], []).append(spent)
        if result["method"] != STRUCTURED:
            continue
        spanned.update(spans(tree))
        for key in solutions(tree):
            good = right is not None and right(result["problem"], tree[key].get("answer"))
            for name, is_one in kinds(tree, key)._asdict().items():
                paths[name].update({"paths": int(is_one), "right": int(is_one and good)})
        if result["task"] == "game24":
            for before, span, failed in first_steps(result["problem"], tree):
                for failures, at in ((by_rollbacks, before), (by_span, span)):
                    failures.setdefault(at, Counter()).update(steps=1, failed=int(failed))
    return {
        "results": sum(map(len, interactions.values())),
        "interactions": interactions,
        "paths": {name: _without(counts, right) for name, counts in paths.items()},
        "first_steps_by_rollbacks": {str(k): dict(v) for k, v in sorted(by_rollbacks.items())},
        "first_steps_by_span": {str(k): dict(v) for k, v in sorted(by_span.items())},
        "spans": {str(k): v for k, v in sorted(spanned.items())},
    }


def _firsts(tree: Tree, key: str) -> Sequence[str]:
    """Returns the first steps up to one, itself included."""
    return [k for k, t in tree.items() if t["parent"] == ROOT and int(k) <= int(key)]


def _without(counts: Counter[str], right: Right | None) -> dict[str, int]:
    return {name: n for name, n in counts.items() if name == "paths" or right is not None}
