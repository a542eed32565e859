"""What a task can do, as small capability protocols.

A task knows one kind of problem: how to read it, how to ask for thoughts, how to judge partial
solutions, what an answer is. It never sees a search, and it never sees a gold answer. A method
names the protocols it needs; `build` refuses a task that lacks one before anything is spent.

A capability says in one value what to ask and how to read what comes back: a `Question`. It may
give the `Verdict` itself where nobody need be asked, and be `async` where it runs something.

Here is what any task may be able to do. What tasks can do that reason step by step is in
`thoughtgraph.reasoning`, what tasks with tools can do in `thoughtgraph.acting`, what tasks with
executable plans can do in `thoughtgraph.planning`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from inspect import isawaitable
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from thoughtgraph.tree import Path

Options = Mapping[str, Any]
"""The effective settings of the run, for tasks whose prompts depend on one."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked: text only, rendered by a task from problem, path and settings."""

    user: str
    """The user's message."""
    system: str | None = None
    """The system message, where the published prompt has one."""
    stop: tuple[str, ...] = ()
    """Texts at which the completion ends; they are not part of it."""
    examples: tuple[tuple[str, str], ...] = ()
    """Questions and answers shown as earlier turns of the conversation."""
    grammar: str = ""
    """What a completion can be, in llama.cpp's GBNF: the form that the reader of the question
    reads. Empty: anything. A task gives one where the setting `grammar` is on."""

    def messages(self) -> list[BaseMessage]:
        """Returns the prompt as chat messages."""
        system = [] if self.system is None else [SystemMessage(self.system)]
        shown = [turn for q, a in self.examples for turn in (HumanMessage(q), AIMessage(a))]
        return [*system, *shown, HumanMessage(self.user)]


Answer = TypeVar("Answer", covariant=True)
"""What is read out of completions."""
Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Question(Generic[Answer]):
    """What a model is asked, and how what comes back is read."""

    prompt: Prompt
    read: Callable[[Sequence[str]], Answer]
    """Reads all completions of the prompt together; it never raises for what a model wrote."""
    n: int | None = None
    """How many completions are asked for; None: as many as the method's settings say."""


def each(read: Callable[[str], Each]) -> Callable[[Sequence[str]], list[Each]]:
    """Makes the reader of several completions out of the reader of one."""
    return lambda samples: [read(text) for text in samples]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What evaluating one state gave."""

    value: float
    """Higher is better; the scale is the task's."""
    label: str = ""
    """The verdict in words, such as `sure, likely, likely`."""
    malformed: int = 0
    """Samples that could not be parsed; they count for nothing and are reported."""
    instead: Prompt | None = None
    """The prompt that this verdict makes needless, if there is one. A run with `repo_compat` lets
    an earlier verdict on it go first."""


Judged = Question[Verdict] | Verdict
"""What judges: a question, or the verdict where no model is needed."""


async def maybe_await(said: Awaitable[Each] | Each) -> Each:
    """Returns what a capability says, which may be `async`."""
    return cast("Each", await said if isawaitable(said) else said)


@runtime_checkable
class Task(Protocol):
    """The least every task can do."""

    @property
    def id(self) -> str:
        """The name by which users choose the task."""
        ...

    def read(self, text: str) -> str:
        """Returns the problem in canonical form.

        Raises:
            ProblemError: The text is not a problem of this task; the message shows a good one.
        """
        ...

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns the settings published for a method on this task."""
        ...


@runtime_checkable
class Answers(Task, Protocol):
    """Can be asked outright and has a final answer that can be read out of text."""

    def ask(self, problem: str, style: str, options: Options) -> Question[Sequence[str | None]]:
        """Returns the plain question; `style` is `io` or `cot`.

        Each completion is read as the final answer, in canonical form; None if there is none.
        """
        ...


@runtime_checkable
class Outputs(Task, Protocol):
    """Turns a path of thoughts into an answer."""

    def output(self, problem: str, path: Path) -> str | None:
        """Returns the answer that a path gives, in canonical form; None if it gives none."""
        ...


@runtime_checkable
class Proposes(Outputs, Protocol):
    """Can list next thoughts of a partial solution in one completion (ToT's "propose")."""

    def propose(
        self, problem: str, path: Path, options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Returns what to ask for next thoughts.

        All completions together are read as partial thoughts (`text`, perhaps `score`, `answer`).
        """
        ...


@runtime_checkable
class Samples(Outputs, Protocol):
    """Can be asked for one next thought at a time (ToT's "sample")."""

    def sample(
        self, problem: str, path: Path, options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Returns what to ask for the next thought; each completion is read as one."""
        ...


@runtime_checkable
class Values(Task, Protocol):
    """Can judge a partial solution on its own (ToT's "value")."""

    def value(self, problem: str, path: Path, options: Options) -> Judged | Awaitable[Judged]:
        """Returns what to ask for a verdict, or the verdict where no model is needed."""
        ...


@runtime_checkable
class Inspects(Task, Protocol):
    """Can judge a partial solution part by part; its value is the sum over the parts."""

    def inspect(self, problem: str, path: Path, options: Options) -> Sequence[Question[Verdict]]:
        """Returns one question a part; those with equal prompts are asked once."""
        ...


@runtime_checkable
class Estimates(Task, Protocol):
    """Can estimate how promising a path of steps is."""

    def estimate(
        self, problem: str, path: Path, style: str, options: Options
    ) -> Judged | Awaitable[Judged]:
        """Returns what to ask for the estimate, or the estimate.

        `style` says whose it is, and on which scale.

        `itot`: Informed Tree of Thought's V, from 1 to 10; see `thoughtgraph.acting.scored`.
        `fgdip`: its step evaluator's sure, maybe or impossible; see `thoughtgraph.acting.labelled`.
        `level_tot`: from 0 to 1 (Thought Rollback's tree baseline).
        """
        ...


@runtime_checkable
class Votes(Task, Protocol):
    """Can compare partial solutions with each other (ToT's "vote")."""

    def vote(
        self, problem: str, paths: Sequence[Path], options: Options
    ) -> Question[Sequence[int | None]]:
        """Returns what to ask which of the paths is the most promising.

        Each completion is read as the 0-based number of a path; None if it holds no valid one.
        """
        ...


@runtime_checkable
class Refines(Answers, Protocol):
    """Can ask for a better output than the ones so far (ToT's "iterative refine")."""

    def refine(self, problem: str, path: Path, options: Options) -> Question[Sequence[str | None]]:
        """Returns what to ask for a better output; a path holds the outputs so far.

        Each completion is read as in `ask`.
        """
        ...


@runtime_checkable
class Judges(Task, Protocol):
    """Can ask the model whether an output needs no refinement."""

    def judge(self, problem: str, output: str, options: Options) -> Judged | Awaitable[Judged]:
        """Returns what to ask for the verdict; a value above 0 says that the output is good."""
        ...


@runtime_checkable
class Checks(Task, Protocol):
    """Can verify an answer exactly, without a gold answer."""

    def check(self, problem: str, answer: str) -> Awaitable[bool] | bool:
        """Returns whether the answer is right."""
        ...


@runtime_checkable
class Opens(Task, Protocol):
    """Asks about something that the setting `database` names, which is opened first."""

    def offered(self, databases: Mapping[str, str]) -> "Opens":
        """Returns the task as a server offers it: with these databases, by their names alone."""
        ...

    def open(self, problem: str, options: Options) -> None:
        """Opens what a run asks about, in a thread, before anything is spent.

        Raises:
            InputError: It cannot be used.
        """
        ...


@dataclass(frozen=True, slots=True)
class Extras:
    """What a task may have besides: no method needs it, and each holds for tasks without it."""

    violation: Callable[[str, Path], str] = lambda problem, path: ""
    """From problem and path to what its last thought breaks of what earlier ones fixed, in words
    and without a model; empty if nothing."""
    demonstrations: Callable[[int], Sequence[str]] | None = None
    """Returns at most so many worked examples of the task's own, fewer where it has no more."""
    shots: Callable[[str, Options], int] = lambda problem, options: 0
    """From problem and settings to how many solved examples a plan's prompt may show."""
    follow_up: Callable[[str, str], str] = lambda turns, question: question
    """From the turns of a conversation before a question, and the question, to the problem; a
    puzzle is the question alone."""
    picture: Callable[[str], str] | None = None
    """From a problem to an SVG image of what it is about."""


def extras(task: object) -> Extras:
    """Returns what a task has besides its capabilities."""
    names = [each.name for each in fields(Extras) if callable(getattr(task, each.name, None))]
    return Extras(**{name: getattr(task, name) for name in names})
