"""The order in which solutions are found, and the answer that they make (section 4.4).

In parallel the path that is never corrected ends first, as it grows on while it is analysed. The
paper's answer is the first solution of growth of one path at a time: that order is replayed here on
what was grown. The paper's weight of a vote grows with the experiences a path was made with and
falls with its rollbacks; its formula was lost in print and is in no published code. `ratio` and
`difference` are ours.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any, NamedTuple, cast

from thoughtgraph.nodes.reasoning_steps import longest_path
from thoughtgraph.nodes.rollback.paths import (
    alpha,
    analysable,
    beta,
    has_ended,
    priority,
    solutions,
)
from thoughtgraph.outcome import Vote, vote
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Tree, path_to

FIRST = "first"
"""The ensemble that needs no further solution once it has one."""
LEAST = Fraction(1, 1000)
"""The smallest weight under `difference` (ours)."""


class SolutionOrder(NamedTuple):
    """The solutions of a search."""

    order: list[str]
    """Ids in the order in which one path at a time finds them; those it would not reach come last,
    in the order of their creation."""
    sure: int
    """How many of the first keep their places whatever the search still finds."""


def solution_order(state: SearchState) -> SolutionOrder:
    """Returns the solutions in the paper's order; `parallel=false` finds them in it."""
    tree, settings = state["thoughts"], RollbackSettings.of(state["settings"])
    ends = solutions(tree)
    if not settings.parallel:
        return SolutionOrder(ends, len(ends))
    order: list[str] = []
    sure: int | None = None
    for new in _growth(tree, settings):
        if not new and sure is None:
            sure = len(order)
        elif new and tree[new]["status"] == "terminal":
            order.append(new)
    rest = [key for key in ends if key not in order]
    return SolutionOrder([*order, *rest], len(order) if sure is None else sure)


def _growth(tree: Tree, settings: RollbackSettings) -> Iterator[str]:
    """Yields the thoughts in the order in which one path at a time makes them.

    An empty id stands for what is not known yet: a step not taken or a thought not decided on.
    """
    steps = {t["parent"]: key for key, t in tree.items() if key != ROOT and "caused_by" not in t}
    branches = {t["caused_by"]: key for key, t in tree.items() if "caused_by" in t}
    age, decided = {ROOT: 0}, {ROOT}
    live = [(priority(tree, settings, ROOT, age.__getitem__), ROOT)]
    while live:
        at = live[0][1]
        # A thought is met twice: its rollback is taken first, then its path goes on.
        back = "rollback" in tree[at] and at not in decided
        few = analysable(tree, settings, at)
        if at not in decided and "bad" not in tree[at] and few:
            yield ""
        decided.add(at)
        if not back or has_ended(tree, at) or (settings.drop_paths and not few):
            heappop(live)
        if (new := (branches if back else steps).get(at)) is not None:
            age[new] = len(age)
            heappush(live, (priority(tree, settings, new, age.__getitem__), new))
            yield new
        elif back or not has_ended(tree, at):
            yield ""


def weight(rule: str, alpha: int, beta: int) -> Fraction:
    """Returns what a solution's vote is worth, exactly.

    Args:
        rule: `ratio`: (1 + beta) / (1 + alpha); `difference`: 1 + beta - alpha, at least `LEAST`;
            anything else: 1.
        alpha: Rollbacks that leave its path.
        beta: Experiences it was made with.
    """
    if rule == "ratio":
        return Fraction(1 + beta, 1 + alpha)
    return max(LEAST, Fraction(1 + beta - alpha)) if rule == "difference" else Fraction(1)


def ranked(state: SearchState, rule: str) -> list[str]:
    """Returns the solutions that have an answer, those that give an ensemble's answer first.

    Of equally good answers the one given first wins.

    Args:
        rule: The ensemble.
    """
    tree, given = state["thoughts"], _answered(state)
    if rule in (FIRST, "last"):
        return given if rule == FIRST else given[::-1]
    totals = _totals(tree, {key: weight(rule, alpha(tree, key), beta(tree, key)) for key in given})
    return sorted(given, key=lambda key: -totals[cast("str", tree[key]["answer"])])


def settled(state: SearchState) -> bool:
    """Returns whether no further solution can change the answer (ours).

    In parallel a solution's place in the order is sure once nothing that comes before it is open.
    A solution's experiences are fixed, but rollbacks may still leave thoughts of its path that are
    not decided on, so its weight is bounded from both sides; those still to come are given the most
    that any can have.
    """
    settings, tree = RollbackSettings.of(state["settings"]), state["thoughts"]
    rule, (order, certain), given = settings.ensemble, solution_order(state), _answered(state)
    sure = {tree[key]["answer"] for key in given if key in order[:certain]}
    if rule in (FIRST, "last") or not given:
        return rule == FIRST and bool(sure)
    high = _totals(tree, {key: weight(rule, alpha(tree, key), beta(tree, key)) for key in given})
    low = _totals(
        tree, {key: weight(rule, _most_rollbacks(state, key), beta(tree, key)) for key in given}
    )
    taught = longest_path(settings) * settings.incoming if settings.experiences else 0
    new = (settings.solutions - len(order)) * weight(rule, 0, taught)
    values = list(low)
    # An answer given earlier wins a tie; one that nobody has given yet comes after the sure ones.
    return any(
        (low[mine] > new or (mine in sure and low[mine] == new))
        and all(
            low[mine] > high[other] + new
            or (mine in sure and at < values.index(other) and low[mine] == high[other] + new)
            for other in values
            if other != mine
        )
        for at, mine in enumerate(values)
    )


def tally(state: SearchState, chosen: str) -> list[Vote]:
    """Tells of the ensemble's vote; `first` and `last` hold none."""
    rule, tree = RollbackSettings.of(state["settings"]).ensemble, state["thoughts"]
    if rule in (FIRST, "last"):
        return []
    given = _answered(state)
    weights = {key: weight(rule, alpha(tree, key), beta(tree, key)) for key in given}
    totals = {answer: float(total) for answer, total in _totals(tree, weights).items()}
    unread, winner = len(solutions(tree)) - len(given), cast("str", tree[chosen]["answer"])
    return [vote("votes" if rule == "majority" else "weights", totals, winner, unread=unread)]


def _answered(state: SearchState) -> list[str]:
    """Returns the solutions that have an answer, in their order."""
    tree = state["thoughts"]
    return [key for key in solution_order(state).order if tree[key].get("answer") is not None]


def _totals(tree: Tree, weights: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Adds up the weights of solutions by answer, answers in the order they were first given."""
    totals: dict[str, Fraction] = {}
    for key, worth in weights.items():
        value: Any = tree[key]["answer"]
        totals[value] = totals.get(value, Fraction(0)) + worth
    return totals


def _most_rollbacks(state: SearchState, key: str) -> int:
    """Returns how many rollbacks may have left a path in the end."""
    tree, now = state["thoughts"], alpha(state["thoughts"], key)
    undecided = sum("bad" not in thought for thought in path_to(tree, key))
    most = RollbackSettings.of(state["settings"]).path_rollbacks + 1
    return max(now, min(now + undecided, most))
