"""The first node: reads the problem, fixes the settings, plants the root."""

import logging
import secrets
from datetime import UTC, datetime
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.runtime import Runtime

from thoughtgraph.errors import InputError
from thoughtgraph.llm.completions import encodable
from thoughtgraph.llm.prices import check_limit, unpriced
from thoughtgraph.llm.run_log import tell
from thoughtgraph.nodes.conversation import problem_of
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.tracing import labels
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchInput, nothing_found
from thoughtgraph.task import Task
from thoughtgraph.tree import Thought, root

CHECKPOINTER = "__pregel_checkpointer"
"""LangGraph's key for the checkpointer of a run; `tests/test_review.py` fails if it goes."""


def start(parts: Parts, *, origin: Thought | None = None, **fresh: Any) -> Node:
    """Makes the node that begins a search.

    It copies the effective settings into the state, so that every later router is a pure function
    of the state, and it clears what an earlier search on the same thread left.

    Args:
        origin: What the root begins with besides.
        fresh: What the method's further state fields begin with.

    It raises `InputError` for a problem or a setting that cannot be used and
    `ModelUnavailable` or `ToolsUnavailable` for a model or tools that cannot be had: nothing
    has been spent yet.
    """

    async def node(state: SearchInput, runtime: Runtime[Any]) -> dict[str, Any]:
        chosen = parts.chosen(runtime.context)
        settings = parts.effective_settings(chosen)
        task = parts.task_for(settings, Task)
        problem = parts.read(settings, encodable(problem_of(state, task)))
        parts.check_used(settings, chosen)
        _check_pauses(settings)
        run = secrets.token_hex(8)
        if parts.evaluator is not None:  # may have the name of the model, yet be another
            settings["evaluator_model"] = parts.evaluator.name
        prices = await parts.open_models(settings)
        if unpriced(prices):
            if chosen.get("limit_dollars") is not None or parts.caps("limit_dollars"):
                check_limit(prices)
            if parts.policy is None:  # one that there is knows the settings by what it writes
                settings["limit_dollars"] = None
        tools = await parts.open_tools(settings, problem, run)
        tell(logging.INFO, labels(parts, {"settings": settings, "run": run}), "starts")
        planted: Thought = {**root(), **(origin or {})}
        if tools:
            planted["tools"] = tools
        return {
            **nothing_found(planted),
            "method": parts.method.id,
            "problem": problem,
            "settings": dict(settings),  # what it was until now may be known by its objects
            "run": run,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "prices": prices,
            "oracle": parts.has_feedback(settings),
            **fresh,
        }

    return node


def _check_pauses(settings: dict[str, Any]) -> None:
    """Refuses a review that could not go on: a run that pauses lives in its checkpoints.

    Raises:
        InputError: The graph has no checkpointer.
    """
    config = var_child_runnable_config.get() or {}
    if settings["review"] != "off" and not config.get("configurable", {}).get(CHECKPOINTER):
        raise InputError(
            "a review pauses the run, which a checkpointer must keep: "
            "tg.build(…, checkpointer=InMemorySaver()); servers have one for each thread"
        )
