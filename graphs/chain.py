"""Chain Reasoning: one step after the other, never back (baseline of Thought Rollback, section 5).

    z_i ~ p(z | q, z_1, ..., z_i-1)                                   generate
    z_i becomes a thought; the first with a solution is the last      generate
    the solution of z_n                                               answer

The steps are asked for exactly as `rollback` asks for them without experiences, of which its system
prompt does not speak (the wording of appendix B.3 without them).
"""

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer, terminal
from thoughtgraph.nodes.limits import thoughts_left
from thoughtgraph.nodes.method_graph import MethodGraph
from thoughtgraph.nodes.reasoning_steps import end_reason, may_step, next_step, step_ask, steps_of
from thoughtgraph.nodes.start import start
from thoughtgraph.nodes.step import Run
from thoughtgraph.parts import Parts
from thoughtgraph.settings.rollback import ChainSettings
from thoughtgraph.state import SearchState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how steps are generated."""
    return next_step()


def wire(parts: Parts) -> MethodGraph:
    """Wires the chain."""
    run = Run(parts)

    async def generate(state: SearchState) -> dict[str, Any]:
        """The one next step of the chain."""
        step = run.step(state)
        answers = await step.ask([step_ask(parts, state, generator, state["frontier"][0], 0)])
        placed = steps_of(state, answers)
        if not placed.new:
            return step.update(stop_reason="budget")
        reason, left = end_reason(next(iter(placed.new.values())))
        if not reason and thoughts_left(state) == 1:
            reason = "budget"
        step.count(thoughts=1, expansions=1, rounds=1)
        return step.update(tree=placed.tree, frontier=left, stop_reason=reason)

    graph = MethodGraph(parts)
    graph.add_node("start", start(parts))
    graph.add_step(generate)
    graph.add_node("answer", answer(parts, pick=terminal, cut_short=terminal))
    graph.add_edge(START, "start")
    graph.add_conditional_edges("start", go_on)
    graph.add_conditional_edges("generate", go_on)
    graph.add_edge("answer", END)
    return graph


async def go_on(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next step until one has the solution or a limit is reached."""
    return "generate" if may_step(state) else "answer"


CHAIN = Method(METHODS["chain"], ChainSettings, generator, wire)
