"""What traces say of a call: whose it is, and about which thoughts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.parts import Parts


def labels(parts: Parts, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what traces say of a call: whose it is, and about which thoughts.

    Args:
        given: What the node was given: the state, or what was sent to it.
    """
    about = given.get("about") or [given.get("thought") or given.get("visiting")]
    thoughts = [key for key in about if key] or list(given.get("frontier") or [])
    depth = given["tree"][thoughts[0]]["depth"] if "tree" in given and thoughts else None
    found = {
        "method": parts.method.id,
        "task": given["settings"].get("task"),
        "run": given.get("run"),
        "thoughts": thoughts,
        "depth": len(given["path"]) if "path" in given else depth,
    }
    return {f"thoughtgraph_{name}": each for name, each in found.items() if each is not None}


@contextmanager
def traced_as(said: Mapping[str, Any]) -> Iterator[None]:
    """Gives what is called inside, such as a tool, the labels by which a trace knows it."""
    config = var_child_runnable_config.get() or {}
    metadata = {**config.get("metadata", {}), **said}
    token = var_child_runnable_config.set({**config, "metadata": metadata})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)
