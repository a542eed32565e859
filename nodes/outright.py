"""How the graphs begin that ask the model outright, once, for one sample or many."""

from langgraph.graph import START

from thoughtgraph.nodes.chart import Chart, chart
from thoughtgraph.nodes.generate import Choose, expand_root, generate
from thoughtgraph.nodes.register import register
from thoughtgraph.nodes.start import start
from thoughtgraph.parts import Parts


def outright(parts: Parts, way: Choose) -> Chart:
    """Returns a graph with the nodes `start`, `generate` and `register`.

    Args:
        parts: The graph's objects.
        way: Returns how the samples are asked for.

    Returns:
        The graph. The caller adds `answer`, to which a search goes that may ask nothing, and what
        comes after `register`.
    """
    graph = chart(parts)
    graph.add_node("start", start(parts))
    graph.add_node("generate", generate(parts, way))
    graph.add_node("register", register(parts))
    graph.add_edge(START, "start")
    graph.add_conditional_edges("start", expand_root, ["generate", "answer"])
    graph.add_edge("generate", "register")
    return graph
