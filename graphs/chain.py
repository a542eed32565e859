"""Chain Reasoning: one step after another, never back (baseline of Thought Rollback, section 5).

    z_i ~ p(z | q, z_1, ..., z_i-1)                                   generate
    z_i becomes a thought; the first with a solution is the last      generate
    the solution of z_n                                               answer

The requests are those of `rollback` without experiences, except that the system prompt does not
mention experiences (the wording of appendix B.3 without them).
"""

from functools import partial
from typing import Any, Literal

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method
from thoughtgraph.nodes.answer import answer, terminal
from thoughtgraph.nodes.limits import may_begin, thoughts_left
from thoughtgraph.nodes.method_graph import Graph, add_answer, method_graph
from thoughtgraph.nodes.reasoning_steps import end_reason, step_ask, steps_of
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.settings.rollback import ChainSettings
from thoughtgraph.state import SearchState


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests z_i and adds it to the tree; a step with a solution ends the search."""
    latest = next(reversed(state["thoughts"]))
    placed = steps_of(state, await step.ask([step_ask(step, latest)]))
    if not placed.new:
        return step.update(stop_reason="budget")
    is_last = thoughts_left(state) == 1
    reason = end_reason(next(iter(placed.new.values()))) or ("budget" if is_last else "")
    step.count(thoughts=1, expansions=1, rounds=1)
    return step.update(thoughts=placed.tree, stop_reason=reason)


async def go_on(state: SearchState) -> Literal["generate", "answer"]:
    """Routes to the next step until one has the solution or a limit is reached."""
    latest = state["thoughts"][next(reversed(state["thoughts"]))]
    return "generate" if may_begin(state) and latest["status"] == "open" else "answer"


def wire(run: Run) -> Graph:
    """Wires the chain."""
    graph = method_graph(run, generate)
    add_answer(graph, run, partial(answer, pick=terminal))
    graph.add_conditional_edges("start", go_on)
    graph.add_conditional_edges("generate", go_on)
    return graph


CHAIN = Method(METHODS["chain"], ChainSettings, wire)
