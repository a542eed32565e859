"""LangChain's `config` of a call: its entries, and whether a node makes the call."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import CONFIG_KEYS, var_child_runnable_config

PLACE = 'config["configurable"]'
"""Where older LangGraph took settings, in words."""


def configurable(*configs: RunnableConfig | None) -> dict[str, Any]:
    """Returns the entries of configurations other than LangChain's own keys; later ones win."""
    entries: dict[str, Any] = {}
    for config in configs:
        entries |= {
            name: value for name, value in (config or {}).items() if name not in CONFIG_KEYS
        }
        entries |= (config or {}).get("configurable") or {}
    return entries


@contextmanager
def configured(**changes: Any) -> Iterator[None]:
    """Changes the configuration that calls inside the block inherit."""
    config = {**(var_child_runnable_config.get() or {}), **changes}
    token = var_child_runnable_config.set(cast("RunnableConfig", config))
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def called_by_node() -> bool:
    """Returns whether the caller of a graph is a node of a running graph.

    Only the inherited configuration proves it: a `config` that is passed along could say anything.
    """
    return bool(configurable(var_child_runnable_config.get()).get("checkpoint_ns"))
