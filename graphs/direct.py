"""The model asked directly: IO, chain of thought, self-consistency (Tree of Thoughts, section 2).

    io       y ~ p(y | prompt_io(x)),  n samples                              generate
             answer = the first sample's                                      answer

    cot      [z_1, ..., z_n, y] ~ p(z, y | prompt_cot(x)),  n samples         generate
             answer = the first sample's                                      answer

    cot_sc   [z^(i), y^(i)] ~ p(z, y | prompt_cot(x)),  i = 1, ..., k         generate
             return argmax_y #{i | y^(i) = y}                                 vote, answer

`candidates` holds every sample's answer, in order: of `io` and `cot` their mean success is the
paper's row, of all three whether any is right is its "best of k". The k samples are one request
where the provider can. Answers are compared in the task's canonical form; of equally frequent ones
the first to occur wins (self-consistency: Wang et al. 2022).
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.expand import drafted, expansion
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.generators import direct_answer
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.placement import place
from thoughtgraph.nodes.start import begin
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import ballots, samples, samples_of, with_ballots
from thoughtgraph.run import Run
from thoughtgraph.settings import Settings
from thoughtgraph.settings.direct import CotScSettings, CotSettings, IoSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT


def generator(style: str, settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how samples are generated; `style` is `io` or `cot`."""
    return direct_answer(style, IoSettings.of(settings).n_generate)


def wire(style: str, votes: bool, run: Run) -> Graph:
    """Wires one question in a style; `votes` says whether its samples vote."""

    async def generate(state: SearchState) -> dict[str, Any]:
        """The samples, which are one request."""
        step = Step(run, state)
        answers = await step.ask([expansion(run, state, partial(generator, style), ROOT, 0)])
        drafts = drafted(answers)
        for draft in drafts if votes else ():
            draft["thoughts"] = await with_ballots(run, state, draft["thoughts"])
        placed = place(state, drafts)
        step.count(thoughts=len(placed.new), expansions=len(answers))
        return step.update(thoughts=placed.tree, stop_reason="" if placed.complete else "budget")

    graph = method_graph(run)
    graph.add_node(guarded(run, generate))
    graph.add_conditional_edges("start", begin)
    if votes:
        graph.add_node(guarded(run, vote))
        graph.add_edge("generate", "vote")
    graph.add_edge("vote" if votes else "generate", "answer")
    best, tally = (leader, samples_of) if votes else (None, None)
    add_answer(graph, run, answer(run, pick=samples, best=best, tally=tally))
    return graph


async def vote(state: SearchState) -> dict[str, Any]:
    """Counts how often each answer was given: every sample's value becomes that number.

    Samples without a readable answer do not vote.
    """
    cast = ballots(state)
    votes = Counter(cast.values())
    del votes[None]
    return {"thoughts": {key: {"value": float(votes[each])} for key, each in cast.items()}}


def leader(state: SearchState) -> list[str]:
    """Returns the sample that wins a vote, of equals the first; none where there is no answer."""
    tree = state["thoughts"]
    given = [key for key, ballot in ballots(state).items() if ballot is not None]
    return [max(given, key=lambda key: tree[key].get("value", 0.0))] if given else []


def direct(name: str, settings: type[Settings], style: str, *, votes: bool = False) -> Method:
    """Returns the method that asks in a style."""
    return Method(METHODS[name], settings, partial(generator, style), partial(wire, style, votes))


IO = direct("io", IoSettings, "io")
COT = direct("cot", CotSettings, "cot")
COT_SC = direct("cot_sc", CotScSettings, "cot", votes=True)
