"""What a method is: one value that says all there is to know of it.

A file of `graphs/` exports one or more. What the registry knows of a method, so that it can be
listed and its settings checked without importing LangGraph, is its entry: said there, once.
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
    """A published method: what it is, what it can be told and how it is wired."""

    entry: MethodEntry
    """Its id, what it does in a line, its paper, and whether it asks an oracle."""
    settings: type[Settings]
    """What it can be told, with the published values as defaults; they say what it needs of a
    task."""
    wire: Callable[["Run"], "StateGraph[Any, Any, Any, Any]"]
    """Makes the graph around a task, models and tools: nodes, edges and named routers."""
    abreast: int = 1
    """How many of its nodes may ask in one superstep."""
