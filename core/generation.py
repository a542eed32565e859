"""What a generator is given of the state, and what an expansion gives back."""

from typing import Any

from typing_extensions import TypedDict

from thoughtgraph.acting import Hints
from thoughtgraph.tree import Thought


class Expansion(TypedDict, total=False):
    """What one expansion of one thought produced, before its thoughts have ids."""

    parent: str
    """Id of the expanded thought."""
    thoughts: list[dict[str, Any]]
    """Partial thoughts in the order of their creation."""
    usage: dict[str, dict[str, float]]
    """What the expansion cost, by role."""
    short: bool
    """Whether fewer samples were asked for than wanted, because of the limit on thoughts."""


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
