"""Chain Reasoning: one step after the other, never back (baseline of Thought Rollback, section 5).

    z_i ~ p(z | q, z_1, ..., z_i-1)                                   generate
    z_i becomes a thought; the first with a solution is the last      generate
    the solution of z_n                                               answer

The steps are asked for exactly as `rollback` asks for them without experiences, of which its system
prompt does not speak (the wording of appendix B.3 without them).
"""

from collections.abc import Mapping
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer, terminal
from thoughtgraph.nodes.finish import add_answer
from thoughtgraph.nodes.limits import may_begin, thoughts_left
from thoughtgraph.nodes.method_graph import Graph, method_graph
from thoughtgraph.nodes.node import guarded
from thoughtgraph.nodes.reasoning_steps import end_reason, next_step, step_ask, steps_of
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import ChainSettings
from thoughtgraph.state import SearchState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how steps are generated."""
    return next_step()


def wire(run: Run) -> Graph:
    """Wires the chain."""

    async def generate(state: SearchState) -> dict[str, Any]:
        """The one next step of the chain."""
        step, latest = Step(run, state), next(reversed(state["thoughts"]))
        placed = steps_of(state, await step.ask([step_ask(run, state, generator, latest, 0)]))
        if not placed.new:
            return step.update(stop_reason="budget")
        last = thoughts_left(state) == 1
        reason = end_reason(next(iter(placed.new.values()))) or ("budget" if last else "")
        step.count(thoughts=1, expansions=1, rounds=1)
        return step.update(thoughts=placed.tree, stop_reason=reason)

    graph = method_graph(run)
    graph.add_node(guarded(run, generate))
    add_answer(graph, run, answer(run, pick=terminal, cut_short=terminal))
    graph.add_conditional_edges("start", go_on)
    graph.add_conditional_edges("generate", go_on)
    return graph


async def go_on(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next step until one has the solution or a limit is reached."""
    latest = state["thoughts"][next(reversed(state["thoughts"]))]
    return "generate" if may_begin(state) and latest["status"] == "open" else "answer"


CHAIN = Method(METHODS["chain"], ChainSettings, generator, wire)
