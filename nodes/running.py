"""The channels of the superstep that a node runs in: what its router saw."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.search_graph import READ


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
