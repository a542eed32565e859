"""Chain Reasoning: one step after the other, never back (baseline of Thought Rollback, section 5).

    z_i ~ p(z | q, z_1, ..., z_i-1)                                   generate
    z_i becomes a thought; the first with a solution is the last      register
    the solution of z_n                                               answer

The steps are asked for exactly as `rollback` asks for them without experiences, of which its system
prompt does not speak (the wording of appendix B.3 without them).
"""

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.types import Send

from thoughtgraph.entries import METHODS
from thoughtgraph.method import Method, ThoughtGenerator
from thoughtgraph.nodes.answer import answer, terminal
from thoughtgraph.nodes.method_graph import MethodGraph
from thoughtgraph.nodes.reasoning_steps import (
    append_step,
    generate_step,
    next_step,
    step_sends,
)
from thoughtgraph.nodes.start import start
from thoughtgraph.parts import Parts
from thoughtgraph.settings.rollback import ChainSettings
from thoughtgraph.state import SearchState


def generator(settings: Mapping[str, Any]) -> ThoughtGenerator:
    """Returns how steps are generated."""
    return next_step()


def wire(parts: Parts) -> MethodGraph:
    """Wires the chain."""
    graph = MethodGraph(parts)
    graph.add_node("start", start(parts))
    graph.add_node("generate", generate_step(parts, generator))
    graph.add_node("register", append_step)
    graph.add_node("answer", answer(parts, pick=terminal, cut_short=terminal))
    graph.add_edge(START, "start")
    graph.add_conditional_edges("start", go_on, ["generate", "answer"])
    graph.add_edge("generate", "register")
    graph.add_conditional_edges("register", go_on, ["generate", "answer"])
    graph.add_edge("answer", END)
    return graph


async def go_on(state: SearchState) -> list[Send] | Literal["answer"]:
    """Routes to the next step until one has the solution or a limit is reached."""
    return step_sends(state) or "answer"


CHAIN = Method(METHODS["chain"], ChainSettings, generator, wire)
