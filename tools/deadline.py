"""Calls other people's code under a deadline; an exception is a result."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langgraph.errors import GraphBubbleUp

DEADLINE = 30.0
"""Seconds a tool may take before it counts as failed (ours)."""

_T = TypeVar("_T")
_R = TypeVar("_R")


async def within_deadline(call: Callable[[], Awaitable[Any]], deadline: float = DEADLINE) -> Any:
    """Returns the result of a call, the exception it raised, or None when it took too long.

    A tool may raise anything, so its exception is a result; only LangGraph's own are raised.
    """
    task = asyncio.ensure_future(call())
    try:
        await asyncio.wait({task}, timeout=deadline)
    finally:
        # Not awaited: a tool that ignores its cancellation would overrun the deadline.
        task.cancel()
    if not task.done():
        task.add_done_callback(_ignore_exception)
        return None
    if task.cancelled():
        return asyncio.CancelledError("it was cancelled")
    error = task.exception()
    if isinstance(error, GraphBubbleUp):
        raise error  # no failure: for example, the tool interrupts to ask a person
    return error or task.result()


async def result_of(function: Callable[[_T], _R], argument: _T) -> _R | BaseException:
    """Returns the result of a user's function or the exception it raised, as for a tool."""

    async def work() -> _R:
        return function(argument)

    result: _R | BaseException = await within_deadline(work)
    return result


def _ignore_exception(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()
