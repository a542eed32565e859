"""What a method is: one value that says all there is to know of it.

A file of `graphs/` exports one or more. What the registry knows of a method, so that it can be
listed and its settings checked without importing LangGraph, is its entry: said there, once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

from thoughtgraph.acting import Hints
from thoughtgraph.entries import MethodEntry
from thoughtgraph.settings import Settings
from thoughtgraph.task import Question
from thoughtgraph.tree import Thought

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

    from thoughtgraph.run import Run

ThoughtQuestion = Question[Sequence[Mapping[str, Any]]]
"""What is read as partial thoughts; it says how many completions are asked for."""


class GeneratorInput(TypedDict, total=False):
    """What a generator is given."""

    thought: str
    """Id of the thought to expand."""
    expansion: int
    """How often it was expanded before."""
    samples: int
    """How many samples are asked for, where the search decides it; absent: as its settings say."""
    problem: str
    run: str
    """The run's name, by which its tools are found; absent outside a run."""
    settings: dict[str, Any]
    path: list[Thought]
    """The thoughts from the root (excluded) to the one to expand."""
    hints: Hints
    """What its prompt says besides, where that is known already; see `Thought.shown`."""
    lessons: list[list[Thought]]
    """The paths whose steps and analyses the prompt is to contain, in order; the last thought of
    each holds its analysis."""


@dataclass(frozen=True, slots=True)
class Method:
    """A published method: what it is, what it can be told, how it thinks and how it is wired."""

    entry: MethodEntry
    """Its id, what it does in a line, its paper, and whether it asks an oracle."""
    settings: type[Settings]
    """What it can be told, with the published values as defaults; they say what it needs of a
    task."""
    generator: Callable[["Run", GeneratorInput], ThoughtQuestion]
    """The paper's thought generator G: what to ask for next thoughts, and how to read it."""
    wire: Callable[["Run"], "StateGraph[Any, Any, Any, Any]"]
    """Makes the graph around a task, models and tools: nodes, edges and named routers."""
    abreast: int = 1
    """How many of its nodes may ask in one superstep."""
