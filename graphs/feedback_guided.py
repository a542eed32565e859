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
            for k = 1, ..., n do                                                 register
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

from langgraph.graph import END, START
from langgraph.types import Overwrite, Send

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.actions import call_tool, next_actions, tool_sends
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.feedback.components import (
    answers,
    conclude,
    extract,
    generate_next,
    label,
    verify,
)
from thoughtgraph.nodes.feedback.traversal import (
    label_known,
    label_sends,
    new_layer,
    spare_requests,
    visit_next,
)
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.method_graph import MethodGraph
from thoughtgraph.nodes.review import reviewed
from thoughtgraph.nodes.start import start
from thoughtgraph.parts import Parts
from thoughtgraph.settings.feedback import FgdipSettings
from thoughtgraph.state import FeedbackState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how thoughts are generated."""
    return next_actions("fgdip", FgdipSettings.of(settings).n_generate)


def wire(parts: Parts) -> MethodGraph:
    """Wires the algorithm."""
    found = partial(answers, parts)
    graph = MethodGraph(parts, state=FeedbackState)
    graph.add_node("start", start(parts, stack=Overwrite([]), rejected=[], tried=0))
    graph.add_node("extract", extract(parts))
    graph.add_node("generate", generate_next(parts))
    graph.add_node("call_tool", call_tool(parts))
    graph.add_node("register", label_known)
    graph.add_node("evaluate", label(parts))
    graph.add_node("select", reviewed(visit_next, new_layer))
    graph.add_node("verify", verify(parts))
    graph.add_node("conclude", conclude(parts))
    answers_seen = answer(parts, pick=found, cut_short=found)
    graph.add_node("answer", answers_seen, input_schema=FeedbackState)
    graph.add_edge(START, "start")
    graph.add_conditional_edges("start", begin, ["extract", "generate"])
    graph.add_conditional_edges("extract", carry_out, ["call_tool", "register", "answer"])
    graph.add_conditional_edges("generate", carry_out, ["call_tool", "register", "answer"])
    graph.add_edge("call_tool", "register")
    graph.add_conditional_edges("register", go_on, ["generate", "evaluate", "select"])
    graph.add_edge("evaluate", "select")
    graph.add_conditional_edges("select", visit, ["generate", "verify", "conclude", "answer"])
    graph.add_conditional_edges("verify", backtrack, ["select", "answer"])
    graph.add_edge("conclude", "answer")
    graph.add_edge("answer", END)
    return graph


async def begin(state: FeedbackState) -> Literal["extract", "generate"]:
    """Routes to the first layer."""
    return "extract" if FgdipSettings.of(state["settings"]).extractor else "generate"


async def carry_out(state: FeedbackState) -> list[Send] | Literal["register", "answer"]:
    """Routes to the tools of the new steps; past them when there is none to call."""
    return "answer" if state["stop_reason"] else tool_sends(state) or "register"


async def go_on(state: FeedbackState) -> list[Send] | Literal["generate", "select"]:
    """Routes to the next child, or to the labels of a complete layer."""
    if state["tried"] < FgdipSettings.of(state["settings"]).n_generate and spare_requests(state):
        return "generate"
    return label_sends(state) or "select"


async def visit(state: FeedbackState) -> Literal["generate", "verify", "conclude", "answer"]:
    """Routes to the expansion of the visited step, to the check of an answer, or to the end."""
    answered = [key for key in state["frontier"] if state["tree"][key]["status"] == "terminal"]
    if not state["stop_reason"]:
        return "verify" if answered else "generate"
    forced = state["stop_reason"] not in ("finished", "verified", "error") and requests_left(state)
    return "conclude" if forced and not answered and not state["rejected"] else "answer"


async def backtrack(state: FeedbackState) -> Literal["select", "answer"]:
    """Routes on from a rejected answer."""
    return "answer" if state["stop_reason"] else "select"


FGDIP = Method(METHODS["fgdip"], FgdipSettings, generator, wire)
