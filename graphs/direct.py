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

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.expand import drafted, expansion
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.generators import direct_answer
from thoughtgraph.nodes.limits import may_begin
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.placement import place
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import leader, majority_vote, samples, samples_of
from thoughtgraph.run import Run
from thoughtgraph.settings.direct import CotScSettings, CotSettings, IoSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT


def generator(style: str, settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how samples are generated; `style` is `io` or `cot`."""
    return direct_answer(style, IoSettings.of(settings).n_generate)


def direct(run: Run, style: str) -> Graph:
    """Wires one question, asked in a style, and its samples; what follows them is left open.

    A search goes straight to `answer` where no request is allowed.
    """

    async def generate(state: SearchState) -> dict[str, Any]:
        """The samples, which are one request."""
        step = Step(run, state)
        answers = await step.ask([expansion(run, state, partial(generator, style), ROOT, 0)])
        new = place(state, drafted(answers))
        step.count(thoughts=len(new.new), expansions=len(answers))
        return step.update(
            thoughts=new.tree,
            stop_reason="" if new.complete else "budget",
        )

    graph = method_graph(run)
    graph.add_node(guarded(run, generate))
    graph.add_conditional_edges("start", may_ask)
    return graph


async def may_ask(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the one request, if it is allowed."""
    return "generate" if may_begin(state) else "answer"


def first_sample(run: Run, style: str) -> Graph:
    """Wires `io` and `cot`: the first sample answers."""
    graph = direct(run, style)
    add_answer(graph, run, answer(run, pick=samples))
    graph.add_edge("generate", "answer")
    return graph


def majority(run: Run) -> Graph:
    """Wires `cot_sc`: the samples vote."""
    graph = direct(run, "cot")
    graph.add_node("vote", guarded(run, majority_vote))
    elected = answer(run, pick=samples, best=leader, tally=samples_of)
    add_answer(graph, run, elected)
    graph.add_edge("generate", "vote")
    graph.add_edge("vote", "answer")
    return graph


IO = Method(METHODS["io"], IoSettings, partial(generator, "io"), partial(first_sample, style="io"))
COT = Method(
    METHODS["cot"], CotSettings, partial(generator, "cot"), partial(first_sample, style="cot")
)
COT_SC = Method(METHODS["cot_sc"], CotScSettings, partial(generator, "cot"), majority)
