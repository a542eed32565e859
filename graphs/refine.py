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
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.check import check, latest_output, passed
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.refinement import add_output, output_question
from thoughtgraph.nodes.start import admitted
from thoughtgraph.nodes.tally import samples
from thoughtgraph.run import Run
from thoughtgraph.settings.direct import RefineSettings
from thoughtgraph.state import SearchState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how outputs are generated."""
    return output_question


async def check_or_end(state: SearchState) -> Literal["check", "answer"]:
    """Routes a new output to its check; without one the search is over."""
    return "answer" if state["stop_reason"] else "check"


async def refine_or_end(state: SearchState) -> Literal["refine", "answer"]:
    """Routes to the next refinement until an output passed or k refinements were made."""
    latest = state["thoughts"][latest_output(state)]
    return "answer" if state["stop_reason"] or passed(latest) else "refine"


def wire(run: Run) -> Graph:
    """Wires the loop."""
    graph = method_graph(run, frontier=[])
    graph.add_node(guarded(run, add_output(run, "generate")))
    graph.add_node(guarded(run, check(run, last=_last)))
    graph.add_node(guarded(run, add_output(run, "refine")))
    add_answer(
        graph,
        run,
        answer(
            run,
            pick=samples,
            best=lambda state: samples(state)[::-1],
        ),
    )
    graph.add_conditional_edges("start", admitted, {"begins": "generate", "refused": "answer"})
    graph.add_conditional_edges("generate", check_or_end, ["check", "answer"])
    graph.add_conditional_edges("check", refine_or_end, ["refine", "answer"])
    graph.add_conditional_edges("refine", check_or_end, ["check", "answer"])
    return graph


def _last(state: SearchState) -> bool:
    return len(samples(state)) > RefineSettings.of(state["settings"]).refinements


REFINE = Method(METHODS["refine"], RefineSettings, generator, wire)
