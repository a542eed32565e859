"""How a search ends: what its last node does beside reading the answer."""

import logging
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import END
from langgraph.types import Overwrite

from thoughtgraph.llm.meter import tell
from thoughtgraph.nodes.method_graph import Graph
from thoughtgraph.nodes.node import Node, guarded
from thoughtgraph.nodes.review import reviewed_answer
from thoughtgraph.nodes.tracing import labels
from thoughtgraph.outcome import REFUSED, sentence
from thoughtgraph.run import Run
from thoughtgraph.state import REPLY
from thoughtgraph.tree import merge_thoughts
from thoughtgraph.usage import nothing_spent, report


def add_answer(graph: Graph, run: Run, node: Node, name: str = "answer") -> None:
    """Adds the last node of a method: it logs how the search ended, and lets a person look at it.

    Args:
        graph: The graph.
        run: Its objects; from now on they know how the method concludes.
        node: Reads the answer off the state.
        name: What the node is called.
    """

    async def conclude(state: Any) -> dict[str, Any]:
        out = await node(state)
        _log(run, state, out)
        return out

    async def last(state: Any) -> dict[str, Any]:
        if state["stop_reason"] == REFUSED:
            return _refused(state)
        out = reviewed_answer(run, state, await conclude(state))
        return {**out, "tree": merge_thoughts(state["thoughts"], [out["thoughts"]])}

    run.conclude = conclude
    graph.add_node(name, guarded(run, last, last=True), input_schema=graph.state_schema)
    graph.add_edge(name, END)


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
