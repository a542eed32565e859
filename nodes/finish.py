"""How a search ends: what its last node does beside reading the answer."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, get_args, get_type_hints

from langchain_core.messages import AIMessage
from langgraph.graph import END
from langgraph.types import Overwrite

from thoughtgraph.llm.meter import tell
from thoughtgraph.nodes.method_graph import Graph
from thoughtgraph.nodes.node import Node, guarded
from thoughtgraph.nodes.review import Candidates, answered, review
from thoughtgraph.nodes.tracing import labels
from thoughtgraph.outcome import REFUSED, sentence
from thoughtgraph.run import Run
from thoughtgraph.state import REPLY, SearchState
from thoughtgraph.tree import merge_thoughts
from thoughtgraph.usage import nothing_spent, report


def add_answer(
    graph: Graph,
    run: Run,
    node: Node,
    name: str = "answer",
    *,
    candidates: Candidates | None = None,
    onward: Callable[[Any], Awaitable[str]] | None = None,
) -> None:
    """Adds the last node of a method, which logs how the search ended, and `review` after it.

    Under `review="answer"` a person looks at the answer in `review`; where the method chooses among
    thoughts, its routers lead there before `select`, under `review="select"`.

    Args:
        graph: The graph.
        run: Its objects; from now on they know how the method concludes.
        node: Reads the answer off the state.
        name: What the node is called.
        candidates: The thoughts that a person chooses among; None: the method chooses nothing.
        onward: The router from a choice on, with a `Literal` of its targets; None: to `select`.
    """

    async def conclude(state: Any) -> dict[str, Any]:
        out = await node(state)
        _log(run, state, out)
        return out

    async def last(state: Any) -> dict[str, Any]:
        if state["stop_reason"] == REFUSED:
            return _refused(state)
        out = await conclude(state)
        return {**out, "tree": merge_thoughts(state["thoughts"], [out["thoughts"]])}

    run.conclude = conclude
    graph.add_node(name, guarded(run, last, last=True), input_schema=graph.state_schema)
    graph.add_conditional_edges(name, answered)
    reviewing = guarded(run, review(run, candidates), last=True)
    graph.add_node(reviewing, input_schema=graph.state_schema)

    async def reviewed(state: Any) -> str:
        """Routes from a review to the choice that it was about, or to the end."""
        return END if state["outcome"] else await to_choice(state)

    to_choice = onward or select
    targets = get_args(get_type_hints(to_choice)["return"])
    if candidates is None:
        graph.add_edge("review", END)
    else:
        graph.add_conditional_edges("review", reviewed, [*targets, END])


async def select(state: SearchState) -> Literal["select"]:
    """Routes to the choice that was reviewed."""
    return "select"


def _refused(state: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the end of a search that did not begin."""
    ended = {"answer": None, "stop_reason": REFUSED, "outcome": sentence({"stop_reason": REFUSED})}
    out = {
        **ended,
        "tree": state["thoughts"],
        "usage": Overwrite(report(nothing_spent(), priced=True)),
    }
    if state.get("ensembles"):
        out["ensembles"] = {}
    if state.get("messages"):
        out["messages"] = [AIMessage(state["error"], response_metadata={REPLY: state["run"]})]
    return out


def _log(run: Run, state: Mapping[str, Any], out: Mapping[str, Any]) -> None:
    """Logs which limit a search reached and how it ended."""
    whose = labels(run, state)
    if limit := out["limit"]:
        tell(logging.INFO, whose, "reached %s=%s", limit, state["settings"].get(limit))
    usage = out["usage"].value
    tell(
        logging.INFO,
        whose,
        "ended: %s, %s an answer, %.1f s, requests=%d prompt_tokens=%d completion_tokens=%d",
        out["stop_reason"],
        "without" if out["answer"] is None else "with",
        *(usage[name] for name in ("seconds", "requests", "prompt_tokens")),
        usage["completion_tokens"],
    )
