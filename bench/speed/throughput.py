"""How many requests a second many searches at once send, against the bare chat model.

    uv run python -m thoughtgraph.bench.speed.throughput http://127.0.0.1:8777/v1#fake

Solves a hundred Game-of-24 puzzles at once with `tot_bfs`, concurrency cap lifted, without a
checkpointer and with SQLite, and sends the same requests through `ChatOpenAI.agenerate` alone. The
endpoint should answer at once; it shares the machine with both sides.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

import thoughtgraph as tg
from thoughtgraph.bench.speed.latency import LEVELS
from thoughtgraph.bench.speed.plain_loop import address, asker, solve
from thoughtgraph.checkpoints import Checkpoints
from thoughtgraph.task import Prompt
from thoughtgraph.tasks.game24.task import puzzles

TARGETS = {"tot_bfs": 0.70, "tot_bfs, SQLite": 0.55}
"""Least share of the bare client's requests a second."""
TOGETHER = 1.2
"""Milliseconds of processor time a request that port and LangGraph may add, without checkpoints."""


async def main(arguments: argparse.Namespace) -> None:
    """Measures and prints."""
    base, name = address(arguments.endpoint)
    chat = ChatOpenAI(model=name, base_url=base, api_key=SecretStr("none"), max_retries=0)
    problems = puzzles()[:: len(puzzles()) // arguments.puzzles][: arguments.puzzles]
    lifted = tg.Rates(concurrency=None)
    plain = tg.build("tot_bfs", task="game24", model=chat, rates=lifted)
    requests = await asked(chat, problems)
    rates: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(arguments.runs + 1):
            async with Checkpoints.from_conn_string(str(Path(folder) / f"{turn}.db")) as saver:
                kept = tg.build(
                    "tot_bfs", task="game24", model=chat, rates=lifted, checkpointer=saver
                )
                measured = [
                    ("tot_bfs", await searches(plain, problems)),
                    ("tot_bfs, SQLite", await searches(kept, problems)),
                ]
                measured.insert(0, ("bare agenerate", await bare(chat, requests)))
            if turn:
                for label, (wall, cpu, count) in measured:
                    rates.setdefault(label, []).append((count / wall, 1000 * cpu / count))
    best = statistics.median(rate for rate, _ in rates["bare agenerate"])
    idle = statistics.median(cpu for _, cpu in rates["bare agenerate"])
    print(f"{'':20}{'requests/s':>12}{'of bare':>9}{'target':>9}{'CPU ms/request':>16}{'above':>7}")
    for label, runs in rates.items():
        rate = statistics.median(r for r, _ in runs)
        cpu = statistics.median(c for _, c in runs)
        target = f"≥ {TARGETS[label]:.0%}" if label in TARGETS else ""
        print(f"{label:20}{rate:12.0f}{rate / best:9.1%}{target:>9}{cpu:16.2f}{cpu - idle:+7.2f}")
    print(f"target of port and LangGraph together: {TOGETHER:+.1f} ms of processor time a request")


Request = tuple[str, int]
"""A prompt and how many samples of it."""


async def asked(chat: ChatOpenAI, problems: Sequence[str]) -> list[Request]:
    """Returns the requests that the searches make, in the order in which they make them."""
    requests: list[Request] = []
    ask = asker(chat)

    async def noted(prompt: Prompt, n: int) -> list[str]:
        requests.append((prompt.user, n))
        return await ask(prompt, n)

    await asyncio.gather(*(solve(noted, problem) for problem in problems))
    return requests


async def bare(chat: ChatOpenAI, requests: Sequence[Request]) -> tuple[float, float, int]:
    """Sends the requests of the searches in as many waves as the searches have levels.

    The waves are what makes the two sides comparable: the searches send a level at once, and the
    HTTP client under both takes longer for a request the more of them are in flight.
    """
    size = -(-len(requests) // LEVELS)
    began, cpu = time.perf_counter(), time.process_time()
    for first in range(0, len(requests), size):
        await asyncio.gather(
            *(
                chat.agenerate([[HumanMessage(prompt)]], n=n, temperature=0.7, max_tokens=1000)
                for prompt, n in requests[first : first + size]
            )
        )
    return time.perf_counter() - began, time.process_time() - cpu, len(requests)


async def searches(graph: Any, problems: Sequence[str]) -> tuple[float, float, int]:
    """Runs all searches at once; returns wall seconds, CPU seconds and requests."""
    began, cpu = time.perf_counter(), time.process_time()
    results = await asyncio.gather(
        *(
            graph.ainvoke({"problem": problem}, {"configurable": {"thread_id": problem}})
            for problem in problems
        )
    )
    wall, busy = time.perf_counter() - began, time.process_time() - cpu
    return wall, busy, sum(result["usage"]["requests"] for result in results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("endpoint")
    parser.add_argument("--puzzles", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    asyncio.run(main(parser.parse_args()))
