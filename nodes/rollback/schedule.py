"""What a Thought Rollback structure is due to do next, one path at a time or all at once."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, cast

from thoughtgraph.nodes.limits import limit_reason, requests_left, thoughts_left
from thoughtgraph.nodes.rollback.ensemble import FIRST, settled
from thoughtgraph.nodes.rollback.paths import analysable
from thoughtgraph.nodes.rollback.solution_order import has_ended, priority
from thoughtgraph.outcome import StopReason
from thoughtgraph.reasoning import TWO_CALLS
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import RollbackState
from thoughtgraph.tree import ROOT, children_of


class Due(NamedTuple):
    """A request that is due."""

    node: Literal["analyse", "extract_index", "generate"]
    """The node that sends it."""
    thought: str
    """Id of the thought that it is about."""
    times: int = 0
    """How many steps were taken from the thought before."""
    source: str | None = None
    """Id of the thought whose rollback asks for the step; None: none does."""


async def begin_round(state: RollbackState) -> dict[str, Any]:
    """Begins a round: it closes paths that are done and ends the search.

    Which requests the round sends follows from the state alone: see `plan`. Where there are none
    the search has ended as well: see `end_of_search`.
    """
    return {
        "frontier": open_paths(state),
        "step": state["step"] + 1,
        # A round counts once it is over: a request in it must not find its own round spent.
        "usage": {"rounds": int(state["step"] > 0)},
        "stop_reason": _solved(state),
    }


def plan(state: RollbackState) -> list[Due]:
    """Returns the requests that may be sent now, as many as the limits allow.

    In parallel every open path takes a step, every pending rollback's destination is continued, and
    every path without an analysis is analysed, all at once. Otherwise there is one request: a
    pending rollback first, else the analysis or the step of the path of highest priority.
    """
    if state["stop_reason"]:
        return []
    parallel = RollbackSettings.of(state["settings"]).parallel
    ready = _all_requests(state) if parallel else _next_request(state)
    room, allowed = thoughts_left(state), list[Due]()
    for due in ready:
        room -= due.node == "generate"  # analyses make no thought
        if due.node != "generate" or room >= 0:
            allowed.append(due)
    return allowed[: requests_left(state)]


def due_at(state: RollbackState, node: str) -> list[Due]:
    """Returns the requests that a node is to send now."""
    return [due for due in plan(state) if due.node == node]


def _all_requests(state: RollbackState) -> list[Due]:
    ready = [
        *_extractions(state),
        *(Due("analyse", key) for key in state["frontier"] if _eligible(state, key)),
        *(_expansion(state, key) for key in state["frontier"] if not has_ended(state, key)),
        *_returns(state),
    ]
    return sorted(ready, key=lambda due: int(due.thought))


def _next_request(state: RollbackState) -> Iterator[Due]:
    if ready := [*_extractions(state), *_returns(state)]:
        yield ready[0]
    elif live := open_paths(state):
        first = min(live, key=lambda key: priority(state, key, int))
        yield Due("analyse", first) if _eligible(state, first) else _expansion(state, first)


def open_paths(state: RollbackState) -> list[str]:
    """Returns the last thoughts of the open paths that something is left to do for."""
    live = [at for at in state["frontier"] if not has_ended(state, at) or _eligible(state, at)]
    if not RollbackSettings.of(state["settings"]).drop_paths:
        return live
    return [key for key in live if analysable(state, key)]


def _eligible(state: RollbackState, key: str) -> bool:
    """Returns whether a path is still to be analysed: once, and not with too many rollbacks."""
    thought = state["thoughts"][key]
    if key == ROOT or thought["status"] == "pruned" or "analysis" in thought:
        return False
    return analysable(state, key)


def _extractions(state: RollbackState) -> list[Due]:
    if RollbackSettings.of(state["settings"]).protocol != TWO_CALLS:
        return []
    return [
        Due("extract_index", key)
        for key, thought in state["thoughts"].items()
        if "analysis" in thought and "bad" not in thought
    ]


def _expansion(state: RollbackState, key: str, source: str | None = None, more: int = 0) -> Due:
    return Due("generate", key, len(children_of(state["thoughts"], key)) + more, source)


def _returns(state: RollbackState) -> list[Due]:
    """Returns one continuation for each rollback that has none yet."""
    targets = [state["thoughts"][source]["rollback"]["to"] for source in state["pending"]]
    return [
        _expansion(state, to, source, targets[:at].count(to))
        for at, (source, to) in enumerate(zip(state["pending"], targets, strict=True))
    ]


def _solved(state: RollbackState) -> StopReason:
    """Returns why the solutions there are end the search, if they do."""
    settings = RollbackSettings.of(state["settings"])
    if len(state["ends"]) >= settings.solutions:
        return "finished"
    return "settled" if settings.ensemble == FIRST and settled(state) else ""


def end_of_search(state: RollbackState) -> StopReason:
    """Returns why a search that has no request to send ends."""
    if state["stop_reason"]:
        return cast("StopReason", state["stop_reason"])
    if state["pending"] or open_paths(state) or _extractions(state):
        return limit_reason(state)
    return "exhausted"
