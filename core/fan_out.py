"""What the tasks of one superstep are sent, and what those that expand a thought give back."""

from typing import Any

from typing_extensions import TypedDict

from thoughtgraph.acting import Hints
from thoughtgraph.llm.prices import Prices
from thoughtgraph.tree import Thought
from thoughtgraph.usage import Usage


class Expansion(TypedDict, total=False):
    """What one expansion of one thought produced, before its thoughts have ids."""

    parent: str
    """Id of the expanded thought."""
    thoughts: list[dict[str, Any]]
    """Partial thoughts in the order of their creation."""
    usage: dict[str, dict[str, float]]
    """What the expansion cost, by role."""
    source: str
    """Id of the thought whose rollback asked for the expansion; absent: none did."""
    served: bool
    """False when the request was not answered, so that the thought stays unexpanded."""
    short: bool
    """Whether fewer samples were asked for than wanted, because of the limit on thoughts."""


class SendArg(TypedDict, total=False):
    """What one fanned-out task is sent: ids only, because LangGraph stores every slice it sends."""

    thought: str
    """Id of the thought to expand."""
    expansion: int
    """How often it was expanded before."""
    samples: int
    """How many samples are asked for, where the search decides it; absent: as its settings say."""
    ahead: bool
    """Whether it is expanded ahead of need: a failure then ends nothing, and what is needed asks
    again. Absent: it is needed."""
    about: list[str]
    """Ids of the thoughts that the verdict will be about."""
    key: str
    """State key of the evaluation."""
    vote: bool
    """Whether the thoughts are to be compared with each other."""
    source: str
    """Id of the thought whose rollback asks for the expansion; absent: none does."""
    experiences: list[str]
    """Ids of the thoughts whose steps and analyses the prompt is to contain, in order."""
    question: int
    """Which part of the state the verdict will be about, where a task judges part by part."""


class NodeInput(SendArg, total=False):
    """An order, completed from the state."""

    problem: str
    settings: dict[str, Any]
    run: str
    prices: Prices
    usage: Usage
    """What was spent when the task was sent."""
    path: list[Thought]
    """The thoughts from the root (excluded) to the one in question."""
    paths: list[list[Thought]]
    """The candidates of a vote."""
    hints: Hints
    """What its prompt says besides, where that is known already; see `Thought.shown`."""
    lessons: list[list[Thought]]
    """The paths of the order's `experiences`; the last thought of each holds its analysis."""
