"""Spend where it is undecided: ours, with the stopping rule of Aggarwal et al. 2023 (2305.11860).

    spent <- 0; start <- the problem                                  start
    while spent < n do
        k <- the fewest samples that could settle the vote            draw
        y_1, ..., y_k ~ p(. | problem, start), in one request         generate
        spent <- spent + k                                            generate
        answers vote; a plan is run up to its first fault             generate
        if one is accepted then return it                             select -> answer
        if P(leader beats runner-up | votes) > confidence then stop   select -> answer
        start <- of the plans tried least, what came furthest         select
    return argmax of the votes                                        answer

Theirs is the rule: for the two most frequent answers, with v1 and v2 votes, the probability that
the first is the more probable one, under a uniform prior a Beta(v1 + 1, v2 + 1). They ask for one
sample at a time. Ours is the size of a batch, which pays for a prompt once: as many samples as
settle the vote if all agree with the leader, never more. Four that agree are the fewest, and as
many plans are drawn at a time: plans do not vote.

A plan is accepted when it runs to its end and the evaluator refuses no step; its steps before a
fault are kept and continued, where Tree-of-Mixed-Thought refuses the whole of what was written. An
answer is accepted by an oracle alone. Nothing guarantees that what is accepted, or agreed on, is
right: samples that share a mistake settle the vote on it.
"""

from collections.abc import Mapping
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.adaptive.batches import (
    candidates,
    leader,
    new_samples,
    next_batch,
    select,
    votes,
)
from thoughtgraph.nodes.adaptive.drawing import draw_samples, whole_answers, whole_plans
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.review import reviews
from thoughtgraph.run import Run
from thoughtgraph.settings.adaptive import AdaptiveSettings
from thoughtgraph.state import SearchState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how samples are generated."""
    return whole_plans if AdaptiveSettings.of(settings).draw == "plans" else whole_answers


def wire(run: Run) -> Graph:
    """Wires the loop of draws."""
    graph = method_graph(run)
    graph.add_node(guarded(run, draw_samples(run, generator)))
    graph.add_node("select", guarded(run, select(run)))
    add_answer(
        graph, run, answer(run, candidates, best=leader, tally=votes), candidates=new_samples
    )
    graph.add_conditional_edges("start", draw, ["generate", "answer"])
    graph.add_conditional_edges("generate", show)
    graph.add_conditional_edges("select", draw, ["generate", "answer"])
    return graph


async def show(state: SearchState) -> Literal["review", "select"]:
    """Shows a person the new samples first, under `review="select"`."""
    return "review" if reviews(state, new_samples) else "select"


async def draw(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next batch, or to the answer when there is none to be drawn."""
    return "generate" if next_batch(state) else "answer"


ADAPTIVE = Method(METHODS["adaptive"], AdaptiveSettings, generator, wire)
