"""What a node is; what a fanned-out one is sent, and how it gets the rest of the state.

LangGraph stores every slice that is sent, twice: a slice with the path in it made a checkpoint
three times as large (measured by `bench/speed/checkpoint_growth.py`). So a `SendArg` names its
thoughts by id only, and the node completes it to a `NodeInput` from the channels of the running
superstep, which hold what the router saw. LangGraph's own tool node reads them in the same way.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.scratch import SCRATCH, Scratch
from thoughtgraph.search_graph import READ
from thoughtgraph.state import SearchState
from thoughtgraph.tree import path_to

Node = Callable[..., Awaitable[dict[str, Any]]]
"""A step of a graph: from the state, or from what was sent to it, to a state update.

LangGraph types a node by the name of its parameter, which `Callable` can only leave open.
"""
NEEDED = ["problem", "settings", "run", "prices", "usage", "tree"]


def fanned_out(node: Callable[[NodeInput], Awaitable[dict[str, Any]]]) -> Node:
    """Makes a node that is sent ids of one that needs more of the state.

    Args:
        node: From a `NodeInput` to a state update.
    """

    async def run(sent: SendArg) -> dict[str, Any]:
        return await node(node_input(running_state(), sent))

    return run


def running_state() -> SearchState:
    """Returns the part of the running superstep's state that such nodes need.

    Raises:
        RuntimeError: No graph is running.
    """
    return cast("SearchState", running(NEEDED))


def running_scratch() -> Scratch:
    """Returns what the running graph shares beside its state; a new one where none is running."""
    read = reader()
    return Scratch() if read is None else cast("Scratch", read(SCRATCH, False))


def node_input(state: SearchState, sent: SendArg) -> NodeInput:
    """Completes what was sent from the state.

    Args:
        state: The state; `NEEDED` names what is read of it.
        sent: What the task is about.
    """
    tree = state["tree"]
    thoughts = sent.get("about") or [sent["thought"]]
    given = {name: cast("Mapping[str, Any]", state)[name] for name in NEEDED if name != "tree"}
    given["path"] = path_to(tree, thoughts[0])
    if sent.get("vote"):
        given["paths"] = [path_to(tree, key) for key in thoughts]
    if sent.get("experiences"):
        given["lessons"] = [path_to(tree, key) for key in sent["experiences"]]
    # What else is sent, such as settings, counts for nothing: the state alone has them.
    own = {name: value for name, value in sent.items() if name in SendArg.__annotations__}
    return cast("NodeInput", {**given, **own})


def running(channels: str | Sequence[str]) -> Any:
    """Returns the value of a channel, or those of several by name.

    Raises:
        RuntimeError: No graph is running.
    """
    read = reader()
    if read is None:
        raise RuntimeError("a fanned-out task runs inside its graph only")
    return read(channels, False)


def reader() -> Callable[..., Any] | None:
    """Returns the function that reads channels; None where no graph is running."""
    config = var_child_runnable_config.get() or {}
    read: Callable[..., Any] | None = config.get("configurable", {}).get(READ)
    return read
