"""ReAct: Yao et al. 2023 (arXiv 2210.03629), as its code for HotpotQA runs it.

    for i = 1, ..., 7 do
        thought i, action i <- the model, shown all steps so far        generate
        no action came: ask for the action alone                        act
        observation i <- the action's tool                              call_tool
        if the action was Finish then return its argument               call_tool -> answer

There is no backtracking; the model must correct itself in later steps.
"""

from functools import partial
from typing import Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.actions import awaits_tool
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.families.think_act import (
    act,
    call_tool,
    generate,
    last_thoughts,
    latest,
)
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.start import admitted
from thoughtgraph.run import Run
from thoughtgraph.settings.acting import ReactSettings
from thoughtgraph.state import SearchState


async def carry_out(state: SearchState) -> Literal["act", "call_tool", "generate", "answer"]:
    """Routes to the tool call, to the request for a missing action, or past an unreadable one."""
    thought = state["thoughts"][latest(state)]
    if state["stop_reason"]:
        return "answer"
    if "action" not in thought:
        return "act"
    return "call_tool" if awaits_tool(thought) else "generate"


async def go_on(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next step unless the trajectory has its answer or the search was stopped."""
    done = state["thoughts"][latest(state)]["status"] != "open"
    return "answer" if done or state["stop_reason"] else "generate"


def wire(run: Run) -> Graph:
    """Wires the loop."""
    graph = method_graph(run, generate, act, call_tool)
    add_answer(graph, run, partial(answer, pick=last_thoughts))
    graph.add_conditional_edges("start", admitted, {"begins": "generate", "refused": "answer"})
    graph.add_conditional_edges("generate", carry_out, ["act", "call_tool", "generate", "answer"])
    graph.add_conditional_edges("act", carry_out, ["call_tool", "generate", "answer"])
    graph.add_conditional_edges("call_tool", go_on, ["generate", "answer"])
    return graph


REACT = Method(METHODS["react"], ReactSettings, wire)
