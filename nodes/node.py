"""What a node is, and what every node of a search does beside its own work."""

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any

from langgraph.runtime import get_runtime

from thoughtgraph.edits import applied
from thoughtgraph.errors import InputError, ModelError
from thoughtgraph.nodes.thought_events import tell_events
from thoughtgraph.outcome import REFUSED
from thoughtgraph.results import Result
from thoughtgraph.run import Run
from thoughtgraph.settings import Settings
from thoughtgraph.state import SearchOutput
from thoughtgraph.usage import add_usages

Node = Callable[..., Awaitable[dict[str, Any]]]
"""A step of a graph: from the state to a state update.

LangGraph types a node by the name of its parameter, which `Callable` can only leave open.
"""
RESULT = SearchOutput.__annotations__.keys() - {"messages"}
"""What the result holds that comes with an error; a conversation has no reply then."""


def guarded(run: Run, node: Node) -> Node:
    """Makes a node of a search: it checks the settings first, and tells what it did to thoughts.

    Where the run is to fail by what keeps the node from its answers, the node raises. What was
    answered is stored, so that a run that goes on asks for the rest. The error has the search's
    result until then; whoever streams is told how it ended.

    It raises `SettingError` where the context differs from the settings with which the search
    began, or the state holds settings that the policy does not allow.
    """

    @wraps(node)
    async def whole(state: Any) -> dict[str, Any]:
        if not state.get("thoughts"):
            raise InputError("version 0.1 began this thread; start the problem again")
        if state["stop_reason"] != REFUSED:
            run.check(get_runtime().context, state["settings"])
        update = await node(state)
        tell_events(state["thoughts"], update)
        if update.get("stop_reason") == "error" and raises(state):
            raise ModelError(update["error"], result=await _until_now(run, state, update))
        return update

    return whole


def raises(state: Mapping[str, Any]) -> bool:
    """Returns whether a run fails by a model that fails; else its result says so."""
    chosen = Settings.of(state["settings"]).on_error
    return chosen == "raise" or (chosen is None and not state.get("messages"))


async def _until_now(run: Run, state: Mapping[str, Any], update: Mapping[str, Any]) -> Result:
    """Returns what a search comes to that ends with this update."""
    spent = add_usages(state["usage"], [update.get("usage", {})])
    after = {**applied(state, update), "usage": spent}
    ended = await run.conclude(after)
    tell_events(after["thoughts"], ended)
    result = applied(after, {**ended, "usage": ended["usage"].value})
    return Result({k: v for k, v in result.items() if k in RESULT})
