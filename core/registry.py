"""Which methods and tasks there are, by id; each is imported only when it is asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    """Name of the object that holds them instead, where several methods share a module."""
    told: bool = False
    """Whether it asks an oracle if it is given one."""


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """What is known of a task without importing it."""

    id: str
    factory: str
    """`module:callable`; called without arguments it makes the task."""
    summary: str
    example: str
    """A problem in the task's format."""
    method: str = ""
    """The method of `thoughtgraph solve` when none is named (ours); empty: the first that fits."""


_TOT = "Tree of Thoughts (Yao et al. 2023)"
_TOMT = "Tree-of-Mixed-Thought (Hu et al. 2023)"
_MIXED = "thoughtgraph.graphs.mixed_thought"

_PTR_EXAMPLE = (
    '{"question": "how many legs does the chair have?", "scene": {"objects": [{"Chair0": {"seat": '
    '["red", 1], "leg": ["blue", 4]}}], "relationships": {"left": [[]], "right": [[]]}}}'
)
_CLEVR_EXAMPLE = (
    '{"question": "What color is the cube?", "scene": {"objects": [{"cube0": ["red", "small", '
    '"metal"]}], "relationships": {"left": [[]], "right": [[]]}}}'
)

_TR = "Thought Rollback (Chen and Li 2024)"
_ITOT = "Informed Tree of Thought (Mousavi et al. 2024)"
_REACT = "ReAct (Yao et al. 2023)"
_REFLEXION = "Reflexion (Shinn et al. 2023)"
_FGDIP = "FGDIP (Yan et al. 2025)"
_INFORMED = "thoughtgraph.graphs.informed_tot"

METHODS = {
    entry.id: entry
    for entry in (
        MethodEntry("io", "thoughtgraph.graphs.io", _TOT, "ask once for the answer"),
        MethodEntry("cot", "thoughtgraph.graphs.cot", _TOT, "think, then answer"),
        MethodEntry(
            "cot_sc", "thoughtgraph.graphs.cot_sc", _TOT, "think k times, the majority answers"
        ),
        MethodEntry(
            "refine",
            "thoughtgraph.graphs.refine",
            _TOT,
            "answer, then improve on the answer",
            told=True,
        ),
        MethodEntry("tot_bfs", "thoughtgraph.graphs.tot_bfs", _TOT, "breadth-first tree search"),
        MethodEntry("tot_dfs", "thoughtgraph.graphs.tot_dfs", _TOT, "depth-first tree search"),
        MethodEntry("tomt_one_stop", _MIXED, _TOMT, "write the whole plan at once", "one_stop"),
        MethodEntry("tomt_tot", _MIXED, _TOMT, "plan step by step, back up from faults", "tot"),
        MethodEntry(
            "tomt_os", _MIXED, _TOMT, "step by step, but first try all that remains", "one_stop_tot"
        ),
        MethodEntry("tomt_block", _MIXED, _TOMT, "plan k steps at a time", "block"),
        MethodEntry(
            "rollback",
            "thoughtgraph.graphs.thought_rollback",
            _TR,
            "reason step by step, go back to before a mistake and learn from it",
        ),
        MethodEntry("chain", "thoughtgraph.graphs.chain", _TR, "reason step by step, never back"),
        MethodEntry(
            "level_tot", "thoughtgraph.graphs.level_tot", _TR, "take the best of several steps"
        ),
        MethodEntry("react", "thoughtgraph.graphs.react", _REACT, "think, act, observe, repeat"),
        MethodEntry(
            "reflexion",
            "thoughtgraph.graphs.reflexion",
            _REFLEXION,
            "try again with the lesson of each failed trial",
            told=True,
        ),
        MethodEntry(
            "itot_a_star",
            _INFORMED,
            _ITOT,
            "best first by tool cost less value",
            "a_star",
            told=True,
        ),
        MethodEntry(
            "itot_d_star_lite",
            _INFORMED,
            _ITOT,
            "the same as itot_a_star; a failed tool makes its ancestors dearer and open again",
            "d_star_lite",
            told=True,
        ),
        MethodEntry(
            "itot_best_first", _INFORMED, _ITOT, "best first by value", "best_first", told=True
        ),
        MethodEntry(
            "itot_dfs", _INFORMED, _ITOT, "depth first with tools, no values", "dfs", told=True
        ),
        MethodEntry(
            "fgdip",
            "thoughtgraph.graphs.feedback_guided",
            _FGDIP,
            "depth first by tool calls, warned by siblings and rejected answers",
        ),
    )
}

TASKS = {
    entry.id: entry
    for entry in (
        TaskEntry(
            "game24",
            "thoughtgraph.tasks.game24.task:Game24",
            "reach 24 with four numbers and + - * /",
            "4 9 10 13",
        ),
        TaskEntry(
            "crosswords",
            "thoughtgraph.tasks.crosswords:Crosswords",
            "fill a 5 x 5 crossword from ten clues",
            '["Smell that a dog follows", "Boat with paddles", "Crime of fire", "Stir from sleep", '
            '"Many ships together", "Cloth around the neck", "Song for Christmas", "Come after", '
            '"Loop of a lasso", "Belief"]',
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
            "svamp",
            "thoughtgraph.tasks.svamp:svamp",
            "solve a short arithmetic word problem",
            "Ann had 9 apples and ate 2. Bo has 4. How many apples does Ann have now?",
        ),
        TaskEntry(
            "aqua",
            "thoughtgraph.tasks.aqua:aqua",
            "solve an algebra word problem with five choices",
            "What is 15 percent of 80? Answer choices: A) 8 B) 10 C) 12 D) 15 E) 20",
        ),
        TaskEntry(
            "math",
            "thoughtgraph.tasks.math:math",
            "solve a competition problem",
            r"What is the positive root of $x^2 = 2x + 3$?",
        ),
        TaskEntry(
            "theoremqa",
            "thoughtgraph.tasks.theoremqa:theoremqa",
            "answer a university question that needs a theorem",
            "How many trees are there on 4 labelled vertices?",
        ),
        TaskEntry(
            "mmlu",
            "thoughtgraph.tasks.mmlu:mmlu",
            "answer an exam question with four choices",
            "Which number is prime? Answer choices: A) 21 B) 27 C) 29 D) 33",
        ),
        TaskEntry(
            "strategyqa",
            "thoughtgraph.tasks.strategyqa:strategyqa",
            "answer yes or no where the steps are implicit",
            "Could a penguin outrun a snail?",
        ),
        TaskEntry(
            "ptr",
            "thoughtgraph.tasks.scenes.task:ptr",
            "answer a question about furniture in a scene graph by a plan of tool calls",
            _PTR_EXAMPLE,
        ),
        TaskEntry(
            "clevr",
            "thoughtgraph.tasks.scenes.task:clevr",
            "answer a question about shapes in a scene graph by a plan of tool calls",
            _CLEVR_EXAMPLE,
        ),
        TaskEntry(
            "hotpotqa",
            "thoughtgraph.tasks.hotpotqa:HotpotQA",
            "answer a question that takes two pages of Wikipedia",
            "In which country was the composer of Fidelio born?",
            method="react",
        ),
        TaskEntry(
            "fever",
            "thoughtgraph.tasks.fever:fever",
            "tell whether Wikipedia supports or refutes a claim",
            "The Danube flows into the Black Sea.",
            method="react",
        ),
        TaskEntry(
            "question",
            "thoughtgraph.tasks.question:question",
            "answer any question",
            "Which planet has the shortest day?",
        ),
    )
}


Viewer = Callable[[Sequence[Mapping[str, Any]]], str]
VIEWER = "thoughtgraph.cli.viewer:page"
"""`module:callable`; of stored results it makes one page of their search trees."""


def viewer() -> Viewer:
    """Imports the viewer, which stands in a layer above: only who asks for a page loads it."""
    module, _, make = VIEWER.partition(":")
    return cast(
        "Callable[[Sequence[Mapping[str, Any]]], str]", getattr(import_module(module), make)
    )


def method(name: str) -> MethodEntry:
    """Returns a method's entry.

    Raises:
        UnknownName: There is no such method.
    """
    if name not in METHODS:
        raise UnknownName("method", name, METHODS)
    return METHODS[name]


def method_module(name: str) -> Any:
    """Imports a method and returns its module, or its own object where methods share a module."""
    entry = method(name)
    module = import_module(entry.module)
    return getattr(module, entry.variant) if entry.variant else module


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
