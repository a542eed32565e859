"""Thought Rollback: reasoning that goes back to before a mistake (Chen and Li 2024, ICML).

    Require: question q, solutions wanted K, rollbacks into one thought U,
             rollbacks a path may have left and still be analysed: path_rollbacks

    1  open <- {q}                                                    start
    2  while fewer than K solutions and a path is open                select
           take the open path made with most experiences, ties
           depth first; with `parallel` all open paths
    3      the path from the root to its last thought z_n is
           analysed, once, unless more than path_rollbacks left it    analyse
    4      B <- the indexes of its bad steps                          extract_index
    5      m <- the first in B with fewer than U rollbacks to z_m-1   rollback
    6      if there is one, add a rollback edge from z_n to z_m-1,
           with the path and its analysis as an experience            rollback
    7      z <- next step, given the path and its experiences         generate
    8      z becomes a thought; one with a solution ends its path     generate
    9  return the winner of a weighted vote of the solutions          ensemble

With `parallel` every open path takes a step in each round, while it is analysed: in either mode a
path that turns out to be bad goes on beside the new branch (unless `drop_paths`). A round's
decisions are applied in the order of ids, whatever the timing. `parallel=false` is the paper's
order, one request at a time; in either mode 9 takes the solutions in that order, and gives the
answer of every ensemble beside its own. With `ensemble=first` 2 ends with the first solution that
has an answer. If no step is ever found bad it asks for the steps that `chain` asks for, with one
sentence more in the system prompt, on experiences.
"""

from collections.abc import Mapping
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.reasoning_steps import next_step
from thoughtgraph.nodes.rollback.analyse import analyse, extract_index
from thoughtgraph.nodes.rollback.controller import rollback
from thoughtgraph.nodes.rollback.ensemble import ensemble
from thoughtgraph.nodes.rollback.grow import grow
from thoughtgraph.nodes.rollback.schedule import (
    begin_round,
    due_at,
    end_of_search,
    plan,
)
from thoughtgraph.nodes.start import admitted
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import RollbackState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how steps are generated."""
    return next_step()


def wire(run: Run) -> Graph:
    """Wires the search."""
    graph = method_graph(run, RollbackState, pending=[], ends=[])
    graph.add_node("select", guarded(run, begin_round))
    graph.add_node(guarded(run, analyse(run)))
    graph.add_node(guarded(run, extract_index(run)))
    graph.add_node("rollback", guarded(run, rollback))
    graph.add_node(guarded(run, grow(run, generator)))
    add_answer(graph, run, ensemble(run, end_of_search), "ensemble")
    graph.add_conditional_edges("start", admitted, {"begins": "select", "refused": "ensemble"})
    targets = ["analyse", "extract_index", "generate", "ensemble"]
    graph.add_conditional_edges("select", begin, targets)
    graph.add_conditional_edges("analyse", read_off)
    graph.add_edge("extract_index", "rollback")
    graph.add_conditional_edges("generate", end_round)
    graph.add_conditional_edges("rollback", regrow)
    return graph


async def begin(state: RollbackState) -> list[str]:
    """Routes to the requests of a round."""
    return [*dict.fromkeys(due.node for due in plan(state))] or ["ensemble"]


async def read_off(state: RollbackState) -> Literal["extract_index", "rollback"]:
    """Routes to the reading of the analysis; in parallel that is part of the next round."""
    return "extract_index" if _is_next(state, "extract_index") else "rollback"


async def end_round(state: RollbackState) -> Literal["rollback", "select"]:
    """Routes to where the requests of a round in parallel join."""
    return "rollback" if RollbackSettings.of(state["settings"]).parallel else "select"


async def regrow(state: RollbackState) -> Literal["generate", "select"]:
    """Routes to the path's next step, or a rollback's; in parallel it is part of the next round."""
    return "generate" if _is_next(state, "generate") else "select"


def _is_next(state: RollbackState, node: str) -> bool:
    """Returns whether the one request that is due is that node's; rounds begin at `select`."""
    return not RollbackSettings.of(state["settings"]).parallel and bool(due_at(state, node))


ROLLBACK = Method(METHODS["rollback"], RollbackSettings, generator, wire)
