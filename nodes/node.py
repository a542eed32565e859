"""What a node is, and what generators are given of the state."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.fan_out import NodeInput
from thoughtgraph.scratch import SCRATCH, Scratch
from thoughtgraph.search_graph import READ
from thoughtgraph.settings import Settings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import path_to

Node = Callable[..., Awaitable[dict[str, Any]]]
"""A step of a graph: from the state to a state update.

LangGraph types a node by the name of its parameter, which `Callable` can only leave open.
"""


def raises(state: Mapping[str, Any]) -> bool:
    """Returns whether a run fails by a model that fails; else its result says so."""
    chosen = Settings.of(state["settings"]).on_error
    return chosen == "raise" or (chosen is None and not state.get("messages"))


def running_scratch() -> Scratch:
    """Returns what the running graph shares beside its state; a new one where none is running."""
    config = var_child_runnable_config.get() or {}
    read: Callable[..., Any] | None = config.get("configurable", {}).get(READ)
    return Scratch() if read is None else cast("Scratch", read(SCRATCH, False))


def node_input(
    state: SearchState,
    thought: str,
    *,
    expansion: int = 0,
    samples: int = 1,
    experiences: Sequence[str] = (),
) -> NodeInput:
    """Returns what a generator is given.

    Args:
        state: The state.
        thought: Id of the thought to expand.
        expansion: How often it was expanded before.
        samples: How many samples are asked for, where the search decides it.
        experiences: Ids of the last thoughts of the paths that the prompt is to contain, in order.
    """
    tree = state["tree"]
    return {
        "thought": thought,
        "expansion": expansion,
        "samples": samples,
        "problem": state["problem"],
        "settings": state["settings"],
        "path": path_to(tree, thought),
        "lessons": [path_to(tree, key) for key in experiences],
    }
