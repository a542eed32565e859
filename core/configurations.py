"""What `config` says of a call: what stands there, and whose node calls."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import CONFIG_KEYS, var_child_runnable_config

PLACE = 'config["configurable"]'
"""Where settings stood in older LangGraph, in words."""


def configurable(*configs: RunnableConfig | None) -> dict[str, Any]:
    """Returns what stands in configurations beside LangChain's own keys."""
    entries: dict[str, Any] = {}
    for config in configs:
        entries |= {
            name: value for name, value in (config or {}).items() if name not in CONFIG_KEYS
        }
        entries |= (config or {}).get("configurable") or {}
    return entries


@contextmanager
def configured(**changes: Any) -> Iterator[None]:
    """Changes the configuration that is handed on to what is called inside."""
    config = {**(var_child_runnable_config.get() or {}), **changes}
    token = var_child_runnable_config.set(cast("RunnableConfig", config))
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def called_by_node() -> bool:
    """Returns whether whoever calls a graph is itself a node of a running one.

    Only that node's own configuration tells: what a caller hands on, anybody could send.
    """
    return bool(configurable(var_child_runnable_config.get()).get("checkpoint_ns"))
