"""ToT Reasoning: level by level, the best of several next steps (baseline of Thought Rollback).

    candidates <- 5 next steps of the best step so far, in one request    generate
    each is scored in [0, 1]                                              evaluate
    the best one stays; of equally good ones the first                    select
    the solution of the first best step that has one                      answer

As in the official code there is no way back: a level's other candidates are lost.
"""

from collections.abc import Mapping
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer, terminal
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.reasoning_steps import may_step, next_step, step_ask, steps_of
from thoughtgraph.nodes.review import reviews
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.stepwise.score import keep_best, level, score
from thoughtgraph.nodes.tally import levels_of
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import LevelTotSettings
from thoughtgraph.state import SearchState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how steps are generated."""
    return next_step(LevelTotSettings.of(settings).n_generate)


def wire(run: Run) -> Graph:
    """Wires the levels."""

    async def generate(state: SearchState) -> dict[str, Any]:
        """A level's candidates."""
        step = Step(run, state)
        answers = await step.ask([step_ask(run, state, generator, state["frontier"][0], 0)])
        placed = steps_of(state, answers)
        step.count(thoughts=len(placed.new), expansions=len(answers))
        return step.update(thoughts=placed.tree, generation=list(placed.new))

    graph = method_graph(run)
    graph.add_node(guarded(run, generate))
    graph.add_node(guarded(run, score(run)))
    graph.add_node("select", guarded(run, keep_best))
    best = answer(run, pick=terminal, cut_short=terminal, tally=levels_of("scores"))
    add_answer(graph, run, best, candidates=level)
    graph.add_conditional_edges("start", go_on)
    graph.add_edge("generate", "evaluate")
    graph.add_conditional_edges("evaluate", show)
    graph.add_conditional_edges("select", go_on)
    return graph


async def show(state: SearchState) -> Literal["review", "select"]:
    """Shows a person the candidates first, under `review="select"`."""
    return "review" if reviews(state, level) else "select"


async def go_on(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next level until one has the solution or a limit is reached."""
    return "generate" if may_step(state) else "answer"


LEVEL_TOT = Method(METHODS["level_tot"], LevelTotSettings, generator, wire)
