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

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.types import Send
from pydantic import Field

from thoughtgraph.nodes.chart import Chart, chart
from thoughtgraph.nodes.generate import Way
from thoughtgraph.nodes.rollback.analyse import EXTRACTED, analyse, extract_index
from thoughtgraph.nodes.rollback.ensemble import Ensemble, ensemble
from thoughtgraph.nodes.rollback.growth import choose, due
from thoughtgraph.nodes.rollback.rollback import decide, rollback
from thoughtgraph.nodes.rollback.structure import Scope
from thoughtgraph.nodes.start import start
from thoughtgraph.nodes.steps import generate_step, next_step, register_steps
from thoughtgraph.parts import Parts
from thoughtgraph.settings import ReasoningSettings
from thoughtgraph.state import RollbackState
from thoughtgraph.task import Steps


class RollbackSettings(ReasoningSettings):
    """What `rollback` can be told."""

    parallel: bool = Field(
        True,
        description="Grow all open paths at once (appendix B.4, third trick), or one request at a "
        "time, so that every step is shown all there is to learn. Both find the same thoughts if "
        "they end `exhausted`, neither `solutions` nor `incoming` was reached, `drop_paths` is off "
        "and experiences are `from_edges` or rollbacks leave finished paths alone. Solutions are "
        "put into the order of one at a time.",
    )
    solutions: int = Field(
        8, ge=1, le=1000, description="K: stop after this many solutions (official code: 8)."
    )
    incoming: int = Field(
        3, ge=0, le=1000, description="U: most rollbacks into one thought (official code: 3)."
    )
    path_rollbacks: int = Field(
        3,
        ge=0,
        le=1000,
        description="A path that more rollbacks than this have left is no longer analysed "
        "(official code: 3, hence at most 4). One leaves each thought at most.",
    )
    drop_paths: bool = Field(
        False,
        description="Also stop growing such a path (paper: 'ignored'; official code: off). With "
        "`parallel` it has gone on for a round or two by then.",
    )
    ensemble: Ensemble = Field(
        "ratio",
        description="The answer. ratio, difference: the winner of a vote (section 4.4: W-Voting); "
        "a solution weighs (1 + experiences) / (1 + rollbacks), or 1 + experiences - rollbacks "
        "(formulas ours, the paper's is lost). majority: each weighs 1. first: the first solution "
        "that growing one path at a time would find (TR); the search stops once it is known. last: "
        "the last one.",
    )
    protocol: Literal["two_call", "single_call"] = Field(
        "two_call",
        description="Analyse and name the bad steps in two requests (the paper's experiments), or "
        "in one (official code since December 2024).",
    )
    growth_order: Literal["experience", "dfs"] = Field(
        "experience",
        description="Which open path grows first: that made with most experiences (appendix B.4), "
        "or depth first (official code). With `parallel` all grow; this orders their solutions.",
    )
    experiences: bool = Field(
        True, description="Show mistakes and their analysis to later steps (section 4.3: on)."
    )
    experience_scope: Scope = Field(
        "incoming",
        description="Which mistakes a step is shown: incoming, of all rollbacks to a thought of "
        "its path so far (section 4.3, appendix D), or from_edges, of those alone that led to the "
        "path's thoughts (official code).",
    )
    stop_settled: bool = Field(
        False,
        description="Stop once no further solution can change the answer (ours: off; `first` "
        "always does). With `parallel` an early one counts once nothing that comes before it is "
        "open.",
    )
    limit_requests: int | None = Field(
        300, ge=0, description="Most requests to the model (ours: 300). None: no limit."
    )


SETTINGS = RollbackSettings


def needs(settings: Mapping[str, Any]) -> Sequence[type]:
    """Returns the capabilities a task must have."""
    return [Steps]


def way(settings: Mapping[str, Any]) -> Way:
    """Returns how steps are generated."""
    return next_step


def build(parts: Parts) -> Chart:
    """Wires the search."""
    graph = chart(parts, state=RollbackState)
    graph.add_node("start", start(parts, chosen={}, pending=[], solutions=[]))
    # Deferred: a round ends when both its new thoughts and its decisions are in the state.
    graph.add_node("select", choose(), defer=True)
    graph.add_node("analyse", analyse(parts))
    graph.add_node("extract_index", extract_index(parts))
    graph.add_node("decide", decide())
    graph.add_node("rollback", rollback())
    graph.add_node("generate", generate_step(parts, way))
    graph.add_node("register", register_steps())
    graph.add_node("ensemble", ensemble(parts))
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
    return due(state) or "ensemble"


async def read_off(state: RollbackState) -> list[Send] | Literal["decide", "select"]:
    """Routes to the reading of an analysis, which in parallel is part of the next round."""
    if state["settings"]["protocol"] != EXTRACTED:
        return "decide"
    return _next(state, "extract_index")


async def correct(state: RollbackState) -> list[Send] | Literal["rollback", "select"]:
    """Routes back if a bad step was found, else on to the path's next step."""
    return "rollback" if state["chosen"] else _next(state, "generate")


async def regrow(state: RollbackState) -> list[Send] | Literal["select"]:
    """Routes to the new branch of a rollback, which in parallel is part of the next round."""
    return _next(state, "generate")


def _next(state: RollbackState, node: str) -> list[Send] | Literal["select"]:
    """Returns the one request that is due, if it is for that node; rounds begin at `select`."""
    sends = [] if state["settings"]["parallel"] else due(state)
    return sends if sends and sends[0].node == node else "select"
