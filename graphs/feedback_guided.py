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

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.types import Send
from pydantic import Field

from thoughtgraph.acting import Concludes, Extracts, Labels, Moves, Verifies
from thoughtgraph.nodes.act import call_tool, calls, next_actions
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.chart import Chart, chart
from thoughtgraph.nodes.feedback.feedback import (
    answers,
    conclude,
    extract,
    generate_next,
    label,
    verify,
)
from thoughtgraph.nodes.feedback.layers import labels, register, select, spare
from thoughtgraph.nodes.generate import Way
from thoughtgraph.nodes.limits import grants
from thoughtgraph.nodes.start import start
from thoughtgraph.parts import Parts
from thoughtgraph.settings import ActingSettings, judge_examples
from thoughtgraph.state import FeedbackState
from thoughtgraph.task import Checks


class FgdipSettings(ActingSettings):
    """What `fgdip` can be told."""

    n_generate: int = Field(
        3, ge=1, le=100, description="n: children per thought (lost in the paper; ours: 3)."
    )
    max_depth: int = Field(
        7, ge=1, le=1000, description="Thoughts of a trajectory (unpublished; ours: 7, as ReAct)."
    )
    max_answer_checks: int = Field(
        5, ge=1, le=1000, description="Answers that are checked (unpublished; ours: 5)."
    )
    max_entities: int = Field(
        20, ge=1, le=1000, description="Entities of the first layer (unpublished; ours: 20)."
    )
    extractor: bool = Field(
        True,
        description="Begin at the problem's entities. Off: the first layer is generated (appendix "
        "C.1: without extractor).",
    )
    step_evaluator: bool = Field(
        True,
        description="Label the steps. Off: all are visited, in order (appendix C.2: without "
        "step evaluator).",
    )
    answer_evaluator: bool = Field(
        True,
        description="Check answers. Off: the first one is returned (appendix C.3: without "
        "answer evaluator, hence without error analysis).",
    )
    extract_examples: str = judge_examples("the extractor", own=6)
    label_examples: str = judge_examples("the step evaluator", own=6)
    verify_examples: str = judge_examples("the answer evaluator", own=8)
    feedback: bool = Field(
        True, description="Show each generation the children before it (switch: ours)."
    )
    error_analysis: bool = Field(
        True, description="Show each generation the rejected answers (switch: ours)."
    )
    layer_scope: Literal["siblings", "global"] = Field(
        "siblings",
        description="Which steps are fed back: the children of the same thought, or all of the "
        "same depth (section 3.2.2 leaves it open; ours: siblings).",
    )
    exact_check: bool = Field(
        False,
        description="Answers are checked by the task itself, not by the model (ours: off). The "
        "result is then labelled oracle.",
    )
    temperature: float | None = Field(
        0.7, ge=0, le=2, description="Sampling temperature (appendix A.1: 0.7)."
    )
    limit_requests: int | None = Field(
        150,
        ge=0,
        description="Most requests to the model (unpublished; ours: 150). None: any.",
    )


SETTINGS = FgdipSettings


def needs(settings: Mapping[str, Any]) -> Sequence[type]:
    """Returns the capabilities a task must have for these settings."""
    needed: list[type] = [Moves, Concludes]
    if settings["extractor"]:
        needed.append(Extracts)
    if settings["step_evaluator"]:
        needed.append(Labels)
    if settings["answer_evaluator"]:
        needed.append(Checks if settings["exact_check"] else Verifies)
    return needed


def way(settings: Mapping[str, Any]) -> Way:
    """Returns how thoughts are generated."""
    return next_actions("fgdip")(settings)


def build(parts: Parts) -> Chart:
    """Wires the algorithm."""
    found = partial(answers, parts)
    graph = chart(parts, state=FeedbackState)
    graph.add_node("start", start(parts, stack=[], rejected=[], tried=0))
    graph.add_node("extract", extract(parts))
    graph.add_node("generate", generate_next(parts))
    graph.add_node("call_tool", call_tool(parts))
    graph.add_node("register", register())
    graph.add_node("evaluate", label(parts))
    graph.add_node("select", select())
    graph.add_node("verify", verify(parts))
    graph.add_node("conclude", conclude(parts))
    answers_seen = answer(parts, pick=found, cut_short=found)
    graph.add_node("answer", answers_seen, input_schema=FeedbackState)
    graph.add_edge(START, "start")
    graph.add_conditional_edges("start", begin, ["extract", "generate"])
    graph.add_conditional_edges("extract", act, ["call_tool", "register", "answer"])
    graph.add_conditional_edges("generate", act, ["call_tool", "register", "answer"])
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
    return "extract" if state["settings"]["extractor"] else "generate"


async def act(state: FeedbackState) -> list[Send] | Literal["register", "answer"]:
    """Routes to the tools of the new steps; past them when there is none to call."""
    return "answer" if state["stop_reason"] else calls(state) or "register"


async def go_on(state: FeedbackState) -> list[Send] | Literal["generate", "select"]:
    """Routes to the next child, or to the labels of a complete layer."""
    if state["tried"] < state["settings"]["n_generate"] and spare(state):
        return "generate"
    return labels(state) or "select"


async def visit(state: FeedbackState) -> Literal["generate", "verify", "conclude", "answer"]:
    """Routes to the expansion of the visited step, to the check of an answer, or to the end."""
    answered = [key for key in state["frontier"] if state["tree"][key]["status"] == "terminal"]
    if not state["stop_reason"]:
        return "verify" if answered else "generate"
    forced = state["stop_reason"] not in ("finished", "verified", "error") and grants(state)
    return "conclude" if forced and not answered and not state["rejected"] else "answer"


async def backtrack(state: FeedbackState) -> Literal["select", "answer"]:
    """Routes on from a rejected answer."""
    return "answer" if state["stop_reason"] else "select"
