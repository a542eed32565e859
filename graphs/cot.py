"""Chain-of-thought prompting: the model thinks, then answers (Tree of Thoughts, section 2).

    [z_1, ..., z_n, y] ~ p(z, y | prompt_cot(x)),  n samples          generate
    answer = the first sample's                                       answer

With several samples `candidates` holds every sample's answer: their mean success is the paper's
row, and whether any is right is its "best of k".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.graph import END

from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.chart import Chart
from thoughtgraph.nodes.generate import Way, ask
from thoughtgraph.nodes.outright import outright
from thoughtgraph.parts import Parts
from thoughtgraph.settings import AskingSettings
from thoughtgraph.task import Answers


class CotSettings(AskingSettings):
    """What `cot` can be told."""


SETTINGS = CotSettings


def needs(settings: Mapping[str, Any]) -> Sequence[type]:
    """Returns the capabilities a task must have."""
    return [Answers]


def way(settings: Mapping[str, Any]) -> Way:
    """Returns how thoughts are generated."""
    return ask("cot")


def build(parts: Parts) -> Chart:
    """Wires one question and its answer."""
    graph = outright(parts, way)
    graph.add_node("answer", answer(parts, pick=lambda state: state["generation"]))
    graph.add_edge("register", "answer")
    graph.add_edge("answer", END)
    return graph
