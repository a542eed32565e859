"""Direct prompting: IO, chain of thought, self-consistency (Tree of Thoughts, section 2).

    io       y ~ p(y | prompt_io(x)),  n samples                              generate
             answer = the first sample's                                      answer

    cot      [z_1, ..., z_n, y] ~ p(z, y | prompt_cot(x)),  n samples         generate
             answer = the first sample's                                      answer

    cot_sc   [z^(i), y^(i)] ~ p(z, y | prompt_cot(x)),  i = 1, ..., k         generate
             return argmax_y #{i | y^(i) = y}                                 vote, answer

`candidates` holds every sample's answer, in order. For `io` and `cot`, their mean success is the
paper's row; for all three, its "best of k" is whether any is right. The samples are one request if
the provider can return several. Answers are compared in the task's canonical form; of equally
frequent answers, the first to occur wins (self-consistency: Wang et al. 2022).
"""

from collections import Counter
from functools import partial
from typing import Any

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.expand import direct_answer, drafted, expansion, place
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.start import begin
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import ballots, samples, samples_of, with_ballots
from thoughtgraph.run import Run
from thoughtgraph.settings.direct import CotScSettings, CotSettings, IoSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Draws the n or k samples in one request."""
    style = "io" if step.run.method is IO else "cot"
    question = direct_answer(step, style, IoSettings.of(state["settings"]).n_generate)
    answers = await step.ask([expansion(step, ROOT, question)])
    drafts = drafted(answers)
    for draft in drafts if step.run.method is COT_SC else ():
        draft["thoughts"] = await with_ballots(step, draft["thoughts"])
    placed = place(state, drafts)
    step.count(thoughts=len(placed.new), expansions=len(answers))
    return step.update(thoughts=placed.tree, stop_reason="" if placed.complete else "budget")


async def vote(step: Step, state: SearchState) -> dict[str, Any]:
    """Counts the votes #{i | y^(i) = y}; each sample's value becomes the count of its answer.

    Samples without a readable answer do not vote.
    """
    ballot_of = ballots(state)
    votes = Counter(ballot_of.values())
    del votes[None]
    return {"thoughts": {key: {"value": float(votes[ballot])} for key, ballot in ballot_of.items()}}


def leader(state: SearchState) -> list[str]:
    """Returns the id of the sample that wins the vote, first of equals; none without an answer."""
    tree = state["thoughts"]
    voting = [key for key, ballot in ballots(state).items() if ballot is not None]
    return [max(voting, key=lambda key: tree[key].get("value", 0.0))] if voting else []


def wire(run: Run) -> Graph:
    """Wires one request, whose samples vote in `cot_sc`."""
    is_vote = run.method is COT_SC
    graph = method_graph(run, generate, *([vote] if is_vote else []))
    last = partial(answer, pick=samples, complete=True)
    if is_vote:
        last = partial(last, best=leader, tally=samples_of)
        graph.add_edge("generate", "vote")
    add_answer(graph, run, last)
    graph.add_conditional_edges("start", begin)
    graph.add_edge("vote" if is_vote else "generate", "answer")
    return graph


IO = Method(METHODS["io"], IoSettings, wire)
COT = Method(METHODS["cot"], CotSettings, wire)
COT_SC = Method(METHODS["cot_sc"], CotScSettings, wire)
