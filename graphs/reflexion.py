"""Reflexion on ReAct: Shinn et al. 2023 (arXiv 2303.11366), the baseline of FGDIP.

    for t = 1, ..., trials do
        answer <- ReAct, shown the lessons of earlier trials            generate, act, call_tool
        if the answer is right then return it                           check
        lesson t <- the model, shown the failed trajectory              reflect

Whether an answer is right is gold feedback: the graph is built with an oracle, or `exact_check` has
the task say it, and its results are labelled so. Else the task must be able to judge its answers.
"""

from collections.abc import Mapping
from typing import Any, Literal

from thoughtgraph.acting import Reflects
from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.acting.think_act import (
    act,
    call_tool,
    last_thoughts,
    latest,
    lessons,
    think,
)
from thoughtgraph.nodes.actions import awaits_tool, hints_of, next_actions
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.check import check, passed
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.start import admitted
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.settings.acting import ReflexionSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Shown, cut, path_to


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how thoughts are generated."""
    return next_actions("react")


def wire(run: Run) -> Graph:
    """Wires the trials."""

    async def reflect(state: SearchState) -> dict[str, Any]:
        """What went wrong in a trial; the next one begins with it."""
        tree, last, step = state["thoughts"], latest(state), Step(run, state)
        task = run.task_for(state["settings"], Reflects)
        hints = hints_of(tree, Shown(lessons=lessons(tree)))
        question = task.reflect(state["problem"], path_to(tree, last), state["settings"], hints)
        answers = await step.ask([Ask(question, last, "reflect")])
        if not answers:
            return step.update(stop_reason="budget")
        step.count(rounds=1)
        lesson = {"lesson": cut(answers[0].reading), "usage": answers[0].usage}
        return step.update(thoughts={last: lesson})

    graph = method_graph(run)
    for node in (think(run), act(run), call_tool(run), check(run, last=last_trial), reflect):
        graph.add_node(guarded(run, node))
    add_answer(graph, run, answer(run, pick=last_thoughts, cut_short=last_thoughts))
    graph.add_conditional_edges("start", admitted, {"begins": "generate", "refused": "answer"})
    targets = ["call_tool", "generate", "check", "answer"]
    graph.add_conditional_edges("generate", carry_out, ["act", *targets])
    graph.add_conditional_edges("act", carry_out, targets)
    graph.add_conditional_edges("call_tool", go_on, ["generate", "check"])
    graph.add_conditional_edges("check", again, ["reflect", "answer"])
    graph.add_conditional_edges("reflect", begin, ["generate", "answer"])
    return graph


async def carry_out(
    state: SearchState,
) -> Literal["act", "call_tool", "generate", "check", "answer"]:
    """Routes to the tool of the latest action; past it when there is none to call."""
    thought = state["thoughts"][latest(state)]
    if state["stop_reason"]:
        return "answer"
    if "action" not in thought:
        return "act"
    return "call_tool" if awaits_tool(thought) else await go_on(state)


async def go_on(state: SearchState) -> Literal["generate", "check"]:
    """Routes to the next step until the trial has an answer or has used up its steps."""
    thought = state["thoughts"][latest(state)]
    ended = thought["depth"] == ReflexionSettings.of(state["settings"]).max_steps
    return "check" if ended or thought["status"] != "open" else "generate"


async def again(state: SearchState) -> Literal["reflect", "answer"]:
    """Routes to the reflection on a failed trial, unless it was the last one."""
    right = passed(state["thoughts"][latest(state)])
    return "answer" if right or state["stop_reason"] else "reflect"


async def begin(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next trial."""
    return "answer" if state["stop_reason"] else "generate"


def last_trial(state: SearchState) -> bool:
    """Returns whether no other trial follows this one."""
    trials = ReflexionSettings.of(state["settings"]).trials
    return bool(len(lessons(state["thoughts"])) + 1 == trials)


REFLEXION = Method(METHODS["reflexion"], ReflexionSettings, generator, wire)
