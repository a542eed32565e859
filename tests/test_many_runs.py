"""Many runs at once in one process, on a server that fails often: each ends, and leaves nothing.

Every fifth run is cancelled and every fifth one is abandoned: its stream is not read to the end.
`-m slow` runs 200 side by side.
"""

import asyncio
import gc
import json
import os
import random
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, get_args
from weakref import WeakSet

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from support.acting import Errand, Walk
from support.faulty_server import GARBAGE_TEXTS, MARK, FaultyServer, marked
from support.spelling import WRONG, Spelling
from support.stepping import Stepping

import thoughtgraph as tg
from thoughtgraph.building import Graph
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.retry import Retry
from thoughtgraph.outcome import StopReason


class Errands(Errand):
    """Knows which of the tools that it opened are still held by something."""

    def __init__(self) -> None:
        super().__init__()
        self.held: WeakSet[Walk] = WeakSet()

    def tools(self, problem: str, options: Any, extra: Any) -> Walk:
        tools = Walk()
        self.held.add(tools)
        return tools


ERRANDS = Errands()
METHODS: dict[str, Any] = {
    "io": "question",
    "cot_sc": "question",
    "tot_bfs": Spelling(),
    **dict.fromkeys(["chain", "level_tot", "rollback"], Stepping()),
    **dict.fromkeys(["react", "itot_a_star", "itot_dfs", "fgdip"], ERRANDS),
}
CONTEXT: Any = {"limit_requests": 15, "on_error": "report"}
PATIENCE = 180.0
"""Seconds in which a run must end: a bound on hanging, not on speed."""
PAGE = os.sysconf("SC_PAGE_SIZE")
RUN: ContextVar[str] = ContextVar("run", default="")
"""The mark of the run that a task belongs to."""
TASKS: defaultdict[str, WeakSet[asyncio.Task[Any]]] = defaultdict(WeakSet)
"""The tasks of every run, by its mark."""


class Load(NamedTuple):
    at_once: int
    runs: int
    timeout: float
    """Seconds after which an attempt is given up."""


def owned(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
    task = asyncio.Task(coroutine, loop=loop, **options)
    TASKS[RUN.get()].add(task)
    return task


async def gone(mark: str = "") -> None:
    """Waits until a run, or every one, has no task left that could ask on."""
    tasks: Collection[asyncio.Task[Any]] = ()
    for _ in range(int(PATIENCE / 0.05)):
        tasks = TASKS[mark] if mark else asyncio.all_tasks() - {asyncio.current_task()}
        if all(task.done() for task in tasks):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"tasks outlive a run: {list(tasks)[:3]}")


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def sockets() -> set[str]:
    names = set()
    for fd in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the listing's own
            names.add(os.readlink(fd))
    return {name for name in names if name.startswith("socket:")}


def check(out: dict[str, Any], mark: str) -> str:
    """Checks that a run ended with a result or a reason, and knows nothing of another."""
    assert out["stop_reason"] in get_args(StopReason), out["stop_reason"]
    assert out["outcome"] and (out["stop_reason"] != "error" or out["error"])
    found = {name: out[name] for name in ("tree", "answer", "candidates", "votes", "error")}
    assert set(MARK.findall(json.dumps(found))) <= {mark}, f"a run of {mark} holds another's text"
    if out["method"] == "tot_bfs":
        letters = [each for each in out["tree"].values() if each["depth"]]
        known = (WRONG, *GARBAGE_TEXTS)
        assert all(each["text"] in (mark[each["depth"] - 1], *known) for each in letters)
    return str(out["stop_reason"])


async def run(graph: Graph, number: int) -> str:
    """One run, to its end or to its fate; returns how it ended."""
    mark, left = marked(number), random.Random(number).randint(1, 8)
    fate = {3: "cancelled", 4: "abandoned"}.get(number % 5, "left alone")
    RUN.set(mark)
    out: dict[str, Any] = {}
    async with asyncio.timeout(PATIENCE):
        async for state in graph.astream({"problem": mark}, context=CONTEXT, stream_mode="values"):
            out, left = state, left - 1
            if fate == "abandoned" and not left:
                return fate
            if fate == "cancelled" and not left:
                task = asyncio.current_task()
                assert task
                task.cancel()
    return check(out, mark)


async def work(graphs: list[Graph], numbers: Iterator[int], ends: Counter[str]) -> None:
    """Runs one after the other as long as there are any."""
    for number in numbers:
        running = asyncio.create_task(run(graphs[number % len(graphs)], number))
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            running.cancel()
            await asyncio.wait([running])
            raise
        ends["cancelled" if running.cancelled() else running.result()] += 1
        await gone(marked(number))


async def crowd(load: Load, server: FaultyServer, ends: Counter[str]) -> tuple[int, int]:
    """All runs, of the last ones half cancelled; returns memory after a third and at the end."""
    asyncio.get_running_loop().set_task_factory(owned)
    chat = ChatOpenAI(model="fake", base_url=server.url, api_key=SecretStr("x"), max_retries=0)
    retry = Retry(give_up_after=3 * load.timeout, longest_wait=1.0)
    port = ChatPort(chat, timeout=load.timeout, retry=retry)
    graphs = [tg.build(method, task=task, model=port) for method, task in METHODS.items()]
    memory: dict[int, int] = {}

    def numbers() -> Iterator[int]:
        for number in range(load.runs):
            memory[number] = resident()
            yield number

    shared = numbers()
    workers = [asyncio.create_task(work(graphs, shared, ends)) for _ in range(load.at_once)]
    done, rest = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
    for each in [*rest][::2]:
        each.cancel()
    for each in await asyncio.gather(*done, *rest, return_exceptions=True):
        if each is not None and not isinstance(each, asyncio.CancelledError):
            raise each
    await gone()
    return memory[load.runs // 3], resident()


LOADS = [
    pytest.param(Load(20, 40, 2.0), id="20"),
    pytest.param(Load(200, 5_000, 5.0), id="200", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("load", LOADS)
def test_every_run_ends_and_leaves_nothing(load: Load) -> None:
    ends: Counter[str] = Counter()
    threads, open_before = set(threading.enumerate()), sockets()
    with FaultyServer(seed=7, timeout=load.timeout) as server:
        third, end = asyncio.run(crowd(load, server, ends))
        seen = server.seen()
        assert sockets() <= open_before
    assert set(threading.enumerate()) <= threads
    gc.collect()
    assert not ERRANDS.held, "the tools of a run"
    assert not seen["crossed"], seen["crossed"]
    assert {"cancelled", "abandoned"} < set(ends), "some are left alone, too"
    # Shown with `pytest -s`.
    told = f"{dict(ends)}, {seen['requests']} requests, faults {seen['faults']}"
    sys.stderr.write(f"{told}, memory {third >> 20} MB after a third, {end >> 20} MB at the end\n")
    if load.at_once > 20:  # a short run has only begun to fill its caches
        assert end < 1.1 * third
