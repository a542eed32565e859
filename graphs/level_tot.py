"""ToT Reasoning: level by level, the best of several next steps (baseline of Thought Rollback).

    candidates <- 5 next steps of the best step so far, in one request    generate, register
    each is scored in [0, 1]                                              evaluate
    the best one stays; of equally good ones the first                    select
    the solution of the first best step that has one                      answer

As in the official code there is no way back: a level's other candidates are lost.
"""

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.types import Send

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer, terminal
from thoughtgraph.nodes.judge import judgement_sends
from thoughtgraph.nodes.method_graph import MethodGraph
from thoughtgraph.nodes.reasoning_steps import (
    add_steps,
    generate_step,
    next_step,
    step_sends,
)
from thoughtgraph.nodes.review import reviewed
from thoughtgraph.nodes.start import start
from thoughtgraph.nodes.stepwise.score import keep_best, level, score
from thoughtgraph.nodes.tally import levels_of
from thoughtgraph.parts import Parts
from thoughtgraph.settings.rollback import LevelTotSettings
from thoughtgraph.state import SearchState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how steps are generated."""
    return next_step(LevelTotSettings.of(settings).n_generate)


def wire(parts: Parts) -> MethodGraph:
    """Wires the levels."""
    graph = MethodGraph(parts)
    graph.add_node("start", start(parts))
    graph.add_node("generate", generate_step(parts, generator))
    graph.add_node("register", add_steps)
    graph.add_node("evaluate", score(parts))
    graph.add_node("select", reviewed(keep_best, level))
    graph.add_node(
        "answer",
        answer(parts, pick=terminal, cut_short=terminal, tally=levels_of("scores")),
    )
    graph.add_edge(START, "start")
    graph.add_conditional_edges("start", go_on, ["generate", "answer"])
    graph.add_edge("generate", "register")
    graph.add_conditional_edges("register", judge, ["evaluate", "select"])
    graph.add_edge("evaluate", "select")
    graph.add_conditional_edges("select", go_on, ["generate", "answer"])
    graph.add_edge("answer", END)
    return graph


async def judge(state: SearchState) -> list[Send] | Literal["select"]:
    """Routes to one score a candidate, as many as the limits allow."""
    return judgement_sends(state) or "select"


async def go_on(state: SearchState) -> list[Send] | Literal["answer"]:
    """Routes to the next level until one has the solution or a limit is reached."""
    return step_sends(state) or "answer"


LEVEL_TOT = Method(METHODS["level_tot"], LevelTotSettings, generator, wire)
