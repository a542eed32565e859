"""What a method is: one value that says all there is to know of it.

A file of `graphs/` exports one or more. What the registry knows of a method, so that it can be
listed and its settings checked without importing LangGraph, is its entry: said there, once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from thoughtgraph.entries import METHODS, MethodEntry
from thoughtgraph.generation import GeneratorInput
from thoughtgraph.settings import Settings
from thoughtgraph.task import Question

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

    from thoughtgraph.run import Run

ThoughtQuestion = Question[Sequence[Mapping[str, Any]]]
"""What is read as partial thoughts; it says how many completions are asked for."""
ThoughtGenerator = Callable[["Run", GeneratorInput], ThoughtQuestion]
"""The papers' thought generator G: what to ask for next thoughts, and how to read it."""
ChooseGenerator = Callable[[Mapping[str, Any]], ThoughtGenerator]
"""From a run's settings to its generator."""


@dataclass(frozen=True, slots=True)
class Method:
    """A published method: what it is, what it can be told, how it thinks and how it is wired."""

    entry: MethodEntry
    """Its id, what it does in a line, its paper, and whether it asks an oracle."""
    settings: type[Settings]
    """What it can be told, with the published values as defaults; they say what it needs of a
    task."""
    generator: ChooseGenerator
    """How thoughts are generated under given settings; by it the prompts of a stored run are
    rendered again."""
    wire: Callable[["Run"], "StateGraph[Any, Any, Any, Any]"]
    """Makes the graph around a task, models and tools: nodes, edges and named routers."""
    abreast: int = 1
    """How many of its nodes may ask in one superstep."""


def load(name: str) -> Method:
    """Imports a method, and LangGraph with it.

    Raises:
        UnknownName: There is no such method.
    """
    found: Method = resolve_name(f"thoughtgraph.graphs.{METHODS[name].method}")
    return found
