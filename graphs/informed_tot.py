"""Informed Tree of Thought: Algorithms 1 to 3 of Mousavi et al. 2024, and the paper's baselines.

    g(root), f(root) <- 0, 0; O <- {root}                                   start
    for r = 1, ..., R do                                                    select
        s <- argmin over O of (f, -depth, id); remove s from O              select
        if s is terminal then return s                                      select -> answer
        if depth(s) > L then continue                                       select -> select
        C <- the distinct ones of K samples of pi(. | s)                    generate
        for s' in C: carry out its action                                   call_tool
            g(s') <- g(s) + V_T(tool)                                       call_tool
            if it failed: g(s') += delta_T; PROPAGATE(s')                   call_tool, propagate
            f(s') <- g(s') - lambda V(s'); O <- O + {s'}                    evaluate, select
    PROPAGATE(s): while g(parent(s)) < g(s) do
        s <- parent(s); g(s) += delta_T; update f(s); O <- O + {s}          propagate

    itot_a_star        as above without the line of failures
    itot_d_star_lite   as above
    itot_best_first    V_T = 0
    itot_dfs           V_T = 0, no V: the youngest thought is next

The names promise more than the methods keep. A* finds a cheapest path when its heuristic never
overestimates what is left to pay: -V is no such estimate, and the values of a model share no unit
with the costs of tools. So no answer is the cheapest or the best, f may fall along a path, and
`value_weight` decides what a point of V is worth. Of D* Lite only one idea is left: a changed cost
reopens the thoughts that it concerns, which then get fresh samples. Every child's tool is called
when the child is made: `tool_cost`, which is paid, is at least `tool_cost_path`, which is what g
counts. The printed box cannot run, and three things in it are repaired: the root costs 0, where it
costs infinity in print; V_h is read as -V; a thought that is taken leaves O. The tools of a round
run side by side, then its failures propagate once, in the order of the samples and from g(s) as it
was; then its children are valued side by side. An action that calls no tool, because it cannot be
read or names none, adds to g what the dearest call adds (ours), so never less than a failed call.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.actions import next_actions
from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.informed.estimate import estimate
from thoughtgraph.nodes.informed.propagate import (
    Rank,
    call_tools,
    failures,
    new_thoughts,
    propagate,
)
from thoughtgraph.nodes.informed.queue import (
    expand_all,
    pop_next,
    returned_thoughts,
    to_expand,
    waiting,
)
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.review import reviews
from thoughtgraph.nodes.start import admitted
from thoughtgraph.run import Run
from thoughtgraph.settings import Settings
from thoughtgraph.settings.informed import ItotDfsSettings, ItotDStarLiteSettings, ValuedSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Thought

ORIGIN: Thought = {"cost": 0.0, "priority": 0.0}
"""g and f of the root."""


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how thoughts are generated."""
    return next_actions("itot", ItotDfsSettings.of(settings).n_generate)


def wire(rank: Rank, run: Run) -> Graph:
    """Wires Algorithm 1; `rank` is the order of the open set."""

    async def expand(state: SearchState) -> Literal["generate", "select", "answer"]:
        """Routes to the expansions of this round; to the next one when nothing may be expanded."""
        if state["stop_reason"]:
            return "answer"
        return "generate" if to_expand(state) else "select"

    async def act(state: SearchState) -> Literal["call_tool", "select", "answer"]:
        """Routes past the tools where a further expansion found nothing new."""
        if state["stop_reason"]:
            return "answer"
        return "select" if rank.propagates and not new_thoughts(state) else "call_tool"

    async def judge(state: SearchState) -> Literal["propagate", "evaluate"]:
        """Routes to the thoughts above the calls that failed."""
        failed = rank.propagates and failures(state) and not state["stop_reason"]
        return "propagate" if failed else "evaluate"

    async def show(state: SearchState) -> Literal["review", "select"]:
        """Shows a person the open set first, under `review="select"`."""
        return "review" if reviews(state, waiting) else "select"

    graph = method_graph(run, origin=ORIGIN)
    graph.add_node("select", guarded(run, pop_next(run, rank)))
    graph.add_node(guarded(run, expand_all(run, generator)))
    graph.add_node(guarded(run, call_tools(run, rank)))
    returned = answer(run, pick=returned_thoughts, cut_short=returned_thoughts)
    add_answer(graph, run, returned, candidates=waiting)
    graph.add_conditional_edges("start", admitted, {"begins": "select", "refused": "answer"})
    graph.add_conditional_edges("select", expand)
    # Only a thought that was expanded before can have nothing new.
    again = ["select"] if rank.propagates else []
    graph.add_conditional_edges("generate", act, ["call_tool", "answer", *again])
    if rank.judges:
        graph.add_node(guarded(run, estimate(run)))
        graph.add_conditional_edges("evaluate", show)
    if rank.propagates:
        graph.add_node("propagate", guarded(run, propagate(run, rank)))
        graph.add_edge("propagate", "evaluate")
        graph.add_conditional_edges("call_tool", judge)
    elif rank.judges:
        graph.add_edge("call_tool", "evaluate")
    else:
        graph.add_conditional_edges("call_tool", show)
    return graph


def informed(name: str, settings: type[Settings], rank: Rank) -> Method:
    """Returns the method that differs from the others of this file in its settings and its rank."""
    return Method(METHODS[name], settings, generator, partial(wire, rank))


ITOT_A_STAR = informed("itot_a_star", ValuedSettings, Rank(pays=True, judges=True))
ITOT_D_STAR_LITE = informed(
    "itot_d_star_lite", ItotDStarLiteSettings, Rank(pays=True, judges=True, propagates=True)
)
ITOT_BEST_FIRST = informed("itot_best_first", ValuedSettings, Rank(pays=False, judges=True))
ITOT_DFS = informed("itot_dfs", ItotDfsSettings, Rank(pays=False, judges=False))
