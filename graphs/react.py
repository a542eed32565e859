"""ReAct: Yao et al. 2023 (arXiv 2210.03629), as its code for HotpotQA runs it.

    for i = 1, ..., 7 do
        thought i, action i <- the model, shown all steps so far        generate
        no action came: ask for the action alone                        act
        observation i <- the action's tool                              call_tool
        if the action was Finish then return its argument               call_tool -> answer

There is no backtracking; the model must correct itself in later steps.
"""

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.acting.think_act import act, call_tool, last_thoughts, think
from thoughtgraph.nodes.actions import awaits_tool, next_actions
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.method_graph import MethodGraph
from thoughtgraph.nodes.start import start
from thoughtgraph.nodes.step import Run
from thoughtgraph.parts import Parts
from thoughtgraph.settings.acting import ReactSettings
from thoughtgraph.state import TrajectoryState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how thoughts are generated."""
    return next_actions("react")


def wire(parts: Parts) -> MethodGraph:
    """Wires the loop."""
    run, graph = Run(parts), MethodGraph(parts, state=TrajectoryState)
    graph.add_node("start", start(parts, trial=0, lessons=[]))
    for node in (think(run), act(run), call_tool(run)):
        graph.add_step(node)
    graph.add_node("answer", answer(parts, pick=last_thoughts, cut_short=last_thoughts))
    graph.add_edge(START, "start")
    graph.add_edge("start", "generate")
    graph.add_conditional_edges("generate", carry_out, ["act", "call_tool", "generate", "answer"])
    graph.add_conditional_edges("act", carry_out, ["call_tool", "generate", "answer"])
    graph.add_conditional_edges("call_tool", go_on, ["generate", "answer"])
    graph.add_edge("answer", END)
    return graph


async def carry_out(
    state: TrajectoryState,
) -> Literal["act", "call_tool", "generate", "answer"]:
    """Routes to the tool of the latest action; past it when there is none to call."""
    latest = state["tree"][state["frontier"][0]]
    if state["stop_reason"]:
        return "answer"
    if "action" not in latest:
        return "act"
    return "call_tool" if awaits_tool(latest) else "generate"


async def go_on(state: TrajectoryState) -> Literal["generate", "answer"]:
    """Routes to the next step unless the trajectory has its answer."""
    done = state["tree"][state["frontier"][0]]["status"] == "terminal"
    return "answer" if done or state["stop_reason"] else "generate"


REACT = Method(METHODS["react"], ReactSettings, generator, wire)
