"""Tree of Thoughts, depth first: Algorithm 2 of Yao et al. 2023 (arXiv 2305.10601).

    DFS(s, t, p, G, k, V, T, v_th)

    1  if t > T then record the output G(p, s, 1)                     select
    2  for s' in G(p, s, k), candidates sorted                        generate, select
    3      if V(p, {s'}) > v_th                                       evaluate, select
    4          DFS(s', t + 1)                                         select -> generate
       (nothing left to try in s)                                     backtrack

The recursion is a stack in the state, so a search can be stopped and resumed anywhere. `generate`
opens a frame of candidates, sorted by the generator's own score where the task asks for one;
`select` writes down the state that was judged and goes into it, or else takes the top frame's next
candidate, and `backtrack` closes a frame. As in the official crosswords code, a state is judged
when it is visited and a candidate that alters what an earlier thought fixed is passed over. What
the evaluator undervalues is lost with everything below it; `variant="no_prune"` descends regardless
and `variant="no_backtrack"` follows the best candidate only (both are rows of the paper's Table 3).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.depth_first.candidates import backtrack, expand_next, initial_state
from thoughtgraph.nodes.depth_first.visit import awaits_verdict, evaluate_state, visit
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.generators import propose, sample
from thoughtgraph.nodes.limits import may_begin
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.review import reviewed_after
from thoughtgraph.run import Run
from thoughtgraph.settings.tot import TotDfsSettings
from thoughtgraph.state import DfsState, SearchState
from thoughtgraph.tree import Thought


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how thoughts are generated."""
    chosen = TotDfsSettings.of(settings)
    if chosen.generate == "propose":
        return propose(chosen.proposal_samples)
    return sample(chosen.n_generate)


def wire(run: Run) -> Graph:
    """Wires Algorithm 2."""
    graph = method_graph(run, DfsState, **initial_state())
    graph.add_node(guarded(run, expand_next(run, generator)))
    graph.add_node("select", guarded(run, reviewed_after(visit(run))))
    graph.add_node(guarded(run, evaluate_state(run)))
    graph.add_node("backtrack", guarded(run, backtrack))
    add_answer(graph, run, answer(run, pick=outputs, cut_short=outputs))
    graph.add_conditional_edges("start", begin)
    graph.add_conditional_edges("generate", go_on)
    graph.add_conditional_edges("select", visit_next)
    graph.add_edge("evaluate", "select")
    graph.add_conditional_edges("backtrack", go_on)
    return graph


async def begin(state: DfsState) -> Literal["generate", "answer"]:
    """Routes to the first expansion, if a request is allowed."""
    return "generate" if may_begin(state) else "answer"


async def visit_next(
    state: DfsState,
) -> Literal["generate", "evaluate", "select", "backtrack", "answer"]:
    """Routes into the state that was recorded, to the judgement of the next, or back."""
    if state["stop_reason"]:
        return "answer"
    if state["frontier"]:
        return "generate"
    if not state["visiting"]:
        return "backtrack"
    return "evaluate" if awaits_verdict(state) else "select"


async def go_on(state: DfsState) -> Literal["select", "answer"]:
    """Routes to the top frame's next candidate unless the search has ended."""
    return "answer" if state["stop_reason"] else "select"


def outputs(state: SearchState) -> list[str]:
    """Returns what a search puts out: the outputs in order, else the deepest states it visited."""
    thoughts = visited(state["thoughts"].values())
    passed = [thought for thought in thoughts if thought["status"] == "terminal"]
    if passed and TotDfsSettings.of(state["settings"]).answer_from == "outputs":
        return [thought["id"] for thought in passed]
    deepest = max((thought["depth"] for thought in thoughts), default=0)
    return [thought["id"] for thought in thoughts if thought["depth"] == deepest]


def visited(thoughts: Iterable[Thought]) -> list[Thought]:
    """Returns the thoughts that a search recorded, in the order of its visits."""
    return sorted((t for t in thoughts if "visit" in t), key=lambda thought: thought["visit"])


TOT_DFS = Method(METHODS["tot_dfs"], TotDfsSettings, generator, wire)
