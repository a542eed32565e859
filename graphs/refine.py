"""Iterative refine: Tree of Thoughts (Yao et al. 2023, arXiv 2305.10601), sections 4.1 and 4.2.

    y_0 ~ IO(x), or a given draft                                     generate
    for i = 1, ..., k do                                              refine_or_end
        stop if y_{i-1} is right / perfectly coherent                 check
        y_i <- refine(x, y_0, ..., y_{i-1})                           refine
    return the last y                                                 answer

On Game of 24 the check says whether an output is right: the graph needs an oracle or the setting
`exact_check`, and the result is labelled so. On creative writing the model itself judges, and y_0
is an IO sample or another method's passage (`draft`). The official code is unpublished.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.check import judge_latest, latest_output, passed
from thoughtgraph.nodes.expand import ThoughtQuestion, one_thought_each, place_below
from thoughtgraph.nodes.limits import blocking_limit
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.start import admitted
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import samples
from thoughtgraph.run import Run
from thoughtgraph.settings.direct import RefineSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Answers, Refines
from thoughtgraph.tree import bounded

GIVEN = "given by the caller"


def generator(step: Step, key: str) -> ThoughtQuestion:
    """Returns the question for y_0 or, after earlier outputs, for a better one."""
    problem, path, settings = step.at(key)
    if path:
        question = step.task(Refines).refine(problem, path, settings)
    else:
        question = step.task(Answers).ask(problem, "io", settings)
    # One completion, as each prompt shows the outputs before.
    return one_thought_each(replace(question, n=1), 1, _output)


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests y_0; a draft from the caller is used without a request."""
    return await add_output(step, state, "generate", RefineSettings.of(state["settings"]).draft)


async def check(step: Step, state: SearchState) -> dict[str, Any]:
    """Judges whether the latest output is right or perfectly coherent."""
    refinements = RefineSettings.of(state["settings"]).refinements
    return await judge_latest(step, state, over=len(samples(state)) > refinements)


async def refine(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests y_i, below the latest output."""
    return await add_output(step, state, "refine", "")


async def add_output(step: Step, state: SearchState, role: str, draft: str) -> dict[str, Any]:
    """Adds an output below the latest one: the draft if there is one, else the model's."""
    latest = latest_output(state)
    if reason := blocking_limit(state, latest):
        return {"stop_reason": reason}
    question = generator(step, latest)
    usage: dict[str, dict[str, float]] = {}
    if draft:
        output = {**question.read([draft])[0], "note": GIVEN}
    elif (reply := await step.ask_one(Ask(question, latest, role, expansion=0))) is None:
        return step.update(stop_reason="budget")
    else:
        output, usage = {**reply.reading[0]}, reply.usage
        step.count(expansions=1, parse_errors={role: 1} if output["answer"] is None else {})
    step.count(thoughts=1, rounds=int(role == "refine"))
    placed = place_below(state, latest, [output], usage)
    return step.update(thoughts=placed.tree)


async def check_or_end(state: SearchState) -> Literal["check", "answer"]:
    """Routes a new output to its check; to the answer if the search was stopped."""
    return "answer" if state["stop_reason"] else "check"


async def refine_or_end(state: SearchState) -> Literal["refine", "answer"]:
    """Routes to the next refinement until an output passes or k refinements were made."""
    latest = state["thoughts"][latest_output(state)]
    return "answer" if state["stop_reason"] or passed(latest) else "refine"


def latest_first(state: SearchState) -> list[str]:
    """Returns the ids of the outputs, latest first."""
    return samples(state)[::-1]


def _output(result: str | None, text: str) -> Mapping[str, Any]:
    return bounded({"text": text, "answer": result, "raw": text})


def wire(run: Run) -> Graph:
    """Wires the loop."""
    graph = method_graph(run, generate, check, refine)
    add_answer(graph, run, partial(answer, pick=samples, best=latest_first, complete=True))
    graph.add_conditional_edges("start", admitted, {"begins": "generate", "refused": "answer"})
    graph.add_conditional_edges("generate", check_or_end)
    graph.add_conditional_edges("check", refine_or_end)
    graph.add_conditional_edges("refine", check_or_end)
    return graph


REFINE = Method(METHODS["refine"], RefineSettings, wire)
