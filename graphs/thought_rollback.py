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
    5      m <- the first in B with fewer than U rollbacks to z_m-1   decide
    6      if there is one, add a rollback edge from z_n to z_m-1,
           with the path and its analysis as an experience            rollback
    7      z <- next step, given the path and its experiences         generate
    8      z becomes a thought; one with a solution ends its path     register
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

from langgraph.graph import END, START
from langgraph.types import Send

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.method_graph import MethodGraph
from thoughtgraph.nodes.reasoning_steps import generate_step, next_step, register_steps
from thoughtgraph.nodes.review import reviewed
from thoughtgraph.nodes.rollback.analyse import analyse, extract_index
from thoughtgraph.nodes.rollback.controller import decide, rollback
from thoughtgraph.nodes.rollback.ensemble import ensemble
from thoughtgraph.nodes.rollback.schedule import begin_round, end_of_search, open_paths, round_sends
from thoughtgraph.nodes.start import start
from thoughtgraph.parts import Parts
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import RollbackState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how steps are generated."""
    return next_step()


def wire(parts: Parts) -> MethodGraph:
    """Wires the search."""
    graph = MethodGraph(parts, state=RollbackState)
    graph.add_node("start", start(parts, chosen={}, pending=[], solutions=[]))
    # Deferred: a round ends when both its new thoughts and its decisions are in the state.
    graph.add_node("select", reviewed(begin_round, open_paths), defer=True)
    graph.add_node("analyse", analyse(parts))
    graph.add_node("extract_index", extract_index(parts))
    graph.add_node("decide", decide)
    graph.add_node("rollback", rollback)
    graph.add_node("generate", generate_step(parts, generator))
    graph.add_node("register", register_steps)
    graph.add_node("ensemble", ensemble(parts, end_of_search))
    graph.add_edge(START, "start")
    graph.add_edge("start", "select")
    targets = ["analyse", "extract_index", "generate", "ensemble"]
    graph.add_conditional_edges("select", begin, targets)
    graph.add_conditional_edges("analyse", read_off, ["extract_index", "decide", "select"])
    graph.add_edge("extract_index", "decide")
    graph.add_conditional_edges("decide", correct, ["rollback", "generate", "select"])
    graph.add_conditional_edges("rollback", regrow, ["generate", "select"])
    graph.add_edge("generate", "register")
    graph.add_edge("register", "select")
    graph.add_edge("ensemble", END)
    return graph


async def begin(state: RollbackState) -> list[Send] | Literal["ensemble"]:
    """Routes to the requests of a round."""
    return round_sends(state) or "ensemble"


async def read_off(state: RollbackState) -> list[Send] | Literal["decide", "select"]:
    """Routes on once the bad steps are named, else to the reading of the analysis.

    That is part of the next round in parallel. An empty analysis names none, without a reading.
    """
    return "decide" if state.get("reports") else _next(state, "extract_index")


async def correct(state: RollbackState) -> list[Send] | Literal["rollback", "select"]:
    """Routes back if a bad step was found, else on to the path's next step."""
    return "rollback" if state["chosen"] else _next(state, "generate")


async def regrow(state: RollbackState) -> list[Send] | Literal["select"]:
    """Routes to the new branch of a rollback, which in parallel is part of the next round."""
    return _next(state, "generate")


def _next(state: RollbackState, node: str) -> list[Send] | Literal["select"]:
    """Returns the one request that is due, if it is for that node; rounds begin at `select`."""
    sends = [] if RollbackSettings.of(state["settings"]).parallel else round_sends(state)
    return sends if sends and sends[0].node == node else "select"


ROLLBACK = Method(METHODS["rollback"], RollbackSettings, generator, wire)
