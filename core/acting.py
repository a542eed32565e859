"""Capability protocols of tasks whose steps are actions.

They are the capabilities behind ReAct, Reflexion, Informed Tree of Thought and FGDIP: steps that
may call tools, verdicts on them, and lessons or answers from a failed or unfinished trajectory.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean
from typing import Any, Literal, Protocol, runtime_checkable

from typing_extensions import TypedDict

from thoughtgraph.task import Judged, Options, Question, Task, Verdict
from thoughtgraph.tree import Path, Thought

Label = Literal["sure", "maybe", "impossible"]
WORTH: Mapping[Label, float] = {"sure": 2.0, "maybe": 1.0, "impossible": 0.0}
"""The value of a thought, by its label (ours)."""


LOWEST = 1.0
"""The lowest score of a trajectory; it replaces a score that cannot be read (ours)."""


def labelled(read: Label | None) -> Verdict:
    """Returns the verdict for a label; None counts as `maybe` and as malformed."""
    label = read or "maybe"
    return Verdict(WORTH[label], label, malformed=int(read is None))


class Rejected(TypedDict):
    """A rejected answer: an entry of FGDIP's error memory."""

    answer: str
    thought: str
    """The last thought before the answer."""
    reason: str
    """Why the answer was rejected."""


@dataclass(frozen=True, slots=True)
class Hints:
    """A method's additions to the prompt for a next step. Every field may be empty."""

    tools: str = ""
    """One line per tool: how to call it and what it does."""
    rejected: Sequence[Rejected] = ()
    """Answers rejected so far (FGDIP's error analysis)."""
    siblings: Sequence[Thought] = ()
    """Earlier steps from the same thought (FGDIP's real-time feedback)."""
    reflections: Sequence[str] = ()
    """Lessons of earlier trials (Reflexion)."""
    thought: str = ""
    """A thought without its action: the prompt then asks for the action alone (ReAct)."""


@dataclass(frozen=True, slots=True)
class Move:
    """A next step as a model wrote it."""

    text: str
    """The thought, on one line; empty if the model wrote none."""
    action: str = ""
    """The action, such as `Search[Milan]`; empty if the model wrote none or the task has none."""
    answer: str | None = None
    """The final answer, if the step states it without a tool call."""
    malformed: bool = False
    """Whether the text contains no step; such completions are counted."""
    only: bool = False
    """Whether this is the only possible step here, so that no sibling is requested."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one tool call.

    Args:
        observation: One line of text for the model; it is data and never parsed.
        state: The tools' state after the call, for the thought's `tool_state`: plain JSON values.
        failed: Whether the tool could not do its work (iToT section 4).
        cost: Cost of the call (the papers' V_T).
        answer: The final answer; only `Finish` and other tools that return directly give one.
        invalid: Whether no tool was called, because none has that name or the text between the
            brackets does not give its arguments. The call has then failed.
    """

    observation: str
    state: Mapping[str, Any]
    failed: bool
    cost: float
    answer: str | None = None
    invalid: bool = False


@runtime_checkable
class Toolbox(Protocol):
    """The tools of one run (`thoughtgraph.tools.toolbox.ToolSet` wraps LangChain tools)."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which a model calls the tools."""
        ...

    @property
    def max_call_cost(self) -> float:
        """The highest price of a call, as far as prices are known before a call."""
        ...

    def describe(self) -> str:
        """Returns one line per tool, for the prompt."""
        ...

    def parse(self, text: str) -> tuple[str, str] | None:
        """Returns the name and the argument of the action in a model's text; None if there is none.

        The action is the first call of an existing tool, anywhere in the text. Without such a call
        it is the first call of an unknown tool, under the name that the model wrote: calling it
        fails. `search [x] and more` is `("Search", "x")`.
        """
        ...

    async def call(self, name: str, argument: str, state: Mapping[str, Any] | None) -> ToolResult:
        """Calls a tool; a tool that raises gives a failed result.

        So does a failure predicate or cost function that raises. Only LangGraph's interrupts pass.

        Args:
            name: The tool's name.
            argument: The text between the brackets.
            state: The `tool_state` of the acting thought; the call does not change it.
        """
        ...

    async def check(self) -> str:
        """Returns one line that says why the tools cannot work and what to do; empty if they can.

        Runs call it at their start, so that for example a missing network is reported before any
        request to the model.
        """
        ...


@runtime_checkable
class Moves(Task, Protocol):
    """Can be asked for one next step after a path, by methods that act step by step.

    The prompt shows a path as a trajectory: thought, action and observation of each step. An
    observation has a line of its own; it is shown and never parsed.
    """

    def move(
        self, problem: str, path: Path, style: str, options: Options, hints: Hints
    ) -> Question[Sequence[Move]]:
        """Returns the question for the next step; `style` is `react`, `itot` or `fgdip`.

        Each completion is read as one step; text after that step is ignored.
        """
        ...


@runtime_checkable
class Extracts(Task, Protocol):
    """Can be asked for the steps to begin with (FGDIP's extractor)."""

    def extract(self, problem: str, options: Options) -> Question[Sequence[Move]]:
        """Returns the question for the first steps, which start at the problem's key entities.

        One completion gives all steps, distinct and in order. If it names no entity, it gives one
        `malformed` step, which starts at the problem itself.
        """
        ...


@runtime_checkable
class Concludes(Task, Protocol):
    """Can be asked for an answer now, from an unfinished trajectory (FGDIP)."""

    def conclude(self, problem: str, path: Path, options: Options) -> Question[str | None]:
        """Returns the question for the answer, read in canonical form; None if there is none."""
        ...


@runtime_checkable
class Acts(Moves, Protocol):
    """Has tools, which its steps call."""

    def tools(self, problem: str, options: Options, extra: Sequence[Any]) -> Toolbox:
        """Opens the tools of a run.

        Args:
            problem: The problem in canonical form.
            options: The run's settings; `corpus`, `tool_costs` and similar ones choose the tools.
            extra: The user's own tools with their prices (`thoughtgraph.tools.costs.Priced`).

        Raises:
            InputError: The settings name tools that are not available.
        """
        ...


def scored(read: Callable[[str], float | None]) -> Callable[[Sequence[str]], Verdict]:
    """Returns a reader of estimates: it takes the mean of the scores that `read` finds in samples.

    A score that is unreadable or not finite counts as the lowest.
    """

    def mean(samples: Sequence[str]) -> Verdict:
        scores = [
            score for text in samples if (score := read(text)) is not None and isfinite(score)
        ]
        unreadable = len(samples) - len(scores)
        return Verdict(fmean([*scores, *[LOWEST] * unreadable]), malformed=unreadable)

    return mean


@runtime_checkable
class Reflects(Moves, Protocol):
    """Can ask what was wrong with a trajectory (Reflexion)."""

    def reflect(self, problem: str, path: Path, options: Options, hints: Hints) -> Question[str]:
        """Returns the question for the lesson of a failed trial, which is read as one line."""
        ...


@runtime_checkable
class Verifies(Task, Protocol):
    """Can ask whether an answer is on topic and the right one (FGDIP's answer evaluator).

    The prompt asks the model to find the answer itself first, from its knowledge (appendix E.3).
    """

    def verify(self, problem: str, answer: str, options: Options) -> Judged | Awaitable[Judged]:
        """Returns the question for the verdict, or the verdict itself.

        A value above 0 accepts the answer; the verdict's `label` gives the reason.
        """
        ...
