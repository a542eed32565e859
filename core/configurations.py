"""What `config` says of a call: whose node it is, and what no client may write there."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import CONFIG_KEYS, var_child_runnable_config

from thoughtgraph.errors import InputError

PLACE = 'config["configurable"]'
"""Where settings stood in older LangGraph, in words."""
INTERNAL = "__pregel_"
"""What LangGraph's own keys in a configuration begin with; it puts objects there."""
PLAIN = (str, int, float, list, dict, type(None))
"""What a client can send."""
PLACES = {"checkpoint_id": str, "checkpoint_ns": str, "checkpoint_map": dict}
"""Where in a thread a run begins, as clients may say it too."""


def configurable(*configs: RunnableConfig | None) -> dict[str, Any]:
    """Returns what stands in configurations beside LangChain's own keys."""
    found: dict[str, Any] = {}
    for config in configs:
        found |= {name: value for name, value in (config or {}).items() if name not in CONFIG_KEYS}
        found |= (config or {}).get("configurable") or {}
    return found


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


def admit_configurable(given: Mapping[str, Any]) -> None:
    """Refuses what LangGraph would fail on, deep inside.

    Raises:
        InputError: A client wrote where LangGraph keeps its own objects, or no place of a thread.
    """
    for name, value in given.items():
        own = name.startswith(INTERNAL) and isinstance(value, PLAIN)
        if own or not isinstance(value, (PLACES.get(name, object), type(None))):
            raise InputError(f"{name[:60]!r} cannot be set in {PLACE}; leave it out")


def admit_callbacks(config: RunnableConfig | None) -> None:
    """Refuses callbacks that came by the network: they would fail deep inside LangChain.

    Raises:
        InputError: A client named some.
    """
    given: Any = (config or {}).get("callbacks") or []
    plain = isinstance(given, (str, dict))
    if plain or (isinstance(given, list) and any(isinstance(each, PLAIN) for each in given)):
        raise InputError("'callbacks' are no client's to set; leave them out")
