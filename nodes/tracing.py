"""What traces say of a call: whose it is, and about which thoughts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.configurations import configured
from thoughtgraph.run import Run


def labels(run: Run, state: Mapping[str, Any], about: str = "") -> dict[str, Any]:
    """Returns what traces say of a call: whose it is, and about which thought.

    Args:
        state: The state; its settings and the run's name are enough.
        about: Id of the thought; empty: none.
    """
    found = {
        "method": run.method.entry.id,
        "task": state["settings"].get("task"),
        "run": state.get("run"),
        "thoughts": [about] if about else [],
        "depth": state["thoughts"][about]["depth"] if about else None,
    }
    return {f"thoughtgraph_{name}": each for name, each in found.items() if each is not None}


@contextmanager
def traced_as(said: Mapping[str, Any]) -> Iterator[None]:
    """Gives what is called inside, such as a tool, the labels by which a trace knows it."""
    config = var_child_runnable_config.get() or {}
    with configured(metadata={**config.get("metadata", {}), **said}):
        yield
