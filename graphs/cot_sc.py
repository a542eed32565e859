"""Self-consistency with chain of thought (Wang et al. 2022), as Tree of Thoughts section 2 uses it.

    [z^(i), y^(i)] ~ p(z, y | prompt_cot(x)),  i = 1, ..., k          generate
    return argmax_y #{i | y^(i) = y}                                  vote, answer

The k samples are one request where the provider can. Answers are compared in the task's canonical
form; of equally frequent ones the first to occur wins. `candidates` holds every sample's answer in
order, so "best of k" can be read off: whether any of them is right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.graph import END
from pydantic import Field

from thoughtgraph.nodes.answer import answer
from thoughtgraph.nodes.chart import Chart
from thoughtgraph.nodes.generate import Way, ask
from thoughtgraph.nodes.outright import outright
from thoughtgraph.nodes.tally import samples_of
from thoughtgraph.nodes.vote import vote
from thoughtgraph.parts import Parts
from thoughtgraph.settings import OutrightSettings
from thoughtgraph.task import Answers


class CotScSettings(OutrightSettings):
    """What `cot_sc` can be told."""

    n_generate: int = Field(
        20, ge=1, le=1000, description="k: samples that vote (game24 100; else ours: 20)."
    )


SETTINGS = CotScSettings


def needs(settings: Mapping[str, Any]) -> Sequence[type]:
    """Returns the capabilities a task must have."""
    return [Answers]


def way(settings: Mapping[str, Any]) -> Way:
    """Returns how thoughts are generated."""
    return ask("cot")


def build(parts: Parts) -> Chart:
    """Wires the samples and their vote."""
    graph = outright(parts, way)
    graph.add_node("vote", vote)
    graph.add_node(
        "answer",
        answer(
            parts,
            pick=lambda state: state["generation"],
            best=lambda state: state["frontier"],
            tally=samples_of,
        ),
    )
    graph.add_edge("register", "vote")
    graph.add_edge("vote", "answer")
    graph.add_edge("answer", END)
    return graph
