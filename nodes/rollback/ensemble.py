"""The answer of several solutions: the first, the last, or a weighted vote (section 4.4).

The paper's weight grows with the experiences a path was made with and falls with its rollbacks;
its formula was lost in print and is in no published code. `ratio` and `difference` are ours.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast, get_args

from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.reasoning_steps import longest_path
from thoughtgraph.nodes.rollback.paths import alpha, beta
from thoughtgraph.nodes.rollback.solution_order import solution_order
from thoughtgraph.outcome import By, StopReason, Vote, vote
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import Ensemble, RollbackSettings
from thoughtgraph.state import RollbackState, SearchState
from thoughtgraph.tree import Thought, Tree, merge_thoughts, path_to, with_note

RULES: Sequence[str] = get_args(Ensemble)
FIRST = "first"
"""The ensemble that needs no further solution once it has one."""
LEAST = Fraction(1, 1000)
"""The smallest weight under `difference` (ours)."""


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
    if rule == "difference":
        return max(LEAST, Fraction(1 + beta - alpha))
    return Fraction(1)


def ensemble(run: Run, end_reason: Callable[[RollbackState], StopReason]) -> Node:
    """Makes the node that ends the search with the ensemble's answer.

    Every solution's `value` becomes the weight of its vote; its `alpha`, its `beta` and the end of
    its `note` say where from. `ensembles` becomes the answer of every ensemble, of those alone
    whose answer no further solution can change where the search stopped for that.

    Args:
        end_reason: Why the search has ended, by its last state.
    """
    last = answer(run, pick=solutions, best=_winners, cut_short=solutions, tally=_tally)

    async def node(found: RollbackState) -> dict[str, Any]:
        state = cast("RollbackState", {**found, "stop_reason": end_reason(found)})
        tree, rule = state["thoughts"], RollbackSettings.of(state["settings"]).ensemble
        votes = {key: (alpha(tree, key), beta(tree, key)) for key in state["ends"]}
        weighed: Tree = {
            key: Thought(
                value=float(weight(rule, a, b)),
                alpha=a,
                beta=b,
                note=with_note(tree[key], f"alpha {a}, beta {b}"),
            )
            for key, (a, b) in votes.items()
        }
        result = await last(state)
        tree = merge_thoughts(weighed, [result["thoughts"]])
        return {**result, "thoughts": tree, "ensembles": ensembles(state)}

    return node


def ensembles(state: RollbackState) -> dict[str, str | None]:
    """Returns the answer of every ensemble by its name, None where no solution has one.

    A search that stopped because its own ensemble needs no further solution tells that one alone:
    the others were not heard out.
    """
    own = RollbackSettings.of(state["settings"]).ensemble
    heard = [own] if state["stop_reason"] == "settled" else RULES
    tree, best = state["thoughts"], {rule: ranked(state, rule)[:1] for rule in heard}
    return {rule: tree[keys[0]]["answer"] if keys else None for rule, keys in best.items()}


def solutions(state: SearchState) -> list[str]:
    """Returns the thoughts that end a path, in the order in which the paper's search finds them."""
    return solution_order(cast("RollbackState", state)).order


def ranked(state: RollbackState, rule: str) -> list[str]:
    """Returns the solutions that have an answer, those that give an ensemble's answer first.

    Of equally good answers the one given first wins.

    Args:
        rule: The ensemble.
    """
    tree = state["thoughts"]
    given = [key for key in solutions(state) if tree[key].get("answer") is not None]
    if rule == FIRST:
        return given
    if rule == "last":
        return given[::-1]
    totals = _totals({key: weight(rule, alpha(tree, key), beta(tree, key)) for key in given}, state)
    return sorted(given, key=lambda key: -totals[cast("str", tree[key]["answer"])])


def settled(state: RollbackState) -> bool:
    """Returns whether no further solution can change the answer (ours).

    In parallel a solution's place in the order is sure once nothing that comes before it is open.
    A solution's experiences are fixed, but rollbacks may still leave thoughts of its path that are
    not decided on, so its weight is bounded from both sides; those still to come are given the most
    that any can have.
    """
    settings, tree = RollbackSettings.of(state["settings"]), state["thoughts"]
    rule = settings.ensemble
    order, certain = solution_order(state)
    given = [key for key in order if tree[key].get("answer") is not None]
    sure = [tree[key]["answer"] for key in given if key in order[:certain]]
    if not given or rule == "last":
        return False
    if rule == FIRST:
        return bool(sure)
    low = _totals({key: weight(rule, _most(state, key), beta(tree, key)) for key in given}, state)
    high = _totals({key: weight(rule, alpha(tree, key), beta(tree, key)) for key in given}, state)
    left = settings.solutions - len(state["ends"])
    new = left * weight(rule, 0, _most_taught(state))
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


def _winners(state: SearchState) -> list[str]:
    return ranked(cast("RollbackState", state), RollbackSettings.of(state["settings"]).ensemble)


def _tally(found: SearchState, chosen: str) -> list[Vote]:
    """Tells of the ensemble's vote; `first` and `last` hold none."""
    state = cast("RollbackState", found)
    rule, tree = RollbackSettings.of(state["settings"]).ensemble, state["thoughts"]
    if rule in (FIRST, "last"):
        return []
    given = [key for key in solutions(state) if tree[key].get("answer") is not None]
    weights = {key: weight(rule, alpha(tree, key), beta(tree, key)) for key in given}
    totals = {answer: float(total) for answer, total in _totals(weights, state).items()}
    unread = len(state["ends"]) - len(given)
    by: By = "votes" if rule == "majority" else "weights"
    return [vote(by, totals, cast("str", tree[chosen]["answer"]), unread=unread)]


def _totals(weights: Mapping[str, Fraction], state: Any) -> dict[str, Fraction]:
    """Adds up the weights of solutions by answer, answers in the order they were first given."""
    totals: dict[str, Fraction] = {}
    for key, worth in weights.items():
        value = state["thoughts"][key]["answer"]
        totals[value] = totals.get(value, Fraction(0)) + worth
    return totals


def _most(state: RollbackState, key: str) -> int:
    """Returns how many rollbacks may have left a path in the end."""
    undecided = sum("bad" not in thought for thought in path_to(state["thoughts"], key))
    now, most = (
        alpha(state["thoughts"], key),
        RollbackSettings.of(state["settings"]).path_rollbacks + 1,
    )
    return max(now, min(now + undecided, most))


def _most_taught(state: RollbackState) -> int:
    """Returns how many experiences a path can have been made with."""
    settings = RollbackSettings.of(state["settings"])
    return longest_path(settings) * settings.incoming if settings.experiences else 0
