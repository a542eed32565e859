"""What a task can do whose steps are actions, as small capability protocols.

These are the capabilities behind ReAct, Reflexion, Informed Tree of Thought and FGDIP: steps that
may call tools, what to think of them, and what to make of a trajectory that failed or ended.
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
"""The values by which a thought keeps its label (ours)."""


LOWEST = 1.0
"""The value of a trajectory whose score cannot be read (ours)."""


def labelled(read: Label | None) -> Verdict:
    """Returns the verdict that a label is; none counts as `maybe` and as malformed."""
    label = read or "maybe"
    return Verdict(WORTH[label], label, malformed=int(read is None))


class Rejected(TypedDict):
    """An answer that was found wrong (FGDIP's error memory)."""

    answer: str
    thought: str
    """The last thought before it."""
    reason: str
    """Why it was found wrong."""


@dataclass(frozen=True, slots=True)
class Hints:
    """What a method adds to the request for a next step. Every field may be empty."""

    tools: str = ""
    """One line a tool: how it is called and what it does."""
    rejected: Sequence[Rejected] = ()
    """Answers found wrong so far (FGDIP's error analysis)."""
    siblings: Sequence[Thought] = ()
    """The steps already taken from the same thought (FGDIP's real-time feedback)."""
    reflections: Sequence[str] = ()
    """What earlier trials taught (Reflexion)."""
    thought: str = ""
    """A thought that lacks its action: only the action is asked for (ReAct)."""


@dataclass(frozen=True, slots=True)
class Move:
    """A next step as a model wrote it."""

    text: str
    """The thought, on one line; empty if the model wrote none."""
    action: str = ""
    """The action, such as `Search[Milan]`; empty if the model wrote none, or the task has none."""
    answer: str | None = None
    """The final answer, where a step gives it without a tool."""
    malformed: bool = False
    """Whether the text is no step at all; such output is counted."""
    only: bool = False
    """Whether no other step can be taken from here, so that none is asked for beside this one."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one call of a tool gave.

    Args:
        observation: What the model is told: one line of text, which is data and never parsed.
        state: The tools' state after the call, for the thought's `tool_state`: plain JSON values.
        failed: Whether the tool could not do what it was asked (iToT section 4).
        cost: What the call cost (the papers' V_T).
        answer: The final answer; only `Finish`, and what else returns directly, gives one.
        invalid: Whether no tool was called: there is none of that name, or the text between the
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
    """The tools of one run (`thoughtgraph.tools.toolbox.ToolSet` is one of LangChain tools)."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which a model calls them."""
        ...

    @property
    def max_call_cost(self) -> float:
        """The price of the dearest call, as far as it is known before the call."""
        ...

    def describe(self) -> str:
        """Returns one line a tool, for the prompt."""
        ...

    def parse(self, text: str) -> tuple[str, str] | None:
        """Reads the action, name and argument, out of a model's text; None if there is none.

        It is the first call of a tool that exists, wherever it stands; without any, the first of
        one that does not exist, whose name is kept: calling it fails. `search [x] and more` is
        `("Search", "x")`.
        """
        ...

    async def call(self, name: str, argument: str, state: Mapping[str, Any] | None) -> ToolResult:
        """Calls a tool; a tool that fails gives a failed result and never raises.

        The same holds for its failure predicate and its cost.

        Args:
            name: The tool's name.
            argument: The text between the brackets.
            state: The `tool_state` of the thought that acts, which is not changed.
        """
        ...

    async def check(self) -> str:
        """Returns one line that says why the tools cannot work and what to do; empty if they can.

        For the start of a run: a machine without a network is better told before the model is
        asked.
        """
        ...


@runtime_checkable
class Moves(Task, Protocol):
    """Can be asked for one next step after a path, by methods that act step by step.

    A path is shown as a trajectory: thought, action and observation of each step, the observation
    on a line of its own and only ever shown, never parsed.
    """

    def move(
        self, problem: str, path: Path, style: str, options: Options, hints: Hints
    ) -> Question[Sequence[Move]]:
        """Returns what to ask for the next step; `style` is `react`, `itot` or `fgdip`.

        Each completion, which may go on after the step, is read as one.
        """
        ...


@runtime_checkable
class Extracts(Task, Protocol):
    """Can be asked for the steps to begin with (FGDIP's extractor)."""

    def extract(self, problem: str, options: Options) -> Question[Sequence[Move]]:
        """Returns what to ask for the steps that the problem's key entities lead to.

        They are read out of one completion, distinct and in order. One that names none is read as
        the step that the problem itself leads to, which is `malformed`.
        """
        ...


@runtime_checkable
class Concludes(Task, Protocol):
    """Can be asked for an answer now, from an unfinished trajectory (FGDIP)."""

    def conclude(self, problem: str, path: Path, options: Options) -> Question[str | None]:
        """Returns what to ask for the answer, in canonical form; None if there is none."""
        ...


@runtime_checkable
class Acts(Moves, Protocol):
    """Has tools: its steps are calls of them."""

    def tools(self, problem: str, options: Options, extra: Sequence[Any]) -> Toolbox:
        """Opens the tools of a run.

        Args:
            problem: The problem in canonical form.
            options: The run's settings; `corpus`, `tool_costs` and the like say which tools.
            extra: The user's own tools with their prices (`thoughtgraph.tools.costs.Priced`).

        Raises:
            InputError: The settings name tools that cannot be had.
        """
        ...


def scored(read: Callable[[str], float | None]) -> Callable[[Sequence[str]], Verdict]:
    """Makes the reader of an estimate, the mean of the scores, out of the reader of one score.

    A score that cannot be read counts as the lowest.
    """

    def mean(samples: Sequence[str]) -> Verdict:
        scores = [
            score for text in samples if (score := read(text)) is not None and isfinite(score)
        ]
        lost = len(samples) - len(scores)
        return Verdict(fmean([*scores, *[LOWEST] * lost]), malformed=lost)

    return mean


@runtime_checkable
class Reflects(Moves, Protocol):
    """Can ask what was wrong with a trajectory (Reflexion)."""

    def reflect(self, problem: str, path: Path, options: Options, hints: Hints) -> Question[str]:
        """Returns what to ask for the lesson of a failed trial, which is read on one line."""
        ...


@runtime_checkable
class Verifies(Task, Protocol):
    """Can ask whether an answer is on topic and the right one (FGDIP's answer evaluator).

    The model is asked to find the possible answer itself, from what it knows (appendix E.3).
    """

    def verify(self, problem: str, answer: str, options: Options) -> Judged | Awaitable[Judged]:
        """Returns what to ask for the judgement, or the judgement.

        A value above 0 accepts the answer; the verdict's `label` is the reason.
        """
        ...
