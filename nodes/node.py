"""What a node is, and the checks and events that wrap every node of a search."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from langgraph.config import get_config
from langgraph.runtime import Runtime, get_runtime

from thoughtgraph.configurations import PLACE, configurable
from thoughtgraph.errors import InputError, ModelError
from thoughtgraph.nodes.step import Step, raises
from thoughtgraph.nodes.thought_events import tell_events
from thoughtgraph.outcome import REFUSED
from thoughtgraph.results import Result
from thoughtgraph.run import Run
from thoughtgraph.state import SearchOutput, updated
from thoughtgraph.task import Opens, Task
from thoughtgraph.usage import add_usages, check_counts

Node = Callable[[Step, Any], Awaitable[dict[str, Any]]]
"""A line of a box: from its `Step`, which sends requests, and the state to a state update."""
RESULT = SearchOutput.__annotations__.keys() - {"messages"}
"""Keys of the result that a `ModelError` carries; a conversation gets no reply then."""


def guarded(
    run: Run, node: Node, *, last: bool = False
) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Wraps a line of a box as a graph node that checks the settings first and streams its events.

    If a model fails for good, the node raises `ModelError` where `raises` says so. Answers that
    arrived are stored, so a resumed run requests only the rest. The error carries the result so
    far, and the stream still gets the final events.

    The node raises `SettingError` if the context differs from the settings with which the search
    began, or if the policy does not allow the settings in the state. It raises `InputError` if the
    state holds no search to continue.

    Args:
        run: The objects of the graph.
        node: The line of the box.
        last: Whether the node ends the search, even a refused one.
    """

    async def checked(state: Any) -> dict[str, Any]:
        _check_state(state, last=last)
        if state["stop_reason"] != REFUSED:
            runtime = get_runtime()
            if run.policy is not None:  # clients may write past the reducers
                check_counts(state["spent"])
            chosen = run.chosen(runtime.context)
            run.check(chosen, state["settings"])
            if not is_nested(runtime):  # servers copy the context to `configurable`
                check_place(run, configurable(get_config()).keys() - chosen.keys(), PLACE)
        # Opened again for runs resumed in a new process. `hasattr` first: protocol checks are slow.
        task = run.task_for(state["settings"], Task) if state["settings"] else None
        if hasattr(task, "open") and isinstance(task, Opens):
            await asyncio.to_thread(task.open, state["problem"], state["settings"])
        update = await node(Step(run, state), state)
        tell_events(state["thoughts"], update)
        if update.get("stop_reason") == "error" and raises(state):
            raise ModelError(update["error"], result=await _result_so_far(run, state, update))
        if not update.get("stop_reason"):  # writing an empty one would stream the state
            update = {key: new for key, new in update.items() if key != "stop_reason"}
        # A list marks the write of a node: see `thoughtgraph.reducer`.
        return {**update, "thoughts": [update["thoughts"]]} if "thoughts" in update else update

    return checked


def _check_state(state: Mapping[str, Any], *, last: bool) -> None:
    """Refuses a state without a search, or with one that must not continue.

    Args:
        state: The state.
        last: Whether the node ends the search.

    Raises:
        InputError: The state is refused.
    """
    if not state.get("thoughts"):
        raise InputError(
            "there is no search here to go on with, or version 0.1 began it; start it again"
        )
    if state.get("tree") and not last:
        raise InputError(
            "the tree grows in 'thoughts' and is written from there at the end; leave 'tree' "
            'as {}, edit {"thoughts": {id: …}}'
        )
    if state["stop_reason"] == REFUSED and not last:
        raise InputError("this search was refused; start a run with another input")


def is_nested(runtime: Runtime[Any]) -> bool:
    """Returns whether the search runs inside another graph."""
    running = runtime.execution_info
    return running is not None and "|" in running.checkpoint_ns


def check_place(run: Run, names: Collection[str], place: str) -> None:
    """Refuses settings in a place where no graph reads them.

    Args:
        run: The objects of the graph.
        names: The keys in that place.
        place: The place, in words.

    Raises:
        InputError: A key is the name of a setting.
    """
    for name in sorted(names & run.settings.model_fields.keys()):
        remedy = f"settings go by context={{{name!r}: …}}"
        if name in run.context.closed:
            remedy = "it was fixed when the graph was built"
        raise InputError(f"{name!r} is a setting and would be ignored in {place}; {remedy}")


async def _result_so_far(run: Run, state: Mapping[str, Any], update: Mapping[str, Any]) -> Result:
    """Returns the result of a search that ends with this update, and streams its last events."""
    spent = add_usages(state["spent"], [update.get("spent", {})])
    after = {**updated(state, update), "spent": spent}
    ending = await run.conclude(after)
    tell_events(after["thoughts"], ending)
    result = updated(after, ending)
    result["tree"] = result["thoughts"]
    return Result({k: v for k, v in result.items() if k in RESULT})
