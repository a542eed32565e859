"""What a node is, and what generators are given of the state."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.scratch import SCRATCH, Scratch
from thoughtgraph.search_graph import READ
from thoughtgraph.state import SearchState
from thoughtgraph.tree import path_to

Node = Callable[..., Awaitable[dict[str, Any]]]
"""A step of a graph: from the state to a state update.

LangGraph types a node by the name of its parameter, which `Callable` can only leave open.
"""
NEEDED = ("problem", "settings", "run", "prices", "usage")


def running_scratch() -> Scratch:
    """Returns what the running graph shares beside its state; a new one where none is running."""
    config = var_child_runnable_config.get() or {}
    read: Callable[..., Any] | None = config.get("configurable", {}).get(READ)
    return Scratch() if read is None else cast("Scratch", read(SCRATCH, False))


def node_input(state: SearchState, sent: SendArg) -> NodeInput:
    """Returns what a generator is given.

    Args:
        state: The state.
        sent: What is asked for.
    """
    tree = state["tree"]
    given = {name: cast("Mapping[str, Any]", state)[name] for name in NEEDED}
    given["path"] = path_to(tree, sent["thought"])
    if sent.get("experiences"):
        given["lessons"] = [path_to(tree, key) for key in sent["experiences"]]
    return cast("NodeInput", {**given, **sent})
