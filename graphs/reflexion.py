"""Reflexion on ReAct: Shinn et al. 2023 (arXiv 2303.11366), the baseline of FGDIP.

    for t = 1, ..., trials do
        answer <- ReAct, shown the lessons of earlier trials            generate, act, call_tool
        if the answer is right then return it                           check
        lesson t <- the model, shown the failed trajectory              reflect

Whether an answer is right is gold feedback: the graph is built with an oracle, and its results are
labelled so. Without one the task must be able to judge its own answers.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

from langgraph.graph import END, START
from langgraph.types import Send

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, Way
from thoughtgraph.nodes.act import call_tool, calls, next_actions
from thoughtgraph.nodes.acting.trial import act, reflect, result, think
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.chart import Chart, chart
from thoughtgraph.nodes.check import check, passed
from thoughtgraph.nodes.start import start
from thoughtgraph.parts import Parts
from thoughtgraph.settings.acting import ReflexionSettings
from thoughtgraph.state import SearchState, TrialState


def way(settings: Mapping[str, Any]) -> Way:
    """Returns how thoughts are generated."""
    return next_actions("react")(settings)


def wire(parts: Parts) -> Chart:
    """Wires the trials."""
    graph = chart(parts, state=TrialState)
    graph.add_node("start", start(parts, trial=0, lessons=[]))
    graph.add_node("generate", think(parts))
    graph.add_node("act", act(parts))
    graph.add_node("call_tool", call_tool(parts))
    graph.add_node("check", check(parts, last=last_trial), input_schema=TrialState)
    graph.add_node("reflect", reflect(parts))
    graph.add_node("answer", answer(parts, pick=result, cut_short=result))
    graph.add_edge(START, "start")
    graph.add_edge("start", "generate")
    targets = ["call_tool", "generate", "check", "answer"]
    graph.add_conditional_edges("generate", do, ["act", *targets])
    graph.add_conditional_edges("act", do, targets)
    graph.add_conditional_edges("call_tool", go_on, ["generate", "check"])
    graph.add_conditional_edges("check", again, ["reflect", "answer"])
    graph.add_conditional_edges("reflect", begin, ["generate", "answer"])
    graph.add_edge("answer", END)
    return graph


async def do(state: TrialState) -> list[Send] | Literal["act", "generate", "check", "answer"]:
    """Routes to the tool of the latest action; past it when there is none to call."""
    if state["stop_reason"]:
        return "answer"
    if "action" not in state["tree"][state["frontier"][0]]:
        return "act"
    return calls(state) or await go_on(state)


async def go_on(state: TrialState) -> Literal["generate", "check"]:
    """Routes to the next step until the trial has an answer or has used up its steps."""
    done = state["tree"][state["frontier"][0]]["status"] == "terminal"
    return "check" if done or state["step"] == state["settings"]["max_steps"] else "generate"


async def again(state: TrialState) -> Literal["reflect", "answer"]:
    """Routes to the reflection on a failed trial, unless it was the last one."""
    right = passed(state["tree"][state["frontier"][0]])
    return "answer" if right or state["stop_reason"] else "reflect"


async def begin(state: TrialState) -> Literal["generate", "answer"]:
    """Routes to the next trial."""
    return "answer" if state["stop_reason"] else "generate"


def last_trial(state: SearchState) -> bool:
    """Returns whether no other trial follows this one."""
    return bool(cast("TrialState", state)["trial"] + 1 == state["settings"]["trials"])


REFLEXION = Method(METHODS["reflexion"], ReflexionSettings, way, wire)
