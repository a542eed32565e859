"""What a node is, and what generators are given of the state."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from thoughtgraph.generation import GeneratorInput
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


def generator_input(
    state: SearchState,
    thought: str,
    *,
    expansion: int = 0,
    samples: int = 1,
    experiences: Sequence[str] = (),
) -> GeneratorInput:
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
        "run": state["run"],
        "settings": state["settings"],
        "path": path_to(tree, thought),
        "lessons": [path_to(tree, key) for key in experiences],
    }
