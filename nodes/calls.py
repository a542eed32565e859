"""What a node asks and calls, what it is answered, and what it shares with the nodes beside it."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, NotRequired, TypeVar

from typing_extensions import TypedDict

from thoughtgraph.llm.meter import Meter
from thoughtgraph.run import Run
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
SETTLING = 0.01
"""Seconds between looks at whether the nodes beside one that failed have ended (ours)."""


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
    def sent(self) -> int:
        """How many completions are asked for."""
        wanted = self.question.n or self.n
        return wanted if self.most is None else min(wanted, self.most)

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
    required: bool = True
    """Whether the search ends where it fails for good."""


@dataclass
class Ledger:
    """What the nodes of one superstep share while they run: a limit holds for all of them."""

    spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """What they have spent in it, by the counters that limits speak of."""
    error: str = ""
    """Why a request that was needed failed for good, in one line."""
    counts: list[dict[str, Any]] = field(default_factory=list)
    """What each of them has counted, once its requests are answered."""
    users: int = 0
    asking: int = 0
    """Nodes whose requests are on their way."""
    gate: asyncio.Semaphore | None = None
    """Bounds their requests where these are no tasks."""

    async def settled(self) -> None:
        """Waits until nothing of the superstep is on its way.

        LangGraph cancels the nodes beside one that raises, and what they have paid for goes along.
        """
        while self.asking:
            await asyncio.sleep(SETTLING)


@contextmanager
def shared(run: Run, superstep: str) -> Iterator[Ledger]:
    """Yields the ledger of a superstep, which lives for as long as a node uses it.

    Args:
        run: The objects of the graph.
        superstep: Id of the checkpoint that it goes out from: its nodes have the same.
    """
    ledger: Ledger = run.ledgers.setdefault(superstep, Ledger())
    ledger.users += 1
    ledger.asking += 1
    try:
        yield ledger
    finally:
        ledger.users -= 1
        if not ledger.users:  # after a failure the same superstep begins again
            del run.ledgers[superstep]


def join_samples(samples: Sequence[str]) -> str:
    """Returns several completions as one text for a reader."""
    return SAMPLE_BREAK.join(samples)


def as_text(prompt: Prompt) -> str:
    """Returns the messages of a prompt as one text."""
    messages = prompt.messages()
    if len(messages) == 1:
        return prompt.user
    return "\n\n".join(f"{SPEAKERS[each.type]}:\n{each.text}" for each in messages)


def labels(run: Run, state: Mapping[str, Any], about: str = "") -> dict[str, Any]:
    """Returns what traces say of a call: whose it is, and about which thought.

    Args:
        state: The state; its settings and the run's name are enough.
        about: Id of the thought; empty: none.
    """
    facts = {
        "method": run.method.entry.id,
        "task": state["settings"].get("task"),
        "run": state.get("run"),
        "thoughts": [about] if about else [],
        "depth": state["thoughts"][about]["depth"] if about else None,
    }
    return {f"thoughtgraph_{name}": each for name, each in facts.items() if each is not None}


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
