"""Iterative refine: Tree of Thoughts (Yao et al. 2023, arXiv 2305.10601), sections 4.1 and 4.2.

    y_0 ~ IO(x), or a given draft                                     generate
    for i = 1, ..., k do                                              refine_or_end
        stop if y_{i-1} is right / perfectly coherent                 check
        y_i <- refine(x, y_0, ..., y_{i-1})                           refine
    return the last y                                                 answer

Game of 24 is told whether an output is right: the graph needs an oracle or the setting
`exact_check`, and the result is labelled so. Creative writing asks the model itself, and refines an
IO sample or a passage that another method wrote (`draft`). The official code for this method was
not published.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.generation import GeneratorInput
from thoughtgraph.method import Method, ThoughtGenerator, ThoughtQuestion
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.check import check, latest_output, passed
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.generators import generator_input, one_thought_each
from thoughtgraph.nodes.limits import blocking_limit
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.placement import place_below
from thoughtgraph.nodes.start import admitted
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import samples
from thoughtgraph.run import Run
from thoughtgraph.settings.direct import RefineSettings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Answers, Refines
from thoughtgraph.tree import bounded

GIVEN = "given by the caller"


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how outputs are generated."""
    return output_question


def output_question(run: Run, given: GeneratorInput) -> ThoughtQuestion:
    """Asks for a first output, and for a better one once there is one."""
    problem, path, options = given["problem"], given["path"], given["settings"]
    if path:
        question = run.task_for(options, Refines).refine(problem, path, options)
    else:
        question = run.task_for(options, Answers).ask(problem, "io", options)
    # Each output is shown the ones before it.
    return one_thought_each(replace(question, n=1), 1, _output)


def wire(run: Run) -> Graph:
    """Wires the loop."""

    async def generate(state: SearchState) -> dict[str, Any]:
        """y_0; where the caller gave a draft, nobody is asked."""
        return await add_output(state, "generate", RefineSettings.of(state["settings"]).draft)

    async def refine(state: SearchState) -> dict[str, Any]:
        """y_i, below the latest output."""
        return await add_output(state, "refine", "")

    async def add_output(state: SearchState, role: str, draft: str) -> dict[str, Any]:
        latest, step = latest_output(state), Step(run, state)
        if reason := blocking_limit(state, latest):
            return {"stop_reason": reason}
        question = output_question(run, generator_input(state, latest))
        answers = [] if draft else await step.ask([Ask(question, latest, role, expansion=0)])
        if draft:
            output = {**question.read([draft])[0], "note": GIVEN}
        elif answers:
            output = {**answers[0].reading[0]}
        else:
            return step.update(stop_reason="budget")
        if answers and output["answer"] is None:
            step.count(parse_errors={role: 1})
        step.count(thoughts=1, expansions=len(answers), rounds=int(role == "refine"))
        placed = place_below(state, latest, [output], answers[0].usage if answers else {})
        return step.update(thoughts=placed.tree)

    graph = method_graph(run)
    graph.add_node(guarded(run, generate))
    graph.add_node(guarded(run, check(run, last=_last)))
    graph.add_node(guarded(run, refine))
    latest_first = answer(run, pick=samples, best=lambda state: samples(state)[::-1])
    add_answer(graph, run, latest_first)
    graph.add_conditional_edges("start", admitted, {"begins": "generate", "refused": "answer"})
    graph.add_conditional_edges("generate", check_or_end)
    graph.add_conditional_edges("check", refine_or_end)
    graph.add_conditional_edges("refine", check_or_end)
    return graph


async def check_or_end(state: SearchState) -> Literal["check", "answer"]:
    """Routes a new output to its check; without one the search is over."""
    return "answer" if state["stop_reason"] else "check"


async def refine_or_end(state: SearchState) -> Literal["refine", "answer"]:
    """Routes to the next refinement until an output passed or k refinements were made."""
    latest = state["thoughts"][latest_output(state)]
    return "answer" if state["stop_reason"] or passed(latest) else "refine"


def _output(found: str | None, text: str) -> Mapping[str, Any]:
    return bounded({"text": text, "answer": found, "raw": text})


def _last(state: SearchState) -> bool:
    return len(samples(state)) > RefineSettings.of(state["settings"]).refinements


REFINE = Method(METHODS["refine"], RefineSettings, generator, wire)
