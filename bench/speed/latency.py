"""How close a search comes to the time its dependent requests need.

    uv run python -m thoughtgraph.bench.speed.latency http://127.0.0.1:8777/v1#fake

Solves ten Game-of-24 puzzles, one after the other, with `tot_bfs` (without a checkpointer, with
SQLite, with shared evaluations) and with a plain asyncio loop that makes the same requests, in
turn, several times, and prints medians. The endpoint should answer after a fixed latency; with
`--retry` both sides repeat failed requests by the same policy, for an endpoint that fails now and
then.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

import thoughtgraph as tg
from thoughtgraph.bench.speed.plain_loop import address, asker, solve
from thoughtgraph.checkpoints import Checkpoints

PUZZLES = (
    "4 5 6 10",
    "1 2 4 7",
    "2 5 8 11",
    "3 4 4 13",
    "6 7 8 9",
    "1 11 11 13",
    "1 8 10 11",
    "2 3 6 9",
    "1 3 5 9",
    "3 3 7 12",
)
"""Ranks 901 to 910 of the public list: the first ten of the paper's hundred test puzzles."""
LEVELS = 8
PEERS = """Peers on the same puzzles, times the critical path (measured on another machine):
official Tree of Thoughts 7.7, llm-reasoners 9.5, ldp 11.5, framework-of-thoughts 2.5, a
LangGraph notebook collection 16.3, a bare asyncio loop without LangChain 1.013."""
PEERS_RETRYING = """Peers with one request in ten failing, times the critical path (measured on
another machine): official Tree of Thoughts 12.8, llm-reasoners 12.9, framework-of-thoughts 5.3."""


class Target(NamedTuple):
    """Most that is allowed; None: nothing was set."""

    path: float | None = None
    loop: float | None = None
    requests: float | None = None


TARGETS = {
    "tot_bfs": Target(loop=1.05, requests=75.0),
    "tot_bfs, SQLite": Target(loop=1.08, requests=75.0),
    "tot_bfs, shared evaluations": Target(requests=61.0),
}
TARGETS_RETRYING = {"tot_bfs": Target(path=2.3, loop=1.1)}

Run = Callable[[str], Awaitable[Any]]
Chat = Callable[[], ChatOpenAI]


async def main(arguments: argparse.Namespace) -> None:
    """Measures and prints."""
    base, name = address(arguments.endpoint)

    def chat() -> ChatOpenAI:
        return ChatOpenAI(model=name, base_url=base, api_key=SecretStr("none"), max_retries=0)

    retry = tg.Retry() if arguments.retry else None
    ask = asker(chat(), retry)
    times: dict[str, list[float]] = {}
    requests: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(arguments.runs + 1):
            file = Path(folder) / f"{turn}.sqlite"
            async with Checkpoints.from_conn_string(str(file)) as saver:
                for label, run in contenders(ask, chat, saver, turn):
                    spent, counted = await timed(run)
                    if turn:  # the first turn warms connections and imports up
                        times.setdefault(label, []).append(spent)
                    requests[label] = counted
    show(times, requests, arguments.latency, retrying=arguments.retry)


def contenders(ask: Any, chat: Chat, saver: Any, turn: int) -> list[tuple[str, Run]]:
    """Returns what is timed, under its label."""
    plain = tg.build("tot_bfs", task="game24", model=chat())
    kept = tg.build("tot_bfs", task="game24", model=chat(), checkpointer=saver)
    shared = tg.build("tot_bfs", task="game24", model=chat())

    def with_thread(problem: str) -> Awaitable[Any]:
        config: RunnableConfig = {"configurable": {"thread_id": f"{turn}:{problem}"}}
        return kept.ainvoke({"problem": problem}, config)

    return [
        ("plain loop", lambda problem: solve(ask, problem)),
        ("tot_bfs", lambda problem: plain.ainvoke({"problem": problem})),
        ("tot_bfs, SQLite", with_thread),
        (
            "tot_bfs, shared evaluations",
            lambda problem: shared.ainvoke(
                {"problem": problem}, context={"share_evaluations": True}
            ),
        ),
    ]


async def timed(run: Run) -> tuple[float, float]:
    """Returns the seconds for all puzzles and the requests a puzzle, 0 where not counted."""
    began = time.perf_counter()
    results = [await run(problem) for problem in PUZZLES]
    spent = time.perf_counter() - began
    counts = [r["usage"]["requests"] for r in results if isinstance(r, dict)]
    return spent, statistics.mean(counts) if counts else 0.0


def show(
    times: dict[str, list[float]],
    requests: dict[str, float],
    latency: float,
    *,
    retrying: bool,
) -> None:
    """Prints medians beside the critical path and the plain loop, and what is aimed at."""
    targets = TARGETS_RETRYING if retrying else TARGETS
    path = LEVELS * latency * len(PUZZLES)
    loop = statistics.median(times["plain loop"])
    print(f"{'':30}{'seconds':>9}{'x path':>9}{'x loop':>9}{'requests':>10}")
    for label, runs in times.items():
        median = statistics.median(runs)
        row = f"{label:30}{median:9.2f}{median / path:9.3f}{median / loop:9.3f}"
        print(f"{row}{requests[label]:10.1f}   {_aim(targets.get(label, Target()))}".rstrip())
    print(PEERS_RETRYING if retrying else PEERS)


def _aim(target: Target) -> str:
    units = (("x path", target.path), ("x loop", target.loop), ("requests", target.requests))
    wanted = [f"≤ {most:g} {unit}" for unit, most in units if most is not None]
    return f"target {', '.join(wanted)}" if wanted else ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("endpoint")
    parser.add_argument("--latency", type=float, default=0.2, help="the endpoint's, in seconds")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--retry", action="store_true", help="repeat failed requests on both sides")
    asyncio.run(main(parser.parse_args()))
