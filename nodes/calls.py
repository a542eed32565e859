"""What a node asks and calls, and what it is answered."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, NotRequired, TypeVar, cast

from typing_extensions import TypedDict

from thoughtgraph.llm.meter import Meter
from thoughtgraph.task import Prompt, Question
from thoughtgraph.tree import Thought
from thoughtgraph.usage import Usage

T = TypeVar("T")

SAMPLE_BREAK = "\n-----\n"
MODEL, TOOLS = "model", "tools"
"""Names of the tasks that are requests and calls of tools, in LangGraph's streams."""
SPEAKERS = {"system": "System", "human": "User", "ai": "Assistant"}
LONG = 100_000
"""Letters of completions that are read in a millisecond or few, so that nobody need wait (ours)."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """One question: about which thought, what for, and how often."""

    question: Question[T]
    about: str
    """Id of the thought that is expanded or judged; of several, of the first."""
    role: str = "generate"
    n: int = 1
    """How many completions are wanted, where the question does not say it."""
    most: int | None = None
    """How many are asked for at most, where a limit leaves room for no more."""
    expansion: int | None = None
    """How often the thought was expanded before; None: a judgement, which equal questions share."""
    part: str = ""
    """Which of several questions about the thought it is."""
    judges: bool = False
    """Whether it judges, which `evaluator_model` does where one is named."""
    ahead: bool = False
    """Whether it is asked ahead of need: a failure ends nothing, and it is asked again in time."""
    enough: Callable[[T], bool] | None = None
    """Whether something can be made of the reading: else a generation is asked for once more, as
    the draw after it, and what then comes is taken. None: whatever comes is taken."""

    @property
    def wanted(self) -> int:
        """How many completions the question is worth."""
        return self.question.n or self.n

    @property
    def sent(self) -> int:
        """How many completions are asked for."""
        return self.wanted if self.most is None else min(self.wanted, self.most)

    @property
    def name(self) -> str:
        """What tells it from all others of its superstep."""
        return f"{self.role} {self.about} {self.part} {self.expansion} {self.sent}"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a question was answered."""

    ask: Ask[T]
    texts: Sequence[str]
    reading: T
    """What the question reads in them."""
    usage: dict[str, dict[str, float]]
    """What it cost, by role."""


class Kept(TypedDict):
    """The result of a call, as a checkpoint keeps it."""

    name: str
    """What was called: LangGraph knows a task by its number in the node alone."""
    usage: Usage
    error: str
    texts: NotRequired[list[str]]
    """The completions of a request."""
    fields: NotRequired[Thought]
    """What the call of a tool does to its thought."""


class Call(NamedTuple):
    """A request, or the call of a tool."""

    kind: str
    """`MODEL` or `TOOLS`."""
    name: str
    """What tells it from all others of its superstep."""
    told: dict[str, Any]
    """What the events `asked` and `answered` say of it."""
    make: Callable[[Meter], Awaitable[Mapping[str, Any]]]
    """Makes the call and returns what is kept of it."""
    needed: bool = True
    """Whether the search ends where it fails for good."""


Keep = Callable[[str, Callable[[], Awaitable[Kept]]], Awaitable[Kept]]
"""Makes a call of a kind, as a task or not."""


def join_samples(samples: Sequence[str]) -> str:
    """Returns several completions as one text for a reader."""
    return SAMPLE_BREAK.join(samples)


def as_text(prompt: Prompt) -> str:
    """Returns the messages of a prompt as one text."""
    messages = prompt.messages()
    if len(messages) == 1:
        return prompt.user
    return "\n\n".join(f"{SPEAKERS[each.type]}:\n{each.text}" for each in messages)


def by_role(usage: Usage) -> dict[str, dict[str, float]]:
    """Returns what was spent by role, in the form in which a thought keeps it."""
    return cast("dict[str, dict[str, float]]", dict(usage.get("roles", {})))


def span(marks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Returns the time from the first begin to the last end of requests of one superstep."""
    if not marks:
        return {}
    begin, until = min(m["begin"] for m in marks), max(m["until"] for m in marks)
    return {**marks[0], "begin": begin, "until": until}


async def reading_of(question: Question[T], texts: Sequence[str]) -> T:
    """Reads in a thread what takes long: a server's event loop must not wait for it."""
    if sum(map(len, texts)) > LONG:
        return await asyncio.to_thread(question.read, texts)
    return question.read(texts)
