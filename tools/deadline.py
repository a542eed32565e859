"""Somebody else's code, called within a time; what it raises is a result."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langgraph.errors import GraphBubbleUp

DEADLINE = 30.0
"""Seconds a tool may take before it counts as failed (ours)."""

_T = TypeVar("_T")
_R = TypeVar("_R")


async def within_deadline(call: Callable[[], Awaitable[Any]], deadline: float = DEADLINE) -> Any:
    """Returns what a call gives, the exception it raised, or None when it took too long.

    A tool may raise anything: it is somebody else's code. What it raised is a result here.
    """
    task = asyncio.ensure_future(call())
    try:
        await asyncio.wait({task}, timeout=deadline)
    finally:
        # Waiting for the end of a tool that ignores its cancellation would break the deadline.
        task.cancel()
    if not task.done():
        task.add_done_callback(_dropped)
        return None
    if task.cancelled():
        return asyncio.CancelledError("it was cancelled")
    error = task.exception()
    if isinstance(error, GraphBubbleUp):
        raise error  # not a failure: the tool wants LangGraph to ask a person
    return error or task.result()


async def result_of(function: Callable[[_T], _R], argument: _T) -> _R | BaseException:
    """Returns what a user's function gives, or the exception it raised, as of a tool."""

    async def work() -> _R:
        return function(argument)

    result: _R | BaseException = await within_deadline(work)
    return result


def _dropped(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()
