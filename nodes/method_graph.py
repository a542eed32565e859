"""The graph every method starts from: its schemas and its first node."""

from typing import Annotated, Any

from langchain_core.runnables import RunnableLambda
from langgraph.channels import EphemeralValue
from langgraph.graph import START, StateGraph
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from thoughtgraph.edits import tree_reducer
from thoughtgraph.errors import InputError
from thoughtgraph.nodes.start import start
from thoughtgraph.run import Run
from thoughtgraph.state import SearchInput, SearchOutput, SearchState, with_tree
from thoughtgraph.tree import Thought

Graph = StateGraph[Any, Any, Any, Any]


def method_graph(
    run: Run, state: type = SearchState, *, origin: Thought | None = None, **fresh: Any
) -> Graph:
    """Returns the graph of a method with its first node, `start`, alone.

    What follows `start` must not begin where `stop_reason` is set: the search was refused.

    Args:
        run: The graph's objects; what they leave open becomes the context.
        state: The method's state, `SearchState` or a subclass.
        origin: What the root begins with besides.
        fresh: What the method's further state fields begin with.
    """

    def refuse(state: object) -> None:
        raise InputError(
            f"the graph of {run.method.entry.id!r} is async: await graph.ainvoke(…), or call "
            "thoughtgraph.runnable(graph).invoke(…) or thoughtgraph.solve(…), which need no await"
        )

    given = _input_of(run, state)
    reducer = tree_reducer(run.method.entry, trusted=run.policy is None)
    graph: Graph = StateGraph(
        with_tree(state, reducer),
        input_schema=given,
        output_schema=SearchOutput,
        context_schema=run.context,
    )
    first = RunnableLambda(refuse, afunc=start(run, origin=origin, **fresh), name="start")
    graph.add_node("start", first, input_schema=given)
    graph.add_edge(START, "start")
    return graph


def _input_of(run: Run, state: type) -> type:
    """Returns the input as the first node sees it: with settings, which do not belong there.

    LangGraph drops what no schema names, so that nobody would be told. Forms do not show them.
    """
    no_form: Any = SkipJsonSchema  # to type checkers an alias, not a class
    hidden = Annotated[Any, no_form(), EphemeralValue]
    names = run.settings.model_fields.keys() - state.__annotations__.keys()
    fields: dict[str, Any] = {**SearchInput.__annotations__, **dict.fromkeys(names, hidden)}
    return TypedDict("SearchInput", fields, total=False)  # type: ignore[no-any-return,operator]
