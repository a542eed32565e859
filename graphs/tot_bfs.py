"""Tree of Thoughts, breadth first: Algorithm 1 of Yao et al. 2023 (arXiv 2305.10601).

    Require: input x, p, generator G(), states k, evaluator V(), step limit T, breadth b

    1  S_0 <- {x}                                                     start
    2  for t = 1, ..., T do                                           again
    3      S'_t <- {[s, z] | s in S_{t-1}, z in G(p, s, k)}           generate
    4      V_t  <- V(p, S'_t)                                         evaluate
    5      S_t  <- argmax_{S in S'_t, |S| = b} sum_{s in S} V_t(s)    select
    6  return G(p, argmax_{s in S_T} V_T(s), 1)                       answer

The official code makes line 6 one more step of the loop and reports all b outputs; so does this
graph: `candidates` are the outputs, best first, `answer` is the first that can be read. A task's
`steps` counts the answer step. No guarantee of optimality: what the evaluator undervalues is lost
for good.
"""

from collections.abc import Mapping
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.expand import drafted, expansion
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.generators import propose, sample
from thoughtgraph.nodes.limits import expansions_allowed
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.placement import place
from thoughtgraph.nodes.review import reviews
from thoughtgraph.nodes.rounds import complete_round, draws_left, frontier, outputs, unready
from thoughtgraph.nodes.select import select_states
from thoughtgraph.nodes.start import admitted
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import levels_of
from thoughtgraph.nodes.valuation import valuation, vote, voted
from thoughtgraph.run import Run
from thoughtgraph.settings.tot import TotBfsSettings
from thoughtgraph.state import SearchState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how thoughts are generated."""
    chosen = TotBfsSettings.of(settings)
    return propose() if chosen.generate == "propose" else sample(chosen.n_generate)


def wire(run: Run) -> Graph:
    """Wires Algorithm 1."""

    async def generate(state: SearchState) -> dict[str, Any]:
        """Line 3, for as many states as the limits allow; one drawn twice is expanded twice."""
        step = Step(run, state)
        settings = TotBfsSettings.of(state["settings"])
        each = settings.n_generate if settings.generate == "sample" else 1
        due = frontier(state)[: expansions_allowed(state, each=each)]
        answers = await step.ask(
            [
                expansion(run, state, generator, key, due[:at].count(key))
                for at, key in enumerate(due)
            ]
        )
        new = place(state, drafted(answers))
        draws_left(state, new, [each.ask.about for each in answers])
        step.count(thoughts=len(new.new), expansions=len(answers))
        return step.update(
            thoughts=new.tree,
            stop_reason="" if new.complete else "budget",
        )

    async def evaluate(state: SearchState) -> dict[str, Any]:
        """Line 4: each distinct state is judged by itself, or all are compared with each other."""
        step = Step(run, state)
        if _votes(state["settings"]):
            tree = voted(state, await step.ask(vote(run, state)))
            step.count(evaluated=len(tree))
            return step.update(thoughts=tree)
        found = valuation(run, state)
        answers = await step.ask(found.asks)
        step.count(evaluated=len(answers), cached=found.reused)
        return step.update(thoughts=found.judged(answers))

    async def judged(state: SearchState) -> Literal["review", "select"]:
        """Shows a person the round first, under `review="select"`."""
        return "review" if reviews(state, complete_round) else "select"

    async def again(state: SearchState) -> Literal["generate", "answer"]:
        """Line 2; what a limit left undone in a step is done before the next one."""
        last = state["step"] == TotBfsSettings.of(state["settings"]).steps
        return "generate" if unready(state) and not state["stop_reason"] and not last else "answer"

    graph = method_graph(run)
    graph.add_node(guarded(run, generate))
    graph.add_node(guarded(run, evaluate))
    graph.add_node("select", guarded(run, select_states(run)))
    compared = levels_of("votes", wanted=_votes)
    best = answer(run, pick=outputs, tally=compared)
    add_answer(graph, run, best, candidates=complete_round)
    graph.add_conditional_edges("start", admitted, {"begins": "generate", "refused": "answer"})
    graph.add_edge("generate", "evaluate")
    graph.add_conditional_edges("evaluate", judged)
    graph.add_conditional_edges("select", again)
    return graph


def _votes(settings: Mapping[str, Any]) -> bool:
    return TotBfsSettings.of(settings).evaluate == "vote"


TOT_BFS = Method(METHODS["tot_bfs"], TotBfsSettings, generator, wire)
