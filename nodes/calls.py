"""Requests and tool calls of a node, their results, and the ledger that sibling nodes share."""

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
"""Names of the LangGraph tasks that send requests and call tools, as its streams show them."""
SPEAKERS = {"system": "System", "human": "User", "ai": "Assistant"}
LONG = 100_000
"""Most characters of completions to parse in the event loop: a few milliseconds of work (ours)."""
SETTLING = 0.01
"""Seconds between checks whether the siblings of a failed node have finished (ours)."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """One request: the question, the thought that it is about, its role and number of samples."""

    question: Question[T]
    about: str
    """Id of the thought to expand or judge; of the first, if the question compares several."""
    role: str = "generate"
    n: int = 1
    """Completions to request, unless the question sets the number."""
    most: int | None = None
    """Most completions to request, where a limit leaves room for no more; None: no bound."""
    expansion: int | None = None
    """How often the thought was expanded before; None: a judgement, shared by equal questions."""
    part: str = ""
    """Tells apart several questions of one role about the thought."""
    judges: bool = False
    """Whether the request is a judgement, which goes to `evaluator_model` if that is set."""
    ahead: bool = False
    """Whether the request is speculative: a failure ends nothing, and it is sent again when due."""
    enough: Callable[[T], bool] | None = None
    """Returns whether a reading can be used. If not, a generation is requested once more, as the
    next draw, and the second answer is taken as it is. None: the first one always is."""

    @property
    def sent(self) -> int:
        """Number of completions to request."""
        wanted = self.question.n or self.n
        return wanted if self.most is None else min(wanted, self.most)

    @property
    def name(self) -> str:
        """Name that distinguishes the request from all others of its superstep."""
        return f"{self.role} {self.about} {self.part} {self.expansion} {self.sent}"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The answer to a request."""

    ask: Ask[T]
    texts: Sequence[str]
    reading: T
    """What the question's reader parsed from the texts."""
    usage: dict[str, dict[str, float]]
    """What the request cost, by role."""


class Kept(TypedDict):
    """The result of a call, as a checkpoint stores it."""

    name: str
    """Name of the call: LangGraph identifies a task only by its position in the node."""
    usage: Usage
    error: str
    texts: NotRequired[list[str]]
    """The completions of a request."""
    fields: NotRequired[Thought]
    """New fields of the thought, if the call was one of a tool."""


class Call(NamedTuple):
    """A model request or a tool call, still to be made."""

    kind: str
    """`MODEL` or `TOOLS`."""
    name: str
    """Name that distinguishes the call from all others of its superstep."""
    told: dict[str, Any]
    """Payload of the events `asked` and `answered`."""
    make: Callable[[Meter], Awaitable[Mapping[str, Any]]]
    """Makes the call and returns the part of its result to store."""
    required: bool = True
    """Whether the search ends if the call fails for good."""


@dataclass
class Ledger:
    """State that the nodes of one superstep share as they run, so that limits bound their sum."""

    spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """What the nodes have spent in this superstep, by the counters that limits check."""
    error: str = ""
    """Why a required request failed for good, in one line; empty while none has."""
    counts: list[dict[str, Any]] = field(default_factory=list)
    """Counters of each node whose requests are answered."""
    users: int = 0
    asking: int = 0
    """Number of nodes with requests in flight."""
    gate: asyncio.Semaphore | None = None
    """Bounds concurrent requests that are not LangGraph tasks."""

    async def settled(self) -> None:
        """Waits until no node of the superstep has requests in flight.

        LangGraph cancels the siblings of a node that raises, and answers they paid for are lost.
        """
        while self.asking:
            await asyncio.sleep(SETTLING)


@contextmanager
def shared(run: Run, superstep: str) -> Iterator[Ledger]:
    """Yields the ledger of a superstep, which exists as long as some node uses it.

    Args:
        run: The objects of the graph.
        superstep: Id of the checkpoint that the superstep starts from, the same for all its nodes.
    """
    ledger: Ledger = run.ledgers.setdefault(superstep, Ledger())
    ledger.users += 1
    ledger.asking += 1
    try:
        yield ledger
    finally:
        ledger.users -= 1
        if not ledger.users:  # a resumed run repeats the superstep under the same id
            del run.ledgers[superstep]


def join_samples(samples: Sequence[str]) -> str:
    """Joins several completions into one text for a reader."""
    return SAMPLE_BREAK.join(samples)


def as_text(prompt: Prompt) -> str:
    """Returns the messages of a prompt as one text."""
    messages = prompt.messages()
    if len(messages) == 1:
        return prompt.user
    return "\n\n".join(f"{SPEAKERS[message.type]}:\n{message.text}" for message in messages)


def labels(run: Run, state: Mapping[str, Any], about: str = "") -> dict[str, Any]:
    """Returns the trace metadata of a call: method, task, run, and the thought that it is about.

    Args:
        state: The state, or only its settings and the name of the run, if `about` is empty.
        about: Id of the thought; empty: none.
    """
    facts = {
        "method": run.method.entry.id,
        "task": state["settings"].get("task"),
        "run": state.get("run"),
        "thoughts": [about] if about else [],
        "depth": state["thoughts"][about]["depth"] if about else None,
    }
    return {f"thoughtgraph_{name}": value for name, value in facts.items() if value is not None}


def span(marks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Merges the time marks of requests of one superstep: first `begin` to last `until`."""
    if not marks:
        return {}
    begin, until = min(m["begin"] for m in marks), max(m["until"] for m in marks)
    return {**marks[0], "begin": begin, "until": until}


async def reading_of(question: Question[T], texts: Sequence[str]) -> T:
    """Parses completions, long ones in a thread: a server's event loop must not wait for them."""
    if sum(map(len, texts)) > LONG:
        return await asyncio.to_thread(question.read, texts)
    return question.read(texts)
