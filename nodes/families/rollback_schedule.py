"""The requests that are due in a Thought Rollback search, derived from its tree."""

from collections import Counter
from typing import Literal, NamedTuple, cast

from thoughtgraph.nodes.families.rollback_paths import (
    FIRST,
    alpha,
    analysable,
    has_ended,
    path_ids,
    priority,
    settled,
    solutions,
)
from thoughtgraph.nodes.limits import limit_reason, requests_left, thoughts_left
from thoughtgraph.outcome import StopReason
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Rollback, Tree, living

FINE = "no step was found to be bad"
FULL = "every thought to go back to has as many rollbacks as it may have"
FORGIVEN = "the path has as many rollbacks as it may have"
NO_ROLLBACK = (FINE, FULL, FORGIVEN)
"""Why no rollback starts from a thought whose bad steps are listed."""


class Due(NamedTuple):
    """A request that is due."""

    node: Literal["analyse", "extract_index", "generate"]
    """The node that sends it."""
    thought: str
    """Id of the thought that the request is about."""
    source: str | None = None
    """Id of the thought whose rollback requests the step; None: no rollback does."""


def plan(state: SearchState) -> list[Due]:
    """Returns the requests that may be sent now, as many as the limits allow.

    In parallel, every open path takes a step, every rollback's destination is continued, and every
    path without an analysis is analysed, all at once. Otherwise one request is due: the reading of
    an analysis, else a rollback's step, else the analysis or step of the path of highest priority.
    """
    if state["stop_reason"]:
        return []
    tree, settings = state["thoughts"], RollbackSettings.of(state["settings"])
    readings, branches, live = _readings(tree), _branches(tree), open_paths(state)
    if not settings.parallel:
        first = min(live, key=lambda key: priority(tree, settings, key, int), default=None)
        live = [] if readings or branches or first is None else [first]
    analyses = [Due("analyse", key) for key in live if _awaits_analysis(tree, settings, key)]
    steps = [Due("generate", key) for key in live if not has_ended(tree, key)]
    ready = [*readings, *analyses, *steps, *branches]
    ready = sorted(ready, key=lambda due: int(due.thought)) if settings.parallel else ready[:1]
    room, allowed = thoughts_left(state), list[Due]()
    for due in ready:
        room -= due.node == "generate"  # analyses make no thought
        if due.node != "generate" or room >= 0:
            allowed.append(due)
    return allowed[: requests_left(state)]


def due_at(state: SearchState, node: str) -> list[Due]:
    """Returns the requests that a node is to send now."""
    return [due for due in plan(state) if due.node == node]


def open_paths(state: SearchState) -> list[str]:
    """Returns the ids of the last thoughts of paths that still need a step or an analysis."""
    tree, settings = state["thoughts"], RollbackSettings.of(state["settings"])
    live = [
        key
        for key in living(tree)
        if tree[key]["status"] == "open" or _awaits_analysis(tree, settings, key)
    ]
    return [key for key in live if analysable(tree, settings, key)] if settings.drop_paths else live


def solved(state: SearchState) -> StopReason:
    """Returns the stop reason if the solutions so far end the search; else empty."""
    settings = RollbackSettings.of(state["settings"])
    if len(solutions(state["thoughts"])) >= settings.solutions:
        return "finished"
    return "settled" if settings.ensemble == FIRST and settled(state) else ""


def why_ended(state: SearchState) -> StopReason:
    """Returns the stop reason of a search that has no request to send."""
    if state["stop_reason"]:
        return cast("StopReason", state["stop_reason"])
    left = open_paths(state) or _readings(state["thoughts"]) or _branches(state["thoughts"])
    return limit_reason(state) if left else "exhausted"


def undecided(tree: Tree) -> list[str]:
    """Returns the ids of thoughts with a list of bad steps from which no rollback starts."""
    return [key for key in living(tree) if "bad" in tree[key] and "rollback" not in tree[key]]


def rollback_from(
    tree: Tree, settings: RollbackSettings, key: str, into: Counter[str]
) -> Rollback | str:
    """Returns the rollback from a thought whose bad steps are listed, or why there is none.

    A thought without a rollback now never gets one, as the number of rollbacks only grows.

    Args:
        into: Number of rollbacks into each thought so far.
    """
    if not tree[key]["bad"]:
        return FINE
    if alpha(tree, key) > settings.path_rollbacks:
        return FORGIVEN
    path = path_ids(tree, key)
    # path[0] is the root, so path[step - 1] is the thought before a step.
    free = (step for step in tree[key]["bad"] if into[path[step - 1]] < settings.incoming)
    step = next(free, None)
    return FULL if step is None else Rollback(to=path[step - 1], step=step)


def _readings(tree: Tree) -> list[Due]:
    """Returns the requests that read the bad steps out of an analysis."""
    return [
        Due("extract_index", key)
        for key in living(tree)
        if "analysis" in tree[key] and "bad" not in tree[key]
    ]


def _branches(tree: Tree) -> list[Due]:
    """Returns the requests for the first step after each rollback that has none yet."""
    continued = {thought.get("caused_by") for thought in tree.values()}
    return [
        Due("generate", tree[key]["rollback"]["to"], key)
        for key in living(tree)
        if "rollback" in tree[key] and key not in continued
    ]


def _awaits_analysis(tree: Tree, settings: RollbackSettings, key: str) -> bool:
    """Returns whether a path still needs its one analysis; not if it has too many rollbacks."""
    thought, ends = tree[key], tree[key]["status"] in ("open", "terminal")
    return key != ROOT and ends and "analysis" not in thought and analysable(tree, settings, key)
