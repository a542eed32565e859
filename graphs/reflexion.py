"""Reflexion on ReAct: Shinn et al. 2023 (arXiv 2303.11366), the baseline of FGDIP.

    for t = 1, ..., trials do
        answer <- ReAct, shown the lessons of earlier trials            generate, act, call_tool
        if the answer is right then return it                           check
        lesson t <- the model, shown the failed trajectory              reflect

Whether an answer is right is gold feedback, by an oracle with which the graph is built or by the
task under `exact_check`; results are labelled so. Else the task must be able to judge its answers.
"""

from functools import partial
from typing import Any, Literal

from thoughtgraph.acting import Reflects
from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.actions import awaits_tool, hints_of
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.check import judge_latest, passed
from thoughtgraph.nodes.families.think_act import (
    act,
    call_tool,
    generate,
    last_thoughts,
    latest,
    lessons,
)
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.start import admitted
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.settings.acting import ReflexionSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Shown, cut, path_to


async def check(step: Step, state: SearchState) -> dict[str, Any]:
    """Judges whether the answer of a trial is right."""
    trials = ReflexionSettings.of(state["settings"]).trials
    return await judge_latest(step, state, over=len(lessons(state["thoughts"])) + 1 == trials)


async def reflect(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests lesson t from a failed trial, for the prompts of later trials."""
    tree, last = state["thoughts"], latest(state)
    hints, path = hints_of(tree, Shown(lessons=lessons(tree))), path_to(tree, last)
    question = step.task(Reflects).reflect(state["problem"], path, state["settings"], hints)
    if (reply := await step.ask_one(Ask(question, last, "reflect"))) is None:
        return step.update(stop_reason="budget")
    step.count(rounds=1)
    return step.update(thoughts={last: {"lesson": cut(reply.reading), "usage": reply.usage}})


async def carry_out(
    state: SearchState,
) -> Literal["act", "call_tool", "generate", "check", "answer"]:
    """Routes to the tool call, to the request for a missing action, or past an unreadable one."""
    thought = state["thoughts"][latest(state)]
    if state["stop_reason"]:
        return "answer"
    if "action" not in thought:
        return "act"
    return "call_tool" if awaits_tool(thought) else await go_on(state)


async def go_on(state: SearchState) -> Literal["generate", "check"]:
    """Routes to the next step until the trial has an answer or has used up its steps."""
    thought = state["thoughts"][latest(state)]
    is_last_step = thought["depth"] == ReflexionSettings.of(state["settings"]).max_steps
    return "check" if is_last_step or thought["status"] != "open" else "generate"


async def again(state: SearchState) -> Literal["reflect", "answer"]:
    """Routes to the reflection on a failed trial, unless it was the last one."""
    right = passed(state["thoughts"][latest(state)])
    return "answer" if right or state["stop_reason"] else "reflect"


async def begin(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next trial; to the answer if the search was stopped."""
    return "answer" if state["stop_reason"] else "generate"


def wire(run: Run) -> Graph:
    """Wires the trials."""
    graph = method_graph(run, generate, act, call_tool, check, reflect)
    add_answer(graph, run, partial(answer, pick=last_thoughts))
    graph.add_conditional_edges("start", admitted, {"begins": "generate", "refused": "answer"})
    targets = ["call_tool", "generate", "check", "answer"]
    graph.add_conditional_edges("generate", carry_out, ["act", *targets])
    graph.add_conditional_edges("act", carry_out, targets)
    graph.add_conditional_edges("call_tool", go_on, ["generate", "check"])
    graph.add_conditional_edges("check", again, ["reflect", "answer"])
    graph.add_conditional_edges("reflect", begin, ["generate", "answer"])
    return graph


REFLEXION = Method(METHODS["reflexion"], ReflexionSettings, wire)
