"""How close searches that act come to the time their dependent calls need.

    uv run python -m thoughtgraph.bench.speed.tool_latency [--latency 0.2] [--tools 0.1] [--runs 3]

A scripted chat model answers after a fixed latency, and so does the tool it calls. The critical
path is read off both logs. An expansion also waits for all that was found and judged before it,
since who is next is decided over that: such decisions are counted, so that a round of Informed Tree
of Thought has three dependent levels (a step, its tool, its value), and FGDIP, whose children are
made one after the other, is sequential but for its labels. The methods take turns; medians are
printed. The share of the process's own CPU time in the path is printed beside: what is above it was
lost to whatever else the machine does.
"""

import argparse
import asyncio
import random
import statistics
import time
from typing import Any

from langchain_core.tools import BaseTool, tool

import thoughtgraph as tg
from thoughtgraph.bench.speed.critical_path import Exchange, Sleeper, critical_path, new_name
from thoughtgraph.tools.costs import Priced
from thoughtgraph.tools.toolbox import ToolSet
from thoughtgraph.tools.wiki.search_tools import finish_tool

QUESTION = "Which of the two rivers is longer?"
METHODS = ("itot_a_star", "itot_d_star_lite", "itot_best_first", "itot_dfs", "fgdip")
TARGET = 1.1
"""Times the critical path, what a search should stay below (ours)."""
CHOSEN = ("generate", "answer_eval", "conclude")
"""The roles of requests that a decision leads to."""
MISSES = 5
"""One call in so many fails, so that failures propagate."""


def said(draws: random.Random, role: str, prompt: str) -> tuple[str, str]:
    """Returns what the model answers, and what later inputs show of it."""
    name = new_name(draws)
    if role == "generate":
        deed = f"Finish[{name}]" if draws.random() < 0.02 else f"Search[{name}]"
        return f" I go on.\nAction 1: {deed}", name
    texts = {
        "value": f"Score: {draws.randint(1, 10)}",
        "step_eval": f"Reply: {draws.choice(['sure', 'maybe', 'impossible'])}",
        "answer_eval": "JUDGMENT: NO",
        "extract": f'["{name}"]',
    }
    return texts.get(role, name), name


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


async def measured(
    method: str, seed: int, latency: float, tool_latency: float, rounds: int
) -> tuple[float, float, list[Exchange]]:
    """Returns a search's seconds, its CPU seconds, and the log of its model and its tool."""
    model = Sleeper(answer=said, seed=seed, latency=latency)
    tools = ToolSet([Priced(slow_search(tool_latency, model.log)), Priced(finish_tool(), 0.0)])
    graph = tg.build(method, task="hotpotqa", model=model, tools=tools)
    began, worked = time.perf_counter(), time.process_time()
    await graph.ainvoke({"problem": QUESTION}, context={"limit_rounds": rounds})
    return time.perf_counter() - began, time.process_time() - worked, model.log


async def main(given: argparse.Namespace) -> None:
    """Measures and prints."""
    rows: dict[str, list[tuple[float, ...]]] = {method: [] for method in METHODS}
    for method in METHODS:  # warms imports up
        await measured(method, 0, 0.0, 0.0, given.rounds)
    for seed in range(given.runs):
        for method in METHODS:
            spent, worked, log = await measured(
                method, seed, given.latency, given.tools, given.rounds
            )
            path = critical_path(log, decided)
            rows[method].append((spent / path, worked / path, path, len(log)))
    print(f"{'':18}{'x path':>8}{'own CPU':>9}{'path s':>8}{'calls':>7}{'worst':>8}")
    for method, runs in rows.items():
        times, cpu, path, calls = map(statistics.median, zip(*runs, strict=True))
        worst = max(row[0] for row in runs)
        print(f"{method:18}{times:8.3f}{cpu:9.3f}{path:8.2f}{calls:7.0f}{worst:8.3f}")
    print(f"target: {TARGET} times the path")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--latency", type=float, default=0.2, help="seconds an answer takes")
    parser.add_argument("--tools", type=float, default=0.1, help="seconds a tool takes")
    parser.add_argument("--runs", type=int, default=3, help="searches a method")
    parser.add_argument("--rounds", type=int, default=12, help="rounds a search")
    asyncio.run(main(parser.parse_args()))
