"""The state of every graph: input, search state and output.

Methods with more state subclass `SearchState` in this file, so that one page shows everything that
a checkpoint holds.
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
"""Metadata key that marks our replies in a conversation; it is not sent to providers."""
SNAPSHOT = 5_000
"""Writes after which a growing channel is stored whole (ours; equal to LangGraph's own bound on
supersteps). A depth-first search writes several times per thought: with LangGraph's default, a
whole tree every hundred writes, such copies would make up most of its checkpoints."""


def add_turns(conversation: Any, additions: Any) -> Any:
    """Adds messages to a conversation, like LangGraph's reducer, whose errors take many lines.

    Raises:
        InputError: A value is no list of messages.
    """
    try:
        return add_messages(conversation or [], additions or [])
    except (ValueError, TypeError, NotImplementedError, KeyError, AttributeError):
        raise InputError(
            "messages are a list of a conversation's messages; start a run with the input you "
            "want, or continue one without any"
        ) from None


def first_nonempty(old: Any, new: Any) -> Any:
    """Returns the first text that is not empty, as parallel nodes may all report why they stop."""
    return old or new


def last_write(old: dict[str, Any], writes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Returns the last write: a value that rarely changes is not stored again at every step."""
    return writes[-1] if writes else old


class SearchInput(TypedDict, total=False):
    """The input: a problem, or a conversation whose last human message is the problem."""

    problem: str
    """The problem in the task's own format, such as `4 9 10 13` for Game of 24; in a result, in
    canonical form."""
    messages: Annotated[list[AnyMessage], add_turns]
    """A conversation, to which the answer is appended as an AI message. `problem` counts only if no
    human message still waits for our answer. A task that takes any question reads it together with
    the conversation before it."""


class SearchOutput(SearchInput, total=False):
    """The output: everything that `thoughtgraph.results` needs to store and show a result."""

    method: str
    """Id of the method."""
    run: str
    """Random name of the run, within which evaluations are shared; no choice depends on it."""
    date: str
    """Start of the search in UTC, such as `2026-01-31T12:00:00+00:00`."""
    answer: str | None
    """The best answer found, in the task's canonical form, or None."""
    candidates: list[str | None]
    """The answers of all outputs of the method; None for an output without one. The best comes
    first if the method ranks its outputs, else they are in the order of creation."""
    ensembles: dict[str, str | None]
    """Only of `rollback`: the answer by each rule that combines the solutions (`first`, `last`,
    `majority`, `ratio`, `difference`), None if no solution has one; the setting `ensemble` names
    the rule of `answer`. So one run gives the paper's rows TR (`first`) and TR + W-Voting. If the
    search stopped early because the answer of that rule (`first`) was certain, the others are
    absent: their solutions were not generated."""
    outcome: str
    """How the search ended, with or without an answer, and by which votes, in one sentence."""
    stop_reason: Annotated[StopReason, BinaryOperatorAggregate(str, first_nonempty)]
    """Why the search ended."""
    limit: Annotated[str, first_nonempty]
    """The setting that ended the search, such as `limit_requests` or `max_answer_checks`; empty if
    no limit did."""
    verified: bool | None
    """Whether the answer passes the task's exact check or the oracle; None if neither can tell. The
    search itself could use this only if `oracle` is true."""
    votes: list[Vote]
    """The votes or scores that chose the answer, with ties and unreadable ones. A search that
    compares thoughts has one entry per depth. Empty if nothing was voted on or scored."""
    error: Annotated[str, first_nonempty]
    """What failed or was refused, in one line; empty unless `stop_reason` is `error` or
    `refused`."""
    oracle: bool
    """Whether the search had an oracle, or an exact check among its settings, to ask if an answer
    is right. Such results are kept apart from all others, even if the search never asked."""
    prices: Prices
    """Prices behind `usage["dollars"]`: US dollars per million prompt and per million completion
    tokens, by the name of each model of the run, the generating one first; None if the price is
    unknown."""
    usage: Usage
    """Usage of the search. Only the last node writes it: each write to an output key streams a
    state."""
    settings: Annotated[dict[str, Any], DeltaChannel(last_write, dict, snapshot_frequency=SNAPSHOT)]
    """The settings of the run, which the first node copies from the context."""
    tree: Tree
    """The whole search tree. Only the last node writes it: states are streamed at every superstep,
    and with two thousand thoughts in each they would add up to gigabytes."""


class SearchState(SearchOutput, total=False):
    """The state of a running search. It never holds a gold answer."""

    thoughts: Tree
    """The growing search tree, which a person can edit (`with_tree`)."""
    spent: Annotated[Usage, DeltaChannel(add_usages, dict, snapshot_frequency=SNAPSHOT)]
    """Usage of the search so far."""
    step: int
    """Number of completed search steps (the paper's t)."""


def with_tree(state: type, method: MethodEntry, *, trusted: bool) -> type:
    """Returns a method's state type with the channel of its tree, which stores only changes.

    Args:
        state: `SearchState` or a subclass.
        method: The method, whose entry lists the edits that it supports.
        trusted: Whether a person may edit fields that otherwise only nodes write.
    """
    reducer = partial(fold_writes, method=method, trusted=trusted)
    channel = DeltaChannel(reducer, dict, snapshot_frequency=SNAPSHOT)
    fields: dict[str, Any] = {**state.__annotations__, "thoughts": Annotated[Tree, channel]}
    return TypedDict(state.__name__, fields, total=False)  # type: ignore[no-any-return,operator]


def updated(state: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a state after an update: the tree is merged, all other keys are replaced."""
    after = {**state, **update}
    if "thoughts" in update:
        after["thoughts"] = merge_thoughts(state["thoughts"], [update["thoughts"]])
    return after


class InformedState(SearchState, total=False):
    """The state of a best-first search, whose open set is derived from the tree."""

    frontier: list[str]
    """Ids of the thoughts popped from the open set, to be expanded next; at the end, of the one
    that gives the answer."""


class Children(TypedDict, total=False):
    """The result of one expansion of one thought, before the new thoughts have ids."""

    parent: str
    """Id of the expanded thought."""
    thoughts: list[dict[str, Any]]
    """Partial thoughts, in the order of their creation."""
    usage: dict[str, dict[str, float]]
    """Cost of the expansion, by role."""
    short: bool
    """Whether the limit on thoughts reduced the number of requested samples."""


class PlanState(SearchState, total=False):
    """The state of a depth-first search over plans, which makes speculative calls."""

    ahead: dict[str, list[Children]]
    """Calls that are not judged yet, in the order of their indices, by the chunk they continue."""
