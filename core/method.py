"""The definition of a method, as one value.

A file of `graphs/` exports one or more. The facts that the registry needs to list a method and
check its settings without importing LangGraph stand in its entry, and only there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thoughtgraph.entries import MethodEntry
from thoughtgraph.settings import Settings

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

    from thoughtgraph.run import Run


@dataclass(frozen=True, slots=True)
class Method:
    """A published method: its entry, its settings and its wiring."""

    entry: MethodEntry
    """Its id, summary and paper, and whether it asks an oracle."""
    settings: type[Settings]
    """Its settings, with the published values as defaults; they name the capabilities that it needs
    of a task."""
    wire: Callable[["Run"], "StateGraph[Any, Any, Any, Any]"]
    """Builds the graph around a task, models and tools: nodes, edges and named routers."""
    abreast: int = 1
    """Number of its nodes that may send requests in the same superstep."""
