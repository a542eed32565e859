"""The capabilities of tasks, as small protocols.

A task covers one kind of problem: it reads the problem, renders prompts for thoughts, judges
partial solutions and reads answers. It never sees a search, nor a gold answer. A method names the
protocols it needs; `build` refuses a task that lacks one before anything is spent.

Most capabilities return a `Question`: a prompt, and the reader of its completions. A capability may
return the `Verdict` itself if no model is needed, and be `async` if it runs something.

This module has the general capabilities. Those of tasks that reason step by step are in
`thoughtgraph.reasoning`, those of tasks with tools in `thoughtgraph.acting`, those of tasks with
executable plans in `thoughtgraph.planning`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from inspect import isawaitable
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from thoughtgraph.tree import Path

Options = Mapping[str, Any]
"""The effective settings of the run, for tasks that depend on some of them."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: text only, which a task renders from problem, path and settings."""

    user: str
    """The user's message."""
    system: str | None = None
    """The system message, where the published prompt has one."""
    stop: tuple[str, ...] = ()
    """Stop sequences: texts that end the completion and are not part of it."""
    examples: tuple[tuple[str, str], ...] = ()
    """Questions and answers shown as earlier turns of the conversation."""
    grammar: str = ""
    """Grammar of the completions in llama.cpp's GBNF: the form that the question's reader expects.
    Empty: any text. A task sets it if the setting `grammar` is on."""

    def messages(self) -> list[BaseMessage]:
        """Returns the prompt as chat messages."""
        system = [] if self.system is None else [SystemMessage(self.system)]
        turns = [turn for q, a in self.examples for turn in (HumanMessage(q), AIMessage(a))]
        return [*system, *turns, HumanMessage(self.user)]


Answer = TypeVar("Answer", covariant=True)
"""The result of reading completions."""
Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Question(Generic[Answer]):
    """A prompt, and the reader of its completions."""

    prompt: Prompt
    read: Callable[[Sequence[str]], Answer]
    """Reads all completions of the prompt together; it never raises, whatever the model wrote."""
    n: int | None = None
    """Number of completions to request; None: the number in the method's settings."""


def each(read: Callable[[str], Each]) -> Callable[[Sequence[str]], list[Each]]:
    """Returns a reader that applies the reader of one completion to each of several."""
    return lambda samples: [read(text) for text in samples]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of evaluating one state."""

    value: float
    """Higher is better; the scale is the task's."""
    label: str = ""
    """The verdict in words, such as `sure, likely, likely`."""
    malformed: int = 0
    """Number of samples that could not be parsed; the usage reports them as `parse_errors`."""
    instead: Prompt | None = None
    """The prompt that this verdict replaces, if any. A run with `repo_compat` prefers an earlier
    verdict on that prompt."""


Judged = Question[Verdict] | Verdict
"""A judgement: a question, or the verdict itself if no model is needed."""


async def maybe_await(result: Awaitable[Each] | Each) -> Each:
    """Returns the result of a capability, which may be `async`."""
    return cast("Each", await result if isawaitable(result) else result)


@runtime_checkable
class Task(Protocol):
    """The minimum that every task provides."""

    @property
    def id(self) -> str:
        """The name by which users choose the task."""
        ...

    def read(self, text: str) -> str:
        """Returns the problem in canonical form.

        Raises:
            ProblemError: The text is not a problem of this task; the message shows a valid one.
        """
        ...

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns the settings published for a method on this task."""
        ...


@runtime_checkable
class Answers(Task, Protocol):
    """Can be asked for the answer directly, and can read a final answer out of a completion."""

    def ask(self, problem: str, style: str, options: Options) -> Question[Sequence[str | None]]:
        """Returns the question for the answer; `style` is `io` or `cot`.

        Each completion is read as the final answer, in canonical form; None if there is none.
        """
        ...


@runtime_checkable
class Outputs(Task, Protocol):
    """Turns a path of thoughts into an answer."""

    def output(self, problem: str, path: Path) -> str | None:
        """Returns the answer of a path, in canonical form; None if it has none."""
        ...


@runtime_checkable
class Proposes(Outputs, Protocol):
    """Can list next thoughts of a partial solution in one completion (ToT's "propose")."""

    def propose(
        self, problem: str, path: Path, options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Returns the question for next thoughts.

        All completions together are read as partial thoughts: `text`, perhaps `score` and `answer`.
        """
        ...


@runtime_checkable
class Samples(Outputs, Protocol):
    """Can be asked for one next thought at a time (ToT's "sample")."""

    def sample(
        self, problem: str, path: Path, options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Returns the question for the next thought; each completion is read as one thought."""
        ...


@runtime_checkable
class Values(Task, Protocol):
    """Can judge a partial solution on its own (ToT's "value")."""

    def value(self, problem: str, path: Path, options: Options) -> Judged | Awaitable[Judged]:
        """Returns the question for a verdict, or the verdict itself if no model is needed."""
        ...


@runtime_checkable
class Inspects(Task, Protocol):
    """Can judge a partial solution part by part; the values of the parts add up."""

    def inspect(self, problem: str, path: Path, options: Options) -> Sequence[Question[Verdict]]:
        """Returns one question per part; questions with equal prompts are sent once."""
        ...


@runtime_checkable
class Estimates(Task, Protocol):
    """Can estimate how promising a path of steps is."""

    def estimate(
        self, problem: str, path: Path, style: str, options: Options
    ) -> Judged | Awaitable[Judged]:
        """Returns the question for an estimate, or the estimate itself.

        `style` names the method, which sets the scale.

        `itot`: Informed Tree of Thought's V, from 1 to 10; see `thoughtgraph.acting.scored`.
        `fgdip`: the label sure, maybe or impossible; see `thoughtgraph.acting.labelled`.
        `level_tot`: from 0 to 1 (Thought Rollback's tree baseline).
        """
        ...


@runtime_checkable
class Votes(Task, Protocol):
    """Can compare partial solutions with each other (ToT's "vote")."""

    def vote(
        self, problem: str, paths: Sequence[Path], options: Options
    ) -> Question[Sequence[int | None]]:
        """Returns the question of which path is the most promising.

        Each completion is read as the 0-based index of a path; None if it names no valid one.
        """
        ...


@runtime_checkable
class Refines(Answers, Protocol):
    """Can ask for a better output than the ones so far (ToT's "iterative refine")."""

    def refine(self, problem: str, path: Path, options: Options) -> Question[Sequence[str | None]]:
        """Returns the question for a better output; the path holds the outputs so far.

        Each completion is read as in `ask`.
        """
        ...


@runtime_checkable
class Judges(Task, Protocol):
    """Can have a model judge whether an output needs no refinement."""

    def judge(self, problem: str, output: str, options: Options) -> Judged | Awaitable[Judged]:
        """Returns the question for a verdict, or the verdict: above 0 if the output is good."""
        ...


@runtime_checkable
class Checks(Task, Protocol):
    """Can verify an answer exactly, without a gold answer."""

    def check(self, problem: str, answer: str) -> Awaitable[bool] | bool:
        """Returns whether the answer is right."""
        ...


@runtime_checkable
class Opens(Task, Protocol):
    """Asks questions about a database, which the setting `database` names."""

    def offered(self, databases: Mapping[str, str]) -> "Opens":
        """Returns the task as a server offers it: with these databases only, chosen by name."""
        ...

    def open(self, problem: str, options: Options) -> None:
        """Opens the database of a run, in a thread, before anything is spent.

        Raises:
            InputError: The database cannot be used.
        """
        ...


@dataclass(frozen=True, slots=True)
class Extras:
    """Optional members of a task, which no method needs, with defaults for tasks without them."""

    violation: Callable[[str, Path], str] = lambda problem, path: ""
    """Returns, without a model, how the last thought of a path contradicts earlier ones, in words;
    empty if it does not."""
    demonstrations: Callable[[int], Sequence[str]] | None = None
    """Returns at most this many worked examples of the task, fewer if it has no more."""
    shots: Callable[[str, Options], int] = lambda problem, options: 0
    """Returns how many solved examples a plan's prompt may show for a problem and settings."""
    follow_up: Callable[[str, str], str] = lambda turns, question: question
    """Returns the problem for the earlier turns of a conversation and its last question; by
    default the question alone, as for a puzzle."""
    picture: Callable[[str], str] | None = None
    """Returns an SVG image of a problem."""


def extras(task: object) -> Extras:
    """Returns the optional members of a task."""
    names = [each.name for each in fields(Extras) if callable(getattr(task, each.name, None))]
    return Extras(**{name: getattr(task, name) for name in names})
