"""Chain-of-thought prompting: the model thinks, then answers (Tree of Thoughts, section 2).

    [z_1, ..., z_n, y] ~ p(z, y | prompt_cot(x)),  n samples          generate
    answer = the first sample's                                       answer

With several samples `candidates` holds every sample's answer: their mean success is the paper's
row, and whether any is right is its "best of k".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.graph import END, START
from pydantic import Field

from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.chart import Chart, chart
from thoughtgraph.nodes.generate import Way, ask, expand_root, generate
from thoughtgraph.nodes.register import register
from thoughtgraph.nodes.start import start
from thoughtgraph.parts import Parts
from thoughtgraph.settings import ShowingSettings
from thoughtgraph.task import Answers


class CotSettings(ShowingSettings):
    """What `cot` can be told."""

    n_generate: int = Field(
        1,
        ge=1,
        le=1000,
        description="Samples (paper: 100 for game24, 10 for writing and crosswords).",
    )
    shots: int = Field(
        0,
        ge=0,
        le=20,
        description="Worked examples in the prompt, for step-by-step tasks (ours: 0).",
    )
    demonstrations: str = Field(
        "",
        max_length=100_000,
        description="Worked examples as text, in place of the task's own (ours: none).",
    )


SETTINGS = CotSettings


def needs(settings: Mapping[str, Any]) -> Sequence[type]:
    """Returns the capabilities a task must have."""
    return [Answers]


def way(settings: Mapping[str, Any]) -> Way:
    """Returns how thoughts are generated."""
    return ask("cot")


def build(parts: Parts) -> Chart:
    """Wires one question and its answer."""
    graph = chart(parts)
    graph.add_node("start", start(parts))
    graph.add_node("generate", generate(parts, way))
    graph.add_node("register", register(parts))
    graph.add_node("answer", answer(parts, pick=lambda state: state["generation"]))
    graph.add_edge(START, "start")
    graph.add_conditional_edges("start", expand_root, ["generate", "answer"])
    graph.add_edge("generate", "register")
    graph.add_edge("register", "answer")
    graph.add_edge("answer", END)
    return graph
