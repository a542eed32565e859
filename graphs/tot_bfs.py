"""Tree of Thoughts, breadth first: Algorithm 1 of Yao et al. 2023 (arXiv 2305.10601).

    Require: input x, p, generator G(), states k, evaluator V(), step limit T, breadth b

    1  S_0 <- {x}                                                     start
    2  for t = 1, ..., T do                                           again
    3      S'_t <- {[s, z] | s in S_{t-1}, z in G(p, s, k)}           generate, register
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

from langgraph.graph import END, START
from langgraph.types import Send

from thoughtgraph.entries import METHODS
from thoughtgraph.fan_out import SendArg
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.evaluate import evaluate, value_sends, vote_sends
from thoughtgraph.nodes.generate import generate, propose, sample
from thoughtgraph.nodes.limits import expansions_allowed, requests_left
from thoughtgraph.nodes.method_graph import MethodGraph
from thoughtgraph.nodes.register import register_thoughts
from thoughtgraph.nodes.review import reviewed, this_round
from thoughtgraph.nodes.select import select_states
from thoughtgraph.nodes.start import start
from thoughtgraph.nodes.tally import levels_of
from thoughtgraph.parts import Parts
from thoughtgraph.settings.tot import TotBfsSettings
from thoughtgraph.state import SearchState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how thoughts are generated."""
    chosen = TotBfsSettings.of(settings)
    return propose() if chosen.generate == "propose" else sample(chosen.n_generate)


def wire(parts: Parts) -> MethodGraph:
    """Wires Algorithm 1."""

    async def expand(state: SearchState) -> list[Send] | Literal["answer"]:
        return _generations(state) or "answer"

    async def judge(state: SearchState) -> list[Send] | Literal["select"]:
        return _generations(state) or _judgements(parts, state) or "select"

    async def again(state: SearchState) -> list[Send] | Literal["answer"]:
        if state["stop_reason"] or state["step"] == TotBfsSettings.of(state["settings"]).steps:
            return "answer"
        # Nothing is left where a person pruned all there was.
        return _generations(state) or _judgements(parts, state) or "answer"

    graph = MethodGraph(parts)
    graph.add_node("start", start(parts))
    graph.add_node("generate", generate(parts, generator))
    graph.add_node("register", register_thoughts(parts))
    graph.add_node("evaluate", evaluate(parts))
    graph.add_node("select", reviewed(select_states(parts), this_round))
    voted = levels_of("votes", wanted=_votes)
    graph.add_node("answer", answer(parts, pick=lambda state: state["frontier"], tally=voted))
    graph.add_edge(START, "start")
    graph.add_conditional_edges("start", expand, ["generate", "answer"])
    graph.add_edge("generate", "register")
    graph.add_conditional_edges("register", judge, ["generate", "evaluate", "select"])
    graph.add_edge("evaluate", "select")
    graph.add_conditional_edges("select", again, ["generate", "evaluate", "answer"])
    graph.add_edge("answer", END)
    return graph


def _generations(state: SearchState) -> list[Send]:
    """Line 3: one task for each state to expand, as many as the limits allow."""
    settings = TotBfsSettings.of(state["settings"])
    each = settings.n_generate if settings.generate == "sample" else 1
    allowed = 0 if state.get("stop_reason") else expansions_allowed(state, each=each)
    frontier = state["frontier"][:allowed]
    return [
        Send("generate", SendArg(thought=key, expansion=frontier[:at].count(key)))
        for at, key in enumerate(frontier)
    ]


def _judgements(parts: Parts, state: SearchState) -> list[Send]:
    """Line 4: one task for each distinct state to value, or one for a whole vote."""
    if state.get("stop_reason"):
        return []
    sends = vote_sends(state) if _votes(state["settings"]) else value_sends(parts, state)
    return sends[: requests_left(state)]


def _votes(settings: Mapping[str, Any]) -> bool:
    return TotBfsSettings.of(settings).evaluate == "vote"


TOT_BFS = Method(METHODS["tot_bfs"], TotBfsSettings, generator, wire)
