"""Tools are opened once a run, and nothing of a run outlives it, however it ends."""

import asyncio
import gc
import weakref
from collections.abc import Sequence
from typing import Any

import pytest
from support.acting import Errand, Odds, Walk, walker
from support.scripted import ScriptedChat

import thoughtgraph as tg

RUNS = 20
PROBLEM = {"problem": "a"}


class Opened(Errand):
    """Counts the tools that are still held by something."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0
        self.held: weakref.WeakSet[Any] = weakref.WeakSet()

    def tools(self, problem: str, options: Any, extra: Sequence[Any]) -> Any:
        tools = Walk()
        self.times += 1
        self.held.add(tools)
        return tools


def fail(call: Any) -> str:
    """A mistake in a program: it ends a run with a traceback."""
    raise ZeroDivisionError


async def settled(alive: Any) -> int:
    await asyncio.sleep(0)
    gc.collect()
    return len(alive)


@pytest.mark.ci
@pytest.mark.parametrize("end", ["answered", "failed", "cancelled", "abandoned"])
async def test_nothing_of_a_run_outlives_it(end: str) -> None:
    task = Opened()
    reply = fail if end == "failed" else walker(5, Odds(finish=0.5))
    model = ScriptedChat(reply=reply, delay=0.0 if end in ("answered", "failed") else 30.0)
    graph = tg.build("itot_a_star", task=task, model=model)
    for _ in range(RUNS):
        if end == "abandoned":
            stream = graph.astream(PROBLEM, stream_mode="updates")
            await anext(stream)
            assert task.held
            del stream
            continue
        running = asyncio.create_task(graph.ainvoke(PROBLEM))
        if end == "cancelled":
            while not task.held:
                await asyncio.sleep(0.001)
            running.cancel()
        await asyncio.wait([running])
        assert running.cancelled() == (end == "cancelled")
        if end == "failed":
            assert isinstance(running.exception(), ZeroDivisionError)
        del running
    assert task.times == RUNS or end == "cancelled", "a run opens its tools once"
    async with asyncio.timeout(60):
        while await settled(task.held):
            await asyncio.sleep(0.01)
    assert not task.held, "the tools of a run"
    assert asyncio.all_tasks() == {asyncio.current_task()}, "what would ask on"
