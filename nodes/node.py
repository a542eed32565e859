"""What a node is, and what every node of a search does beside its own work."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import wraps
from typing import Any

from langgraph.config import get_config
from langgraph.runtime import Runtime, get_runtime

from thoughtgraph.configurations import PLACE, configurable
from thoughtgraph.errors import InputError, ModelError
from thoughtgraph.nodes.thought_events import tell_events
from thoughtgraph.outcome import REFUSED
from thoughtgraph.results import Result
from thoughtgraph.run import Run
from thoughtgraph.settings import Settings
from thoughtgraph.state import SearchOutput, updated
from thoughtgraph.task import Opens, Task
from thoughtgraph.usage import add_usages, check_counts

Node = Callable[..., Awaitable[dict[str, Any]]]
"""A step of a graph: from the state to a state update.

LangGraph types a node by the name of its parameter, which `Callable` can only leave open.
"""
RESULT = SearchOutput.__annotations__.keys() - {"messages"}
"""What the result holds that comes with an error; a conversation has no reply then."""


def guarded(run: Run, node: Node, *, last: bool = False) -> Node:
    """Makes a node of a search: it checks the settings first, and tells what it did to thoughts.

    Where the run is to fail by what keeps the node from its answers, the node raises. What was
    answered is stored, so that a run that goes on asks for the rest. The error has the search's
    result until then; whoever streams is told how it ended.

    It raises `SettingError` where the context differs from the settings with which the search
    began, or the state holds settings that the policy does not allow; `InputError` where there is
    no search to go on with.

    Args:
        run: The objects of the graph.
        node: The node.
        last: Whether it ends the search, also one that was refused.
    """

    @wraps(node)
    async def whole(state: Any) -> dict[str, Any]:
        if not state.get("thoughts"):
            raise InputError(
                "there is no search here to go on with, or version 0.1 began it; start it again"
            )
        if state.get("tree") and not last:
            raise InputError(
                "the tree grows in 'thoughts' and is written from there at the end; leave 'tree' "
                'as {}, edit {"thoughts": {id: …}}'
            )
        if state["stop_reason"] != REFUSED:
            _check(run, state)
        elif not last:
            raise InputError("this search was refused; start a run with another input")
        # Again, as the run may go on in another process; looking at a protocol takes long.
        task = run.task_for(state["settings"], Task) if state["settings"] else None
        if hasattr(task, "open") and isinstance(task, Opens):
            await asyncio.to_thread(task.open, state["problem"], state["settings"])
        update = await node(state)
        tell_events(state["thoughts"], update)
        if update.get("stop_reason") == "error" and raises(state):
            raise ModelError(update["error"], result=await _until_now(run, state, update))
        # What nodes write is a list: see `thoughtgraph.edits`.
        return {**update, "thoughts": [update["thoughts"]]} if "thoughts" in update else update

    return whole


def is_nested(runtime: Runtime[Any]) -> bool:
    """Returns whether the search runs inside another graph."""
    running = runtime.execution_info
    return running is not None and "|" in running.checkpoint_ns


def check_configuration(run: Run, chosen: Mapping[str, Any]) -> None:
    """Refuses settings among the configuration; a server copies there what the context chose.

    Raises:
        InputError: One of them is a setting.
    """
    check_place(run, configurable(get_config()).keys() - chosen.keys(), PLACE)


def check_place(run: Run, names: Collection[str], place: str) -> None:
    """Refuses settings that stand where no graph looks.

    Args:
        run: The objects of the graph.
        names: What stands there.
        place: Where that is, in words.

    Raises:
        InputError: One of them is a setting.
    """
    for name in sorted(names & run.settings.model_fields.keys()):
        remedy = f"settings go by context={{{name!r}: …}}"
        if name in run.context.closed:
            remedy = "it was fixed when the graph was built"
        raise InputError(f"{name!r} is a setting and would be ignored in {place}; {remedy}")


def _check(run: Run, state: Mapping[str, Any]) -> None:
    runtime = get_runtime()
    if run.policy is not None:  # clients may write past the reducers, with {"__overwrite__": …}
        check_counts(state["usage"])
    chosen = run.chosen(runtime.context)
    run.check(chosen, state["settings"])
    if not is_nested(runtime):
        check_configuration(run, chosen)


def raises(state: Mapping[str, Any]) -> bool:
    """Returns whether a run fails by a model that fails; else its result says so."""
    chosen = Settings.of(state["settings"]).on_error
    return chosen == "raise" or (chosen is None and not state.get("messages"))


async def _until_now(run: Run, state: Mapping[str, Any], update: Mapping[str, Any]) -> Result:
    """Returns what a search comes to that ends with this update."""
    spent = add_usages(state["usage"], [update.get("usage", {})])
    after = {**updated(state, update), "usage": spent}
    ended = await run.conclude(after)
    tell_events(after["thoughts"], ended)
    result = updated(after, {**ended, "usage": ended["usage"].value})
    result["tree"] = result["thoughts"]
    return Result({k: v for k, v in result.items() if k in RESULT})
