"""Which methods and tasks there are, by id; each is imported only when it is asked for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from thoughtgraph.errors import UnknownName

if TYPE_CHECKING:
    from thoughtgraph.task import Task


@dataclass(frozen=True, slots=True)
class MethodEntry:
    """What is known of a method without importing it."""

    id: str
    module: str
    """Module that holds `build(parts)`, `SETTINGS` and `needs(settings)`."""
    paper: str
    summary: str
    variant: str = ""
    """Which of the module's methods, where several share a file."""


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """What is known of a task without importing it."""

    id: str
    factory: str
    """`module:callable`; called without arguments it makes the task."""
    summary: str
    example: str
    """A problem in the task's format."""
    methods: tuple[str, ...] = field(default=())
    """Methods for which values are published."""


_TOT = "Tree of Thoughts (Yao et al. 2023)"

METHODS = {
    entry.id: entry
    for entry in (
        MethodEntry("io", "thoughtgraph.graphs.io", _TOT, "ask once for the answer"),
        MethodEntry("cot", "thoughtgraph.graphs.cot", _TOT, "think, then answer"),
        MethodEntry(
            "cot_sc", "thoughtgraph.graphs.cot_sc", _TOT, "think k times, the majority answers"
        ),
        MethodEntry(
            "refine", "thoughtgraph.graphs.refine", _TOT, "answer, then improve on the answer"
        ),
        MethodEntry("tot_bfs", "thoughtgraph.graphs.tot_bfs", _TOT, "breadth-first tree search"),
        MethodEntry("tot_dfs", "thoughtgraph.graphs.tot_dfs", _TOT, "depth-first tree search"),
    )
}

TASKS = {
    entry.id: entry
    for entry in (
        TaskEntry(
            "game24",
            "thoughtgraph.tasks.game24:Game24",
            "reach 24 with four numbers and + - * /",
            "4 9 10 13",
        ),
        TaskEntry(
            "crosswords",
            "thoughtgraph.tasks.crosswords:Crosswords",
            "fill a 5 x 5 crossword from ten clues",
            '["Long narrow piece", "Yours, of old", "Apartment payments", "Valuable thing", '
            '"Equals", "Leather band", "Not those but", "Wash off the soap", "Bury", '
            '"Bugs, to a gardener"]',
        ),
        TaskEntry(
            "creative_writing",
            "thoughtgraph.tasks.creative_writing:CreativeWriting",
            "write four paragraphs that end in four given sentences",
            "The kettle never boiled on time. Nobody had asked the cat. It rained on the wrong "
            "side of the street. She kept the key.",
        ),
        TaskEntry(
            "gsm8k",
            "thoughtgraph.tasks.gsm8k:gsm8k",
            "solve a grade-school word problem",
            "A shop sells 3 pens for 2 dollars. How many dollars do 12 pens cost?",
        ),
        TaskEntry(
            "strategyqa",
            "thoughtgraph.tasks.strategyqa:strategyqa",
            "answer yes or no where the steps are implicit",
            "Could a penguin outrun a snail?",
        ),
        TaskEntry(
            "question",
            "thoughtgraph.tasks.question:question",
            "answer any question",
            "Which planet has the shortest day?",
        ),
    )
}


def method(name: str) -> MethodEntry:
    """Returns a method's entry.

    Raises:
        UnknownName: There is no such method.
    """
    if name not in METHODS:
        raise UnknownName("method", name, METHODS)
    return METHODS[name]


def method_module(name: str) -> Any:
    """Imports and returns the module of a method."""
    return import_module(method(name).module)


@cache
def task(name: str) -> "Task":
    """Makes a task by its id.

    Raises:
        UnknownName: There is no such task.
    """
    if name not in TASKS:
        raise UnknownName("task", name, TASKS)
    module, _, factory = TASKS[name].factory.partition(":")
    make = cast("Callable[[], Task]", getattr(import_module(module), factory))
    return make()
