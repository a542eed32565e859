"""FGDIP: feedback-guided dynamic interactive planning, Yan, Wu and Zhou 2025.

    for each key entity e of the problem: a child of the root that searches e    extract, call_tool
    label each child sure, maybe or impossible                                   evaluate
    push them: sure before maybe, without the impossible                         select
    while the stack is not empty do
        c <- the next thought of the top layer; none left: pop it                select
        if c is an answer then
            if the answer evaluator accepts it then return it                    verify -> answer
            remember answer, last thought and reason as an error                 verify -> select
        else if c is not too deep then
            for k = 1, ..., n do                                                 go_on
                a child <- the model, shown the errors and the children so far   generate
                carry out its action                                             call_tool
            label the children and push them                                     evaluate, select
    return the most frequent rejected answer, else one that is forced            conclude, answer

Children are made one after the other because each sees those before it ("real-time feedback"); the
errors are seen by every branch ("error analysis"). One that does the same as a child before it is
dropped. The paper leaves open n, the depth, the budget and what is answered when nothing is
accepted: ours. The answer evaluator sees question and answer only: it finds the possible answer
from what the model knows, and checks that the given one is that and on topic (appendix E.3). A step
that is labelled impossible is lost with everything below it. Where only one step can be taken, such
as writing down the answer of Game of 24, one child is asked for.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from langgraph.types import Overwrite

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.actions import awaits_tool, next_actions
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.feedback.components import (
    answers,
    call_tools,
    conclude,
    extract,
    generate_next,
    label,
    verify,
)
from thoughtgraph.nodes.feedback.traversal import new_layer, spare_requests, visit_next
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.review import reviews
from thoughtgraph.nodes.verdicts import unjudged
from thoughtgraph.run import Run
from thoughtgraph.settings.feedback import FgdipSettings
from thoughtgraph.state import FeedbackState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how thoughts are generated."""
    return next_actions("fgdip", FgdipSettings.of(settings).n_generate)


def wire(run: Run) -> Graph:
    """Wires the algorithm."""
    found = partial(answers, run)
    graph = method_graph(run, FeedbackState, stack=Overwrite([]), rejected=[], tried=0)
    for node in (extract(run), generate_next(run), call_tools(run), label(run)):
        graph.add_node(guarded(run, node))
    graph.add_node("select", guarded(run, visit_next))
    graph.add_node(guarded(run, verify(run)))
    graph.add_node(guarded(run, conclude(run)))
    add_answer(graph, run, answer(run, pick=found, cut_short=found), candidates=new_layer)
    graph.add_conditional_edges("start", begin)
    layer = ["generate", "evaluate", "review", "select"]
    graph.add_conditional_edges("extract", carry_out, ["call_tool", "answer", *layer[1:]])
    graph.add_conditional_edges("generate", carry_out, ["call_tool", "answer", *layer])
    graph.add_conditional_edges("call_tool", go_on, layer)
    graph.add_conditional_edges("evaluate", show)
    graph.add_conditional_edges("select", visit)
    graph.add_conditional_edges("verify", backtrack)
    graph.add_edge("conclude", "answer")
    return graph


async def begin(state: FeedbackState) -> Literal["extract", "generate", "answer"]:
    """Routes to the first layer."""
    if state["stop_reason"]:
        return "answer"
    return "extract" if FgdipSettings.of(state["settings"]).extractor else "generate"


async def carry_out(
    state: FeedbackState,
) -> Literal["call_tool", "generate", "evaluate", "review", "select", "answer"]:
    """Routes to the tools of the new steps; past them when there is none to call."""
    if state["stop_reason"]:
        return "answer"
    waiting = any(awaits_tool(state["thoughts"][key]) for key in state["generation"])
    return "call_tool" if waiting else await go_on(state)


async def go_on(state: FeedbackState) -> Literal["generate", "evaluate", "review", "select"]:
    """Routes to the next child, or to the labels of a complete layer."""
    settings = FgdipSettings.of(state["settings"])
    if state["tried"] < settings.n_generate and spare_requests(state):
        return "generate"
    if settings.step_evaluator and unjudged(state, state["generation"]):
        return "evaluate"
    return await show(state)


async def show(state: FeedbackState) -> Literal["review", "select"]:
    """Shows a person the new layer first, under `review="select"`."""
    return "review" if reviews(state, new_layer) else "select"


async def visit(state: FeedbackState) -> Literal["generate", "verify", "conclude", "answer"]:
    """Routes to the expansion of the visited step, to the check of an answer, or to the end."""
    answered = [key for key in state["frontier"] if state["thoughts"][key]["status"] == "terminal"]
    if not state["stop_reason"]:
        return "verify" if answered else "generate"
    forced = state["stop_reason"] not in ("finished", "verified", "error") and requests_left(state)
    return "conclude" if forced and not answered and not state["rejected"] else "answer"


async def backtrack(state: FeedbackState) -> Literal["select", "answer"]:
    """Routes on from a rejected answer."""
    return "answer" if state["stop_reason"] else "select"


FGDIP = Method(METHODS["fgdip"], FgdipSettings, generator, wire)
