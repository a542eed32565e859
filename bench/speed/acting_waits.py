"""How close searches that act come to the time their dependent calls need.

A scripted chat model answers after a fixed latency, and the tool it calls after half of it. The
critical path is read off both logs. An expansion also waits for all that was found and judged
before it, since who is next is decided over that: such decisions are counted, so that a round of
Informed Tree of Thought has three dependent levels (a step, its tool, its value), and FGDIP, whose
children are made one after the other, is sequential but for its labels. The methods take turns. The
share of the process's own CPU time in the path is told beside: what is above it was lost to
whatever else the machine does.
"""

import asyncio
import random
import statistics
import time
from typing import Any

from langchain_core.tools import BaseTool, tool

import thoughtgraph as tg
from thoughtgraph.bench.speed.critical_path import (
    Exchange,
    critical_path,
    drawing,
    exchanges,
    new_name,
)
from thoughtgraph.bench.speed.measurement import Conditions, Figure, Measurement, Readings
from thoughtgraph.llm.scripted import Call, ScriptedChat
from thoughtgraph.tools.costs import Priced
from thoughtgraph.tools.toolbox import ToolSet
from thoughtgraph.tools.wiki.search_tools import finish_tool

QUESTION = "Which of the two rivers is longer?"
METHODS = ("itot_a_star", "itot_d_star_lite", "itot_best_first", "itot_dfs", "fgdip")
TARGET = 1.1
"""Times the critical path, what a search should stay below (ours)."""
CHOSEN = ("generate", "answer_eval", "conclude")
"""The roles of requests that a decision leads to."""
ROUNDS = 12
MISSES = 5
"""One call in so many fails, so that failures propagate."""


def reply(draws: random.Random, call: Call) -> str:
    """Returns an action, or a judgement, drawn at random."""
    name = new_name(draws)
    if call.role == "generate":
        action = f"Finish[{name}]" if draws.random() < 0.02 else f"Search[{name}]"
        return f" I go on.\nAction 1: {action}"
    texts = {
        "value": f"Score: {draws.randint(1, 10)}",
        "step_eval": f"Reply: {draws.choice(['sure', 'maybe', 'impossible'])}",
        "answer_eval": "JUDGMENT: NO",
        "extract": f'["{name}"]',
    }
    return texts.get(call.role, name)


def slow_search(seconds: float, log: list[Exchange]) -> BaseTool:
    """Returns a Search that takes its time and finds a new text."""

    @tool("Search", response_format="content_and_artifact")
    async def search(entity: str) -> tuple[str, dict[str, Any]]:
        """Finds a page."""
        began = time.perf_counter()
        await asyncio.sleep(seconds)
        draws = random.Random(entity)
        found = f"page {draws.randrange(10**11, 10**12)}"
        log.append(Exchange(began, time.perf_counter(), entity, (found,), "tool", seconds))
        return found, {"failed": draws.randrange(MISSES) == 0}

    return search


def decided(earlier: Exchange, later: Exchange) -> bool:
    """Returns whether a call is about a thought that was chosen over all that came before."""
    return later.role in CHOSEN


async def searched(
    method: str, seed: int, latency: float, rounds: int
) -> tuple[float, float, list[Exchange]]:
    """Returns a search's seconds, its CPU seconds, and the log of its model and its tool."""
    model, called = ScriptedChat(reply=drawing(seed, reply), delay=latency), list[Exchange]()
    tools = ToolSet([Priced(slow_search(latency / 2, called)), Priced(finish_tool(), 0.0)])
    graph = tg.build(method, task="hotpotqa", model=model, tools=tools)
    began, worked = time.perf_counter(), time.process_time()
    await graph.ainvoke({"problem": QUESTION}, context={"limit_rounds": rounds})
    spent, busy = time.perf_counter() - began, time.process_time() - worked
    return spent, busy, [*exchanges(model, latency), *called]


async def measured(under: Conditions) -> Readings:
    """Returns the times of searches in critical paths, medians, and the share of the CPU."""
    rows: dict[str, list[tuple[float, float]]] = {method: [] for method in METHODS}
    for method in METHODS:  # warms imports up
        await searched(method, 0, 0.0, ROUNDS)
    for seed in range(under.count):
        for method in METHODS:
            spent, worked, log = await searched(method, seed, under.latency, ROUNDS)
            path = critical_path(log, decided)
            rows[method].append((spent / path, worked / path))
    readings: dict[str, float] = {}
    for method, runs in rows.items():
        times, cpu = map(statistics.median, zip(*runs, strict=True))
        readings |= {f"{method}, times the path": times, f"{method}, own CPU time": cpu}
    return readings


ACTING_WAITS = Measurement(
    "acting",
    "searches that call tools, beside the time of their dependent calls, decisions counted",
    "3 searches (--count) of 12 rounds a method, --latency a request, half of it a tool; medians",
    (
        *(Figure(f"{method}, times the path", "x", most=TARGET) for method in METHODS),
        *(Figure(f"{method}, own CPU time", "of the path") for method in METHODS),
    ),
    count=3,
    quick=1,
    take=measured,
)
