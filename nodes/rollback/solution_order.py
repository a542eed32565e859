"""Which path grows first, and the order in which growing one at a time finds the solutions.

In parallel the path that is never corrected ends first, as it grows on while it is analysed. The
paper's answer is the first solution of growth of one path at a time: that order is replayed here on
what was grown.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from thoughtgraph.nodes.rollback.paths import analysable, beta, path_ids
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import RollbackState
from thoughtgraph.tree import ROOT


class SolutionOrder(NamedTuple):
    """The solutions of a search."""

    order: list[str]
    """Ids in the order in which one path at a time finds them; those it would not reach come last,
    in the order of their creation."""
    sure: int
    """How many of the first keep their places whatever the search still finds."""


def solution_order(state: RollbackState) -> SolutionOrder:
    """Returns the solutions in the paper's order; `parallel=false` finds them in it."""
    ends = state["ends"]
    if not RollbackSettings.of(state["settings"]).parallel:
        return SolutionOrder(list(ends), len(ends))
    order: list[str] = []
    sure: int | None = None
    for new in _growth(state):
        if new in ends:
            order.append(new)
        elif not new and sure is None:
            sure = len(order)
    rest = [key for key in ends if key not in order]
    return SolutionOrder([*order, *rest], len(order) if sure is None else sure)


def priority(state: RollbackState, key: str, age: Callable[[str], int]) -> tuple[int, list[int]]:
    """Returns a path's place in the order of growth, the least first.

    Paths made with more experiences come first (appendix B.4) unless `growth_order` is `dfs`,
    ties depth first, children by age.

    Args:
        key: Id of the path's last thought.
        age: From a thought's id to when it was made, as a number.
    """
    tree = state["thoughts"]
    by_experience = RollbackSettings.of(state["settings"]).growth_order == "experience"
    taught = beta(tree, key) if by_experience else 0
    return -taught, [age(at) for at in path_ids(tree, key)]


def _growth(state: RollbackState) -> Iterator[str]:
    """Yields the thoughts in the order in which one path at a time makes them.

    An empty id stands for what is not known yet: a step not taken or a thought not decided on.
    """
    tree = state["thoughts"]
    steps = {t["parent"]: key for key, t in tree.items() if key != ROOT and "caused_by" not in t}
    branches = {t["caused_by"]: key for key, t in tree.items() if "caused_by" in t}
    age, decided = {ROOT: 0}, {ROOT}
    live = {ROOT: priority(state, ROOT, age.__getitem__)}
    while live:
        at = min(live, key=live.__getitem__)
        # A thought is met twice: its rollback is taken first, then its path goes on.
        back = "rollback" in tree[at] and at not in decided
        if at not in decided and _undecided(state, at):
            yield ""
        decided.add(at)
        if not back or _closed(state, at):
            del live[at]
        new = (branches if back else steps).get(at)
        if new is not None:
            age[new] = len(age)
            live[new] = priority(state, new, age.__getitem__)
            yield new
        elif back or not has_ended(state, at):
            yield ""


def _undecided(state: RollbackState, key: str) -> bool:
    """Returns whether a rollback may still leave a thought."""
    return "bad" not in state["thoughts"][key] and analysable(state, key)


def _closed(state: RollbackState, key: str) -> bool:
    """Returns whether a path grows no further once a rollback has left its last thought."""
    dropped = RollbackSettings.of(state["settings"]).drop_paths and not analysable(state, key)
    return bool(has_ended(state, key) or dropped)


def has_ended(state: RollbackState, key: str) -> bool:
    """Returns whether a path has no further step."""
    return state["thoughts"][key]["status"] not in ("open", "expanded")
