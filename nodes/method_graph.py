"""The graph of a method: its schemas, the first node, the nodes of its box, the last nodes."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal, get_args, get_type_hints

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.channels import EphemeralValue
from langgraph.graph import END, START, StateGraph
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from thoughtgraph.errors import InputError
from thoughtgraph.llm.meter import tell
from thoughtgraph.nodes.calls import labels
from thoughtgraph.nodes.node import Node, guarded
from thoughtgraph.nodes.review import Candidates, answered, review
from thoughtgraph.nodes.start import start
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import REFUSED, sentence
from thoughtgraph.run import Run
from thoughtgraph.state import REPLY, SearchInput, SearchOutput, SearchState, with_tree
from thoughtgraph.tree import Thought, merge_thoughts
from thoughtgraph.usage import nothing_spent, report

Graph = StateGraph[Any, Any, Any, Any]


def method_graph(
    run: Run,
    *nodes: Node,
    state: type = SearchState,
    origin: Thought | None = None,
    **fresh: Any,
) -> Graph:
    """Returns the graph of a method, `start` first, without the edges between its other nodes.

    The router after `start` must end the search if `stop_reason` is set: it was refused.

    Args:
        run: The graph's objects; settings that they do not fix become the context.
        nodes: The lines of its box; each node has the name of its function.
        state: The method's state, `SearchState` or a subclass.
        origin: Additional fields of the root.
        fresh: Initial values of the state fields that the method adds.
    """

    def refuse(state: object) -> None:
        raise InputError(
            f"the graph of {run.method.entry.id!r} is async: await graph.ainvoke(…), or call "
            "thoughtgraph.runnable(graph).invoke(…) or thoughtgraph.solve(…), which need no await"
        )

    input_type = _input_of(run, state)
    graph: Graph = StateGraph(
        with_tree(state, run.method.entry, trusted=run.policy is None),
        input_schema=input_type,
        output_schema=SearchOutput,
        context_schema=run.context,
    )
    first = RunnableLambda(refuse, afunc=partial(start, run, origin or {}, fresh), name="start")
    graph.add_node("start", first, input_schema=input_type)
    graph.add_edge(START, "start")
    for node in nodes:
        graph.add_node(node.__name__, guarded(run, node), input_schema=graph.state_schema)
    return graph


def add_answer(
    graph: Graph,
    run: Run,
    node: Node,
    name: str = "answer",
    *,
    candidates: Candidates | None = None,
    onward: Callable[[Any], Awaitable[str]] | None = None,
) -> None:
    """Adds the last node of a method, which logs how the search ended, and `review` after it.

    Args:
        graph: The graph.
        run: Its objects; `run.conclude` is set here.
        node: Reads the answer off the state.
        name: Name of the node.
        candidates: Returns the thoughts that a person chooses among; None: no choice is reviewed.
        onward: The router after a reviewed choice, with a `Literal` of its targets; None: `select`.
    """

    async def conclude(state: Any) -> dict[str, Any]:
        out = await node(Step(run, state), state)
        _log(run, state, out)
        return out

    async def last(step: Step, state: Any) -> dict[str, Any]:
        if state["stop_reason"] == REFUSED:
            return _refused(state)
        out = await conclude(state)
        return {**out, "tree": merge_thoughts(state["thoughts"], [out["thoughts"]])}

    async def reviewed(state: Any) -> str:
        """Routes to the reviewed choice, or to the end if the answer was reviewed."""
        return END if state["outcome"] else await to_choice(state)

    run.conclude, to_choice = conclude, onward or select
    for node_name, handler in ((name, last), ("review", partial(review, candidates))):
        graph.add_node(node_name, guarded(run, handler, last=True), input_schema=graph.state_schema)
    graph.add_conditional_edges(name, answered)
    if candidates is None:
        graph.add_edge("review", END)
    else:
        targets = get_args(get_type_hints(to_choice)["return"])
        graph.add_conditional_edges("review", reviewed, [*targets, END])


async def select(state: SearchState) -> Literal["select"]:
    """Routes to the reviewed choice."""
    return "select"


def _input_of(run: Run, state: type) -> type:
    """Returns the first node's input schema; misplaced settings are fields that forms hide.

    LangGraph silently drops keys that no schema names, so `start` could not refuse them.
    """
    no_form: Any = SkipJsonSchema  # type checkers see an alias, not a class
    hidden = Annotated[Any, no_form(), EphemeralValue]
    names = run.settings.model_fields.keys() - state.__annotations__.keys()
    fields: dict[str, Any] = {**SearchInput.__annotations__, **dict.fromkeys(names, hidden)}
    return TypedDict("SearchInput", fields, total=False)  # type: ignore[no-any-return,operator]


def _refused(state: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the last update of a search that was refused."""
    ending = {"answer": None, "stop_reason": REFUSED, "outcome": sentence({"stop_reason": REFUSED})}
    out = {
        **ending,
        "tree": state["thoughts"],
        "usage": report(nothing_spent(), priced=True),
    }
    if state.get("ensembles"):
        out["ensembles"] = {}
    if state.get("messages"):
        out["messages"] = [AIMessage(state["error"], response_metadata={REPLY: state["run"]})]
    return out


def _log(run: Run, state: Mapping[str, Any], out: Mapping[str, Any]) -> None:
    """Logs which limit a search reached and how it ended."""
    metadata = labels(run, state)
    if limit := out["limit"]:
        tell(logging.INFO, metadata, "reached %s=%s", limit, state["settings"].get(limit))
    usage = out["usage"]
    tell(
        logging.INFO,
        metadata,
        "ended: %s, %s an answer, %.1f s, requests=%d prompt_tokens=%d completion_tokens=%d",
        out["stop_reason"],
        "without" if out["answer"] is None else "with",
        *(usage[name] for name in ("seconds", "requests", "prompt_tokens")),
        usage["completion_tokens"],
    )
