"""What a Thought Rollback search is due to do, read off its tree."""

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
"""Why no rollback leaves a thought whose bad steps are named."""


class Due(NamedTuple):
    """A request that is due."""

    node: Literal["analyse", "extract_index", "generate"]
    """The node that sends it."""
    thought: str
    """Id of the thought that it is about."""
    source: str | None = None
    """Id of the thought whose rollback asks for the step; None: none does."""


def plan(state: SearchState) -> list[Due]:
    """Returns the requests that may be sent now, as many as the limits allow.

    In parallel every open path takes a step, every rollback's destination is continued, and every
    path without an analysis is analysed, all at once. Otherwise there is one request: a rollback's
    first, else the analysis or the step of the path of highest priority.
    """
    if state["stop_reason"]:
        return []
    tree, settings = state["thoughts"], RollbackSettings.of(state["settings"])
    unread, back, live = _unread(tree), _returns(tree), open_paths(state)
    if not settings.parallel:
        first = min(live, key=lambda key: priority(tree, settings, key, int), default=None)
        live = [] if unread or back or first is None else [first]
    checks = [Due("analyse", key) for key in live if _unchecked(tree, settings, key)]
    steps = [Due("generate", key) for key in live if not has_ended(tree, key)]
    ready = [*unread, *checks, *steps, *back]
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
    """Returns the last thoughts of the open paths that something is left to do for."""
    tree, settings = state["thoughts"], RollbackSettings.of(state["settings"])
    live = [
        key
        for key in living(tree)
        if tree[key]["status"] == "open" or _unchecked(tree, settings, key)
    ]
    return [key for key in live if analysable(tree, settings, key)] if settings.drop_paths else live


def solved(state: SearchState) -> StopReason:
    """Returns why the solutions there are end the search, if they do."""
    settings = RollbackSettings.of(state["settings"])
    if len(solutions(state["thoughts"])) >= settings.solutions:
        return "finished"
    return "settled" if settings.ensemble == FIRST and settled(state) else ""


def why_ended(state: SearchState) -> StopReason:
    """Returns why a search ends that has no request to send."""
    if state["stop_reason"]:
        return cast("StopReason", state["stop_reason"])
    left = open_paths(state) or _unread(state["thoughts"]) or _returns(state["thoughts"])
    return limit_reason(state) if left else "exhausted"


def undecided(tree: Tree) -> list[str]:
    """Returns the thoughts with named bad steps that no rollback leaves."""
    return [key for key in living(tree) if "bad" in tree[key] and "rollback" not in tree[key]]


def rollback_from(
    tree: Tree, settings: RollbackSettings, key: str, into: Counter[str]
) -> Rollback | str:
    """Returns the rollback from a thought with bad steps, or why there is none.

    Whatever there is no rollback for now never gets one: rollbacks only become more.

    Args:
        into: How many rollbacks each thought has already.
    """
    if not tree[key]["bad"]:
        return FINE
    if alpha(tree, key) > settings.path_rollbacks:
        return FORGIVEN
    line = path_ids(tree, key)
    # line[0] is the root, so line[step - 1] is the thought before a step.
    free = (step for step in tree[key]["bad"] if into[line[step - 1]] < settings.incoming)
    step = next(free, None)
    return FULL if step is None else Rollback(to=line[step - 1], step=step)


def _unread(tree: Tree) -> list[Due]:
    """Returns the readings of bad steps that analyses wait for."""
    return [
        Due("extract_index", key)
        for key in living(tree)
        if "analysis" in tree[key] and "bad" not in tree[key]
    ]


def _returns(tree: Tree) -> list[Due]:
    """Returns one continuation for each rollback that has none yet."""
    done = {thought.get("caused_by") for thought in tree.values()}
    return [
        Due("generate", tree[key]["rollback"]["to"], key)
        for key in living(tree)
        if "rollback" in tree[key] and key not in done
    ]


def _unchecked(tree: Tree, settings: RollbackSettings, key: str) -> bool:
    """Returns whether a path is still to be analysed: once, and not with too many rollbacks."""
    thought, ends = tree[key], tree[key]["status"] in ("open", "terminal")
    return key != ROOT and ends and "analysis" not in thought and analysable(tree, settings, key)
