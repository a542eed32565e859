"""The empty graph every method starts from: state, input, output, and the settings as context."""

from collections.abc import Awaitable, Callable
from typing import Any

from langgraph.graph import StateGraph

from thoughtgraph.parts import Parts
from thoughtgraph.scratch import SCRATCH, ScratchChannel
from thoughtgraph.state import SearchInput, SearchOutput, SearchState

Chart = StateGraph[Any, Any, Any, Any]
Node = Callable[..., Awaitable[dict[str, Any]]]
"""A step of a graph: from the state, or from the job it was sent, to a state update.

LangGraph types a node by the name of its parameter, which `Callable` can only leave open.
"""


def chart(parts: Parts, *, state: type = SearchState, given: type = SearchInput) -> Chart:
    """Returns a graph without nodes.

    Args:
        parts: The graph's objects; what they leave open becomes the context.
        state: The method's state, `SearchState` or a subclass.
        given: The method's input, `SearchInput` or a subclass.
    """
    graph: Chart = StateGraph(
        state, input_schema=given, output_schema=SearchOutput, context_schema=parts.context()
    )
    # In no schema: no node is given it, so that no stream and no trace shows it.
    graph.channels[SCRATCH] = ScratchChannel(key=SCRATCH)
    return graph
