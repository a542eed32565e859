"""How close Thought Rollback's parallel growth comes to the time its dependent requests need.

    uv run python -m thoughtgraph.bench.speed.rollback_latency [--latency 0.2] [--searches 5]

A scripted chat model answers after a fixed latency. The critical path is the longest chain of
requests whose prompt contains an earlier answer, read off the model's own log; a search cannot be
faster. Under `two_call` a rollback's branch also waits for the reading of its analysis, which its
prompt does not show: the second ratio counts that too, and the third is what it alone adds, which
depends on no clock. Strictly sequential growth is timed beside. Searches of few requests say
nothing of growth: seeds whose search makes fewer than 30 are passed over.
"""

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import NamedTuple

import thoughtgraph as tg
from thoughtgraph.bench.speed.critical_path import (
    Answer,
    Exchange,
    Sleeper,
    critical_path,
    new_name,
)

QUESTION = "How many apples are left?"
FEWEST = 30
"""Requests below which a search is passed over."""

HEADS = (
    "seed",
    "requests",
    "path s",
    " times",
    "with decisions",
    "decisions alone",
    "parallel s",
    "sequential s",
)
RANGES = (
    "times the critical path",
    "times the path with decisions",
    "what decisions alone add, in times the path",
    "sequential, in times parallel",
)


class Measured(NamedTuple):
    """One search."""

    seconds: float
    levels: int
    """How many times it waited for requests, those of a round together."""
    log: list[Exchange]

    def path(self, *, decisions: bool = False) -> float:
        """Returns its critical path in seconds, with or without waits for unseen decisions."""
        return critical_path(self.log, partial(was_read, self.log) if decisions else None)


def said(draws: random.Random, role: str, prompt: str) -> tuple[str, str]:
    """Returns what the model answers, twice: later prompts show all of it."""
    name = new_name(draws)
    if role == "extract_index" or "Bad step index" in prompt:
        name = f"{name}. Bad step index: {'1, 2' if draws.random() < 0.2 else 'None'}"
    elif role == "generate" and draws.random() < 0.15:
        name = f"{name}. The final solution is {draws.randrange(3)}"
    return name, name


def was_read(log: list[Exchange], reading: Exchange, later: Exchange) -> bool:
    """Returns whether a request shows an analysis that an earlier one read the indexes of.

    Under `two_call` it then waits for that reading: whether and where to go back is known only
    then.
    """
    if reading.role != "extract_index" or later.role != "generate":
        return False
    analyses = [text for call in log if call.role == "analyse" for text in call.answers]
    return any(text in reading.prompt and text in later.prompt for text in analyses)


def spoilt(draws: random.Random, role: str, prompt: str) -> tuple[str, str]:
    """Returns a solution of one step, which its analysis finds to be bad: the least favourable."""
    name = new_name(draws)
    if role == "extract_index" or "Bad step index" in prompt:
        name = f"{name}. Bad step index: 1"
    elif role == "generate":
        name = f"{name}. The final solution is 3"
    return name, name


async def measured(
    seed: int,
    latency: float,
    *,
    parallel: bool,
    protocol: str = "two_call",
    answer: Answer = said,
) -> Measured:
    """Returns what a search took, and its model's log."""
    model = Sleeper(answer=answer, seed=seed, latency=latency)
    graph = tg.build("rollback", task="gsm8k", model=model)
    context = {"parallel": parallel, "protocol": protocol}
    began = time.perf_counter()
    out = await graph.ainvoke({"problem": QUESTION}, context=context)
    return Measured(time.perf_counter() - began, out["usage"]["levels"], model.log)


async def grown(searches: int, protocol: str) -> AsyncIterator[int]:
    """Yields the first seeds whose search makes requests enough."""
    seed = 0
    while searches:
        tried = await measured(seed, 0.0, parallel=True, protocol=protocol)
        if len(tried.log) >= FEWEST:
            searches -= 1
            yield seed
        seed += 1


async def main(latency: float, searches: int) -> None:
    """Measures and prints."""
    for protocol in ("two_call", "single_call"):
        print(f"{protocol}\n{'  '.join(HEADS)}")
        rows: list[tuple[float, ...]] = []
        async for seed in grown(searches, protocol):
            found = await measured(seed, latency, parallel=True, protocol=protocol)
            alone = await measured(seed, latency, parallel=False, protocol=protocol)
            path, decided = found.path(), found.path(decisions=True)
            ratios = (found.seconds / path, found.seconds / decided, decided / path)
            rows.append((*ratios, alone.seconds / found.seconds))
            cells = [
                f"{seed}",
                f"{len(found.log)}",
                f"{path:.2f}",
                *(f"{ratio:.3f}" for ratio in ratios),
                f"{found.seconds:.2f}",
                f"{alone.seconds:.2f}",
            ]
            print("  ".join(cell.rjust(len(head)) for cell, head in zip(cells, HEADS, strict=True)))
        print("medians, and from least to most:")
        columns = list(zip(*rows, strict=True))
        for name, column in zip(RANGES, columns, strict=True):
            middle = statistics.median(column)
            print(f"{name}: {middle:.3f} ({min(column):.3f} to {max(column):.3f})")
        print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds an answer takes")
    parser.add_argument("--searches", type=int, default=5, help="how many searches")
    given = parser.parse_args()
    asyncio.run(main(given.latency, given.searches))
