"""Nothing of a run outlives it, however it ends."""

import asyncio
import gc
import weakref
from collections.abc import Sequence
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.acting import Errand, Odds, Walk, walker
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph import scratch
from thoughtgraph.scratch import Scratch

RUNS = 20
PROBLEM = {"problem": "a"}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> "weakref.WeakSet[Scratch]":
    """Every scratch that is still held by something."""
    alive: weakref.WeakSet[Scratch] = weakref.WeakSet()

    class Counted(Scratch):
        def __init__(self) -> None:
            super().__init__()
            alive.add(self)

    monkeypatch.setattr(scratch, "Scratch", Counted)
    return alive


class Opened(Errand):
    """Counts the tools that are still held by something."""

    def __init__(self) -> None:
        super().__init__()
        self.held: weakref.WeakSet[Any] = weakref.WeakSet()

    def tools(self, problem: str, options: Any, extra: Sequence[Any]) -> Any:
        tools = Walk()
        self.held.add(tools)
        return tools


def fail(call: Any) -> str:
    """A mistake in a program: it ends a run with a traceback."""
    raise ZeroDivisionError


async def settled(alive: Any) -> int:
    await asyncio.sleep(0)
    gc.collect()
    return len(alive)


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def built(task: Any, reply: Any, delay: float = 0.0, saver: Any = None) -> Any:
    model = ScriptedChat(reply=reply, delay=delay)
    return tg.build("itot_a_star", task=task, model=model, checkpointer=saver)


@pytest.mark.ci
@pytest.mark.parametrize("end", ["answered", "failed", "cancelled", "abandoned"])
async def test_nothing_of_a_run_outlives_it(end: str, made: "weakref.WeakSet[Scratch]") -> None:
    task = Opened()
    reply = fail if end == "failed" else walker(5, Odds(finish=0.5))
    graph = built(task, reply, delay=0.0 if end in ("answered", "failed") else 30.0)
    before = len(made)
    for _ in range(RUNS):
        if end == "abandoned":
            stream = graph.astream(PROBLEM, stream_mode="updates")
            await anext(stream)
            assert len(made) > before and task.held
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
    async with asyncio.timeout(60):
        while await settled(task.held):
            await asyncio.sleep(0.01)
    assert not task.held, "the tools of a run"
    assert asyncio.all_tasks() == {asyncio.current_task()}, "what would ask on"
    assert await settled(made) <= before + 1, "what its nodes shared: the graph's pattern remains"


async def test_what_runs_share_is_shown_to_nobody() -> None:
    graph = built(Errand(), walker(5, Odds(finish=0.5)), saver=InMemorySaver())
    modes = ["values", "updates", "tasks", "debug"]
    async for mode, part in graph.astream(PROBLEM, thread("1"), stream_mode=modes):
        assert "scratch" not in str(part), mode
    assert "scratch" not in (await graph.aget_state(thread("1"))).values
    assert "scratch" not in await graph.ainvoke(PROBLEM, thread("1"))
