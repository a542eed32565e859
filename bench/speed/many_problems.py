"""The command `bench` over many problems, beside the bare chat model: its rate, memory and rows."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.bench.speed.game24_searches import Request, asked, bare_client, chat_client
from thoughtgraph.bench.speed.game24_server import serving
from thoughtgraph.bench.speed.measurement import (
    Conditions,
    Figure,
    Measurement,
    Readings,
    Unavailable,
)
from thoughtgraph.llm.limiter import DEFAULT_CONCURRENCY
from thoughtgraph.tasks.game24.game24 import puzzles

SAMPLE = 0.05
"""Share of the problems whose requests the bare client sends, before the benchmark and after."""
SECONDS_BETWEEN = 0.5
"""How often the memory of the benchmark is read."""
STARTED = 0.1
"""Share of the time after which memory is no longer expected to grow."""


class Process(NamedTuple):
    """What a process took until it ended."""

    seconds: float
    megabytes: Sequence[float]
    """Its memory, read again and again."""


async def measured(under: Conditions) -> Readings:
    """Returns what a benchmark of so many problems takes beside the bare client."""
    if not Path("/proc/self/status").exists():
        raise Unavailable("it reads the memory of processes in /proc, which Linux has")
    problems = puzzles()[: under.count]
    with serving(latency=0.0) as started, tempfile.TemporaryDirectory() as folder:
        specifier = under.endpoint or started
        async with bare_client(chat_client(specifier)) as model:
            sample = await asked(model, problems[: max(1, round(SAMPLE * len(problems)))])
            before = await bare_rate(model, sample)
            process = await benchmark(specifier, len(problems), folder)
            after = await bare_rate(model, sample)
        rows = list(ResultFolder(folder).rows())
        size = sum(file.stat().st_size for file in Path(folder).glob("*.jsonl"))
    assert len(rows) == len(problems)
    rate = sum(row["usage"]["requests"] for row in rows) / process.seconds
    settled = process.megabytes[int(STARTED * len(process.megabytes)) :]
    return {
        "bare client": (before + after) / 2,
        "bench": rate,
        "bench, of the bare client's": 2 * rate / (before + after),
        "memory": max(process.megabytes),
        "memory, its growth": settled[-1] / settled[0],
        "results": size / len(rows) / 1000,
    }


async def bare_rate(model: ChatOpenAI, requests: Sequence[Request]) -> float:
    """Returns the requests a second of a client that keeps as many in flight as `bench` may."""
    left = iter(requests)

    async def work() -> None:
        for prompt, n in left:
            await model.agenerate([[HumanMessage(prompt)]], n=n, temperature=0.7, max_tokens=1000)

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(DEFAULT_CONCURRENCY)))
    return len(requests) / (time.perf_counter() - began)


async def benchmark(specifier: str, count: int, folder: str) -> Process:
    """Runs the command, in a process of its own as users do, and watches its memory."""
    command = ["from thoughtgraph.cli.app import run; run()", "bench", "--task=game24"]
    options = ["--method=tot_bfs", f"--problems=1:{count}", f"--model={specifier}"]
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", *command, *options, f"--out={folder}"),
        stdout=asyncio.subprocess.DEVNULL,
        env={**os.environ, "OPENAI_API_KEY": "none"},
    )
    ended = asyncio.ensure_future(process.wait())
    megabytes = []
    while not ended.done():
        megabytes.append(resident(process.pid))
        await asyncio.wait([ended], timeout=SECONDS_BETWEEN)
    assert ended.result() == 0, "the benchmark failed"
    return Process(time.perf_counter() - began, [each for each in megabytes if each])


def resident(process: int) -> float:
    """Returns the memory of a process in megabytes; 0 where it has ended.

    Before the end is taken note of it has no memory, and after that no status, at any moment.
    """
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    _, _, line = status.partition("VmRSS:")
    return int(line.split()[0]) / 1000 if line else 0.0


MANY_PROBLEMS = Measurement(
    "many_problems",
    "`bench` with tot_bfs over many problems, beside the bare client with as many in flight",
    "1,000 puzzles (--count), start of the program included, on a server that answers at once",
    (
        Figure("bare client", "requests/s"),
        Figure("bench", "requests/s"),
        Figure("bench, of the bare client's", "share", least=0.70),
        Figure("memory", "MB", most=400),
        Figure("memory, its growth", "x", most=1.25),
        Figure("results", "kB/problem", most=20),
    ),
    count=1000,
    quick=10,
    take=measured,
)
