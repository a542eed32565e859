"""What a server's client is told of a search that cannot begin: a result, as of every other run.

Servers show of an exception what they please: aegra "execution failed", `langgraph dev` a failed
run. So a refusal is written to the thread by a graph of one node that stands in for the method's.
It has the method's state, so that thread, streams and checkpoints are those of the method.
"""

import logging
import secrets
from collections.abc import AsyncIterator, Hashable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from thoughtgraph.errors import InputError, ProblemError
from thoughtgraph.llm.run_log import LABEL, tell
from thoughtgraph.outcome import REFUSED, sentence
from thoughtgraph.policy import LONGEST
from thoughtgraph.state import REPLY, SearchInput, SearchOutput, SearchState, nothing_found
from thoughtgraph.tree import root
from thoughtgraph.usage import nothing_spent, report

NODE = "start"
"""The node that refuses, by the name of the one that finds most of what is wrong."""
PAUSES = ("interrupt_before", "interrupt_after")
_REMEDY = "start a run with the input you want, or continue one without any"


class Refusal(TypedDict):
    """What is said of a search."""

    method: str
    line: str
    """Why it was refused."""


def refuse(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    why: Exception,
    given: object,
    config: RunnableConfig | None,
    options: Mapping[str, Any],
) -> AsyncIterator[Any]:
    """Streams a search that is refused, in the modes in which the search itself was asked for.

    Args:
        graph: The method's graph.
        why: What the search was refused for, in one line.
        given: Its input.
        config: How it was called.
        options: With which further arguments.
    """
    kept = {name: getattr(graph, name) for name in ("name", "checkpointer", "store", "config")}
    own: dict[str, Any] = {name: each for name, each in options.items() if name not in PAUSES}
    own["context"] = Refusal(method=graph.name, line=str(why))
    standing_in = _graph(cast("Hashable", graph.builder.state_schema)).copy(update=kept)
    return standing_in.astream(_readable(given), config, **own)


async def replying(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    stream: AsyncIterator[Any],
    given: object,
    config: RunnableConfig | None,
    options: Mapping[str, Any],
) -> AsyncIterator[Any]:
    """Streams a search; where its task cannot read what was said, the reply says what it reads.

    Whoever said it, a person or an agent's model, can say it otherwise. What is no conversation
    has no reply.

    Args:
        graph: The method's graph.
        stream: What LangGraph streams.
        given: Its input, from `with_ids`.
        config: How the graph was called.
        options: With which further arguments.
    """
    try:
        async for part in stream:
            yield part
        return
    except ProblemError as error:
        messages = given.get("messages") if isinstance(given, Mapping) else None
        if all(each.type != "human" for each in messages or ()):
            raise
        why = error
    async for part in refuse(graph, why, given, config, options):
        yield part


def with_ids(given: Any) -> Any:
    """Returns an input with its messages read, each with an id, so that they count once.

    Raises:
        InputError: LangChain cannot read them.
    """
    if not isinstance(given, Mapping) or not given.get("messages"):
        return given
    return {**given, "messages": admitted_messages(given["messages"])}


def admit_problem(values: Mapping[str, Any]) -> None:
    """Refuses a problem that no run would take: nodes that come later do not read it again.

    Raises:
        InputError: It is no text, or longer than clients may send one.
    """
    given = values.get("problem", "")
    if not isinstance(given, str) or len(given) > LONGEST:
        raise InputError(f"a problem is a text of at most {LONGEST} characters; {_REMEDY}")


def admitted_messages(given: Any) -> list[BaseMessage]:
    """Returns a conversation's messages, each with an id: given twice, they count once.

    Raises:
        InputError: LangChain cannot read them.
    """
    try:
        read = convert_to_messages(
            given if isinstance(given, list) else [] if given is None else [given]
        )
    except (ValueError, TypeError, NotImplementedError, KeyError, AttributeError):
        raise InputError(f"messages are a list of a conversation's messages; {_REMEDY}") from None
    return [each if each.id else each.model_copy(update={"id": str(uuid4())}) for each in read]


def _readable(given: object) -> SearchInput:
    """Returns of an input what a thread can keep."""
    kept: SearchInput = {"problem": ""}
    if not isinstance(given, Mapping):
        return kept
    try:
        admit_problem(given)
        kept["problem"] = given.get("problem") or ""
        kept["messages"] = cast("Any", admitted_messages(given.get("messages")))
    except InputError:
        pass  # it is what is refused
    return kept


@cache
def _graph(state: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(
        state, input_schema=SearchInput, output_schema=SearchOutput, context_schema=Refusal
    )
    graph.add_node(NODE, _refused)
    graph.add_edge(START, NODE)
    graph.add_edge(NODE, END)
    return graph.compile()


async def _refused(state: SearchState, runtime: Runtime[Refusal]) -> dict[str, Any]:
    run, line = secrets.token_hex(8), runtime.context["line"]
    labels = {f"{LABEL}method": runtime.context["method"], f"{LABEL}run": run}
    # Not why: the line quotes what the client sent.
    tell(logging.INFO, labels, "is refused")
    ended = {
        "answer": None,
        "stop_reason": REFUSED,
        "outcome": sentence({"stop_reason": REFUSED}),
    }
    get_stream_writer()({"event": "ended", **ended, "node": NODE})
    out: dict[str, Any] = {
        **nothing_found(root()),
        "method": runtime.context["method"],
        "problem": state.get("problem") or "",
        "settings": {},
        "run": run,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "prices": {},
        "usage": Overwrite(report(nothing_spent(), priced=True)),
        **ended,
        "stop_reason": Overwrite(REFUSED),
        "error": Overwrite(line),
        "oracle": False,
    }
    if state.get("ensembles"):
        out["ensembles"] = {}
    if state.get("messages"):
        out["messages"] = [AIMessage(line, response_metadata={REPLY: run})]
    return out
