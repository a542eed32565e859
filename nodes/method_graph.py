"""The empty graph every method starts from: state, input, output, and the settings as context."""

import logging
from collections.abc import Mapping
from functools import wraps
from typing import Any

from langgraph.graph import StateGraph
from langgraph.runtime import get_runtime

from thoughtgraph.edits import applied
from thoughtgraph.errors import ModelError
from thoughtgraph.llm.run_log import tell
from thoughtgraph.nodes.node import Node, raises
from thoughtgraph.nodes.review import reviewed_answer
from thoughtgraph.nodes.thought_events import with_events
from thoughtgraph.nodes.tracing import labels
from thoughtgraph.parts import Parts
from thoughtgraph.results import Result
from thoughtgraph.state import SearchInput, SearchOutput, SearchState
from thoughtgraph.usage import add_usages

ENDS = ("answer", "ensemble")
"""Names of the node that ends a search."""
RESULT = SearchOutput.__annotations__.keys() - {"messages"}
"""What the result holds that comes with an error; a conversation has no reply then."""
ENTRY = "start"
"""Name of the node that writes the settings of a run; all others are given them."""


class MethodGraph(StateGraph[Any, Any, Any, Any]):
    """LangGraph's `StateGraph` of a method, without nodes yet.

    Args:
        parts: The graph's objects; what they leave open becomes the context.
        state: The method's state, `SearchState` or a subclass.
    """

    def __init__(self, parts: Parts, state: type = SearchState) -> None:
        self._parts = parts
        super().__init__(
            state,
            input_schema=SearchInput,
            output_schema=SearchOutput,
            context_schema=parts.context,
        )

    def add_node(self, node: Any, action: Any = None, **more: Any) -> Any:
        """Adds a node; the run's settings are checked before each run of it.

        Raises:
            SettingError: When it runs: the context differs from the settings with which the search
                began, or the state holds settings that the policy does not allow.
        """
        if node in ENDS:
            self._end = with_events(node, _logged(self._parts, action))
            action = _logged(self._parts, reviewed_answer(self._parts, action))
        if node != ENTRY:
            action = _guarded(self._parts, self._failing(with_events(node, action)))
        return super().add_node(node, action, **more)

    def _failing(self, node: Node) -> Node:
        """Makes a node that raises what keeps it from its answers, where the run is to fail by it.

        What was answered is stored, so that a run that goes on asks for the rest. The error has the
        search's result until then; whoever streams is told how it ended.
        """

        @wraps(node)
        async def run(state: Mapping[str, Any], *rest: Any, **more: Any) -> dict[str, Any]:
            out = await node(state, *rest, **more)
            if out.get("stop_reason") != "error" or not raises(state):
                return out
            spent = add_usages(state["usage"], [out.get("usage", {})])
            after = {**applied(state, out), "usage": spent}
            ended = await self._end(after)
            result = applied(after, {**ended, "usage": ended["usage"].value})
            kept = Result({k: v for k, v in result.items() if k in RESULT})
            raise ModelError(out["error"], result=kept)

        return run

    def add_step(self, node: Node, state: type | None = None) -> None:
        """Adds a node that makes a `Step` of its state, by the name of its function.

        Args:
            node: The node.
            state: What it is given of the state; None: what it says itself.
        """
        self.add_node(getattr(node, "__name__", ""), node, input_schema=state)


def _logged(parts: Parts, node: Node) -> Node:
    """Makes a last node that logs which limit the search reached and how it ended."""

    @wraps(node)
    async def run(state: Mapping[str, Any]) -> dict[str, Any]:
        out = await node(state)
        whose = labels(parts, state)
        if limit := out["limit"]:
            tell(logging.INFO, whose, "reached %s=%s", limit, state["settings"].get(limit))
        usage = out["usage"].value
        tell(
            logging.INFO,
            whose,
            "ended: %s, %s an answer, %.1f s, requests=%d prompt_tokens=%d completion_tokens=%d",
            out["stop_reason"],
            "without" if out["answer"] is None else "with",
            *(usage[name] for name in ("seconds", "requests", "prompt_tokens")),
            usage["completion_tokens"],
        )
        return out

    return run


def _guarded(parts: Parts, node: Node) -> Node:
    @wraps(node)
    async def run(state: Mapping[str, Any], *rest: Any, **more: Any) -> dict[str, Any]:
        parts.check_resumed(get_runtime().context, state["settings"])
        parts.admit_settings(state["settings"])
        return await node(state, *rest, **more)

    return run
