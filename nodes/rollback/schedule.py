"""What a Thought Rollback structure is due to do next, one path at a time or all at once."""

from collections.abc import Iterator
from typing import Any, cast

from langgraph.types import Send

from thoughtgraph.fan_out import SendArg
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.method_graph import Node
from thoughtgraph.nodes.rollback.ensemble import FIRST, settled
from thoughtgraph.nodes.rollback.paths import analysable, experiences_shown
from thoughtgraph.nodes.rollback.solution_order import has_ended, priority
from thoughtgraph.outcome import StopReason
from thoughtgraph.reasoning import TWO_CALLS
from thoughtgraph.settings import limits_of
from thoughtgraph.state import RollbackState
from thoughtgraph.tree import ROOT, children_of
from thoughtgraph.usage import add_usage, remaining_thoughts, spent


def begin_round() -> Node:
    """Makes the node that begins a round: it closes paths that are done and ends the search.

    Which requests the round sends follows from the state alone: see `due`.
    """

    async def node(state: RollbackState) -> dict[str, Any]:
        # A round counts once it is over: a request in it must not find its own round spent.
        rounds = int(state["step"] > 0)
        usage = add_usage(state["usage"], {"rounds": rounds})
        return {
            "frontier": _open(state),
            "step": state["step"] + 1,
            "usage": {"rounds": rounds},
            "stop_reason": _stop_reason(cast("RollbackState", {**state, "usage": usage})),
        }

    return node


def round_sends(state: RollbackState) -> list[Send]:
    """Returns the requests that may be sent now, as many as the limits allow.

    In parallel every open path takes a step, every pending rollback's destination is continued, and
    every path without an analysis is analysed, all at once. Otherwise there is one request: a
    pending rollback first, else the analysis or the step of the path of highest priority.
    """
    if state["stop_reason"]:
        return []
    ready = _parallel_requests(state) if state["settings"]["parallel"] else _next_request(state)
    room = remaining_thoughts(limits_of(state["settings"]), state["usage"])
    sends: list[Send] = []
    for send in ready:
        if send.node == "generate":
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
    elif live := _open(state):
        first = min(live, key=lambda key: priority(state, key, int))
        yield _analysis(first) if _eligible(state, first) else _expansion(state, first)


def _open(state: RollbackState) -> list[str]:
    """Returns the open paths that something is left to do for."""
    live = [at for at in state["frontier"] if not has_ended(state, at) or _eligible(state, at)]
    if not state["settings"]["drop_paths"]:
        return live
    return [key for key in live if analysable(state, key)]


def _eligible(state: RollbackState, key: str) -> bool:
    """Returns whether a path is still to be analysed: once, and not with too many rollbacks."""
    thought = state["tree"][key]
    if key == ROOT or thought["status"] == "pruned" or "analysis" in thought:
        return False
    return analysable(state, key)


def _extractions(state: RollbackState) -> list[Send]:
    if state["settings"]["protocol"] != TWO_CALLS:
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
    sent = SendArg(thought=key, expansion=made, experiences=experiences_shown(state, key, source))
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


def _stop_reason(state: RollbackState) -> StopReason:
    """Returns why the search ends now, if it does."""
    settings = state["settings"]
    if len(state["solutions"]) >= settings["solutions"]:
        return "finished"
    if (settings["stop_settled"] or settings["ensemble"] == FIRST) and settled(state):
        return "settled"
    if round_sends(state):
        return ""
    if not (state["pending"] or _open(state) or _extractions(state)):
        return "exhausted"
    over = spent(limits_of(settings), state["usage"])
    return "round_limit" if over == "rounds" else "budget"
