"""What a Thought Rollback structure is due to do next, one path at a time or all at once."""

from collections.abc import Iterator
from typing import Any, cast

from langgraph.types import Send

from thoughtgraph.fan_out import SendArg
from thoughtgraph.nodes.limits import limit_reason, requests_left, thoughts_left
from thoughtgraph.nodes.rollback.ensemble import FIRST, settled
from thoughtgraph.nodes.rollback.paths import analysable, experiences
from thoughtgraph.nodes.rollback.solution_order import has_ended, priority
from thoughtgraph.outcome import StopReason
from thoughtgraph.reasoning import TWO_CALLS
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import RollbackState
from thoughtgraph.tree import ROOT, children_of


async def begin_round(state: RollbackState) -> dict[str, Any]:
    """Begins a round: it closes paths that are done and ends the search.

    Which requests the round sends follows from the state alone: see `round_sends`. Where there are
    none the search has ended as well: see `end_of_search`.
    """
    return {
        "frontier": open_paths(state),
        "step": state["step"] + 1,
        # A round counts once it is over: a request in it must not find its own round spent.
        "usage": {"rounds": int(state["step"] > 0)},
        "stop_reason": _solved(state),
    }


def round_sends(state: RollbackState) -> list[Send]:
    """Returns the requests that may be sent now, as many as the limits allow.

    In parallel every open path takes a step, every pending rollback's destination is continued, and
    every path without an analysis is analysed, all at once. Otherwise there is one request: a
    pending rollback first, else the analysis or the step of the path of highest priority.
    """
    if state["stop_reason"]:
        return []
    parallel = RollbackSettings.of(state["settings"]).parallel
    ready = _parallel_requests(state) if parallel else _next_request(state)
    room = thoughts_left(state)
    sends: list[Send] = []
    for send in ready:
        if send.node == "generate":  # analyses make no thought
            room -= 1
            if room < 0:
                continue
        sends.append(send)
    return sends[: requests_left(state)]


def _parallel_requests(state: RollbackState) -> list[Send]:
    sends = [
        *_extractions(state),
        *(_analysis(key) for key in state["frontier"] if _eligible(state, key)),
        *(_expansion(state, key) for key in state["frontier"] if not has_ended(state, key)),
        *_returns(state),
    ]
    return sorted(sends, key=lambda send: int(send.arg["thought"]))


def _next_request(state: RollbackState) -> Iterator[Send]:
    if ready := [*_extractions(state), *_returns(state)]:
        yield ready[0]
    elif live := open_paths(state):
        first = min(live, key=lambda key: priority(state, key, int))
        yield _analysis(first) if _eligible(state, first) else _expansion(state, first)


def open_paths(state: RollbackState) -> list[str]:
    """Returns the last thoughts of the open paths that something is left to do for."""
    live = [at for at in state["frontier"] if not has_ended(state, at) or _eligible(state, at)]
    if not RollbackSettings.of(state["settings"]).drop_paths:
        return live
    return [key for key in live if analysable(state, key)]


def _eligible(state: RollbackState, key: str) -> bool:
    """Returns whether a path is still to be analysed: once, and not with too many rollbacks."""
    thought = state["tree"][key]
    if key == ROOT or thought["status"] == "pruned" or "analysis" in thought:
        return False
    return analysable(state, key)


def _extractions(state: RollbackState) -> list[Send]:
    if RollbackSettings.of(state["settings"]).protocol != TWO_CALLS:
        return []
    return [
        Send("extract_index", SendArg(thought=key))
        for key, thought in state["tree"].items()
        if "analysis" in thought and "bad" not in thought
    ]


def _analysis(key: str) -> Send:
    return Send("analyse", SendArg(thought=key))


def _expansion(state: RollbackState, key: str, source: str | None = None, more: int = 0) -> Send:
    made = len(children_of(state["tree"], key)) + more
    sent = SendArg(thought=key, expansion=made, experiences=experiences(state, key, source))
    if source is not None:
        sent["source"] = source
    return Send("generate", sent)


def _returns(state: RollbackState) -> list[Send]:
    """Returns one continuation for each rollback that has none yet."""
    targets = [state["tree"][source]["rollback"]["to"] for source in state["pending"]]
    return [
        _expansion(state, to, source, targets[:at].count(to))
        for at, (source, to) in enumerate(zip(state["pending"], targets, strict=True))
    ]


def _solved(state: RollbackState) -> StopReason:
    """Returns why the solutions there are end the search, if they do."""
    settings = RollbackSettings.of(state["settings"])
    if len(state["solutions"]) >= settings.solutions:
        return "finished"
    wanted = settings.stop_settled or settings.ensemble == FIRST
    return "settled" if wanted and settled(state) else ""


def end_of_search(state: RollbackState) -> StopReason:
    """Returns why a search that has no request to send ends."""
    if state["stop_reason"]:
        return cast("StopReason", state["stop_reason"])
    if state["pending"] or open_paths(state) or _extractions(state):
        return limit_reason(state)
    return "exhausted"
