"""The state that travels through every graph: input, search state, output.

Methods with more state subclass `SearchState` here, so that one page shows everything a checkpoint
holds.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import BinaryOperatorAggregate, DeltaChannel
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from thoughtgraph.entries import MethodEntry
from thoughtgraph.errors import InputError
from thoughtgraph.llm.prices import Prices
from thoughtgraph.outcome import StopReason, Vote
from thoughtgraph.reducer import fold_writes
from thoughtgraph.tree import Tree, merge_thoughts
from thoughtgraph.usage import Usage, add_usages

REPLY = "thoughtgraph_run"
"""Metadata by which an answer in a conversation is known as ours; providers are not sent it."""
SNAPSHOT = 5_000
"""Writes after which a growing channel is stored whole (ours; LangGraph's own bound in supersteps):
a depth-first search writes several times a thought, and a whole tree every hundred writes, which is
LangGraph's default, would be most of its checkpoints."""


def add_turns(said: Any, more: Any) -> Any:
    """Adds messages to a conversation; LangGraph's reducer, whose errors are many lines.

    Raises:
        InputError: They are no messages.
    """
    try:
        return add_messages(said or [], more or [])
    except (ValueError, TypeError, NotImplementedError, KeyError, AttributeError):
        raise InputError(
            "messages are a list of a conversation's messages; start a run with the input you "
            "want, or continue one without any"
        ) from None


def first_nonempty(old: Any, new: Any) -> Any:
    """Keeps the first text that is not empty: nodes side by side may all report why they stop."""
    return old or new


def last_write(old: dict[str, Any], writes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Keeps the last write: what hardly changes is not stored again at every step."""
    return writes[-1] if writes else old


class SearchInput(TypedDict, total=False):
    """What a caller gives: a problem, or a conversation whose last human message is the problem."""

    problem: str
    """The problem in the task's own format, such as `4 9 10 13` for Game of 24; in a result, in
    canonical form."""
    messages: Annotated[list[AnyMessage], add_turns]
    """A conversation. When given, the answer is appended to it as an AI message. A `problem` counts
    only where there is no human message that still waits for our answer. A task that takes any
    question is asked it below what was said before."""


class SearchOutput(SearchInput, total=False):
    """What a caller gets back: all that `thoughtgraph.results` needs to keep and show it."""

    method: str
    """Id of the method."""
    run: str
    """Random name of the run: evaluations are shared within it; no choice depends on it."""
    date: str
    """When it began, in UTC, such as `2026-01-31T12:00:00+00:00`."""
    answer: str | None
    """The best answer found, in the task's canonical form, or None."""
    candidates: list[str | None]
    """The answers of all outputs the method ended with; None for one without. A method that ranks
    its outputs gives the best first, the others give them in the order of creation."""
    ensembles: dict[str, str | None]
    """Of `rollback` alone: the answer of each way to make one answer of the solutions (`first`,
    `last`, `majority`, `ratio`, `difference`), None where no solution has one; `answer` is that of
    the setting `ensemble`. One run thus gives the paper's rows TR (`first`) and TR + W-Voting.
    Where the search stopped because that setting's answer was sure (`first`), the others are
    absent: their solutions were not grown."""
    outcome: str
    """How the search ended, with or without an answer, and by which votes: one sentence."""
    stop_reason: Annotated[StopReason, BinaryOperatorAggregate(str, first_nonempty)]
    """Why the search ended."""
    limit: Annotated[str, first_nonempty]
    """The setting that ended it, such as `limit_requests` or `max_answer_checks`; empty where no
    limit did."""
    verified: bool | None
    """Whether the answer passes the task's exact check, or the oracle; None where neither can tell.
    The search itself was told only where `oracle` says so."""
    votes: list[Vote]
    """What the answer was chosen by, with ties and what could not be read; of a search over several
    depths that compares thoughts, one entry a depth. Empty where nothing was voted or scored."""
    error: Annotated[str, first_nonempty]
    """One line that says what failed or was refused; empty unless `stop_reason` is `error` or
    `refused`."""
    oracle: bool
    """Whether the graph could ask if an answer is right, by an oracle or an exact check among its
    settings; such results stand apart from all others, even where the search ended before it
    asked."""
    prices: Prices
    """By which prices `usage["dollars"]` was counted: US dollars a million prompt and a million
    completion tokens, by the name of each model of the run, the generating one first; None where
    the price is unknown."""
    usage: Usage
    """What the search spent, written once, by the last node: what writes to the output streams a
    state."""
    settings: Annotated[dict[str, Any], DeltaChannel(last_write, dict, snapshot_frequency=SNAPSHOT)]
    """The settings it ran with, copied from the context by the first node."""
    tree: Tree
    """The whole search tree, written once, by the last node: states are streamed at every
    superstep, and with the tree in each of them two thousand thoughts would come to gigabytes."""


class SearchState(SearchOutput, total=False):
    """Everything a running search knows. Gold answers are never in it."""

    thoughts: Tree
    """The search tree while it grows, and where a person edits it (`with_tree`)."""
    spent: Annotated[Usage, DeltaChannel(add_usages, dict, snapshot_frequency=SNAPSHOT)]
    """What the search has spent so far."""
    step: int
    """Search steps completed (the paper's t)."""


def with_tree(state: type, method: MethodEntry, *, trusted: bool) -> type:
    """Returns a method's state with the channel in which its tree grows, stored by what changes.

    Args:
        state: `SearchState` or a subclass.
        method: The method, which says what edits it can use.
        trusted: Whether a person may change fields that only nodes write otherwise.
    """
    reducer = partial(fold_writes, method=method, trusted=trusted)
    channel = DeltaChannel(reducer, dict, snapshot_frequency=SNAPSHOT)
    fields: dict[str, Any] = {**state.__annotations__, "thoughts": Annotated[Tree, channel]}
    return TypedDict(state.__name__, fields, total=False)  # type: ignore[no-any-return,operator]


def updated(state: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a state after an update, of whose keys the tree alone adds up."""
    after = {**state, **update}
    if "thoughts" in update:
        after["thoughts"] = merge_thoughts(state["thoughts"], [update["thoughts"]])
    return after


class InformedState(SearchState, total=False):
    """The state of a best-first search, whose open set is read off the tree."""

    frontier: list[str]
    """Ids of the thoughts taken out of the open set, to be expanded next; in the end of the one
    that is returned."""


class Children(TypedDict, total=False):
    """What one expansion of one thought produced, before its thoughts have ids."""

    parent: str
    """Id of the expanded thought."""
    thoughts: list[dict[str, Any]]
    """Partial thoughts in the order of their creation."""
    usage: dict[str, dict[str, float]]
    """What the expansion cost, by role."""
    short: bool
    """Whether fewer samples were asked for than wanted, because of the limit on thoughts."""


class PlanState(SearchState, total=False):
    """The state of a depth-first search over plans, whose calls are made ahead of need."""

    ahead: dict[str, list[Children]]
    """Calls that are not judged yet, in the order of their indices, by the chunk they continue."""
