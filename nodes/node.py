"""What a node is, and what every node of a search does beside its own work."""

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
"""A line of a box: from what it may ask, and the state, to a state update."""
RESULT = SearchOutput.__annotations__.keys() - {"messages"}
"""What the result holds that comes with an error; a conversation has no reply then."""


def guarded(
    run: Run, node: Node, *, last: bool = False
) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Makes a node of a graph: it checks the settings first, and tells what it did to thoughts.

    Where the run is to fail by what keeps the node from its answers, the node raises. What was
    answered is stored, so that a run that goes on asks for the rest. The error has the search's
    result until then; whoever streams is told how it ended.

    It raises `SettingError` where the context differs from the settings with which the search
    began, or the state holds settings that the policy does not allow; `InputError` where there is
    no search to go on with.

    Args:
        run: The objects of the graph.
        node: What it does.
        last: Whether it ends the search, also one that was refused.
    """

    async def whole(state: Any) -> dict[str, Any]:
        _check_state(state, last=last)
        if state["stop_reason"] != REFUSED:
            runtime = get_runtime()
            if run.policy is not None:  # clients may write past the reducers
                check_counts(state["spent"])
            chosen = run.chosen(runtime.context)
            run.check(chosen, state["settings"])
            if not is_nested(runtime):  # a server copies there what the context chose
                check_place(run, configurable(get_config()).keys() - chosen.keys(), PLACE)
        # Again, as the run may go on in another process; looking at a protocol takes long.
        task = run.task_for(state["settings"], Task) if state["settings"] else None
        if hasattr(task, "open") and isinstance(task, Opens):
            await asyncio.to_thread(task.open, state["problem"], state["settings"])
        update = await node(Step(run, state), state)
        tell_events(state["thoughts"], update)
        if update.get("stop_reason") == "error" and raises(state):
            raise ModelError(update["error"], result=await _until_now(run, state, update))
        if not update.get("stop_reason"):  # nothing of the output is written: no state is streamed
            update = {key: new for key, new in update.items() if key != "stop_reason"}
        # What nodes write is a list: see `thoughtgraph.reducer`.
        return {**update, "thoughts": [update["thoughts"]]} if "thoughts" in update else update

    return whole


def _check_state(state: Mapping[str, Any], *, last: bool) -> None:
    """Refuses to go on where there is no search, or none that may go on.

    Args:
        state: The state.
        last: Whether the node ends the search.

    Raises:
        InputError: There is none.
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


async def _until_now(run: Run, state: Mapping[str, Any], update: Mapping[str, Any]) -> Result:
    """Returns what a search comes to that ends with this update."""
    spent = add_usages(state["spent"], [update.get("spent", {})])
    after = {**updated(state, update), "spent": spent}
    ended = await run.conclude(after)
    tell_events(after["thoughts"], ended)
    result = updated(after, ended)
    result["tree"] = result["thoughts"]
    return Result({k: v for k, v in result.items() if k in RESULT})
