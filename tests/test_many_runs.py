"""Many runs at once in one process, on a server that fails often: each ends, and leaves nothing.

Every fifth run is cancelled and every fifth one is abandoned: its stream is not read to the end.
`-m slow` runs 200 side by side for five minutes.
"""

import asyncio
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from support.acting import Errand
from support.faulty_server import GARBAGE_TEXTS, MARK, FaultyServer, marked
from support.spelling import WRONG, Spelling
from support.stepping import Stepping

import thoughtgraph as tg
from thoughtgraph.building import Graph
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.retry import Retry
from thoughtgraph.outcome import StopReason

METHODS: dict[str, Any] = {
    "io": "question",
    "cot_sc": "question",
    "tot_bfs": Spelling(),
    "chain": Stepping(),
    "level_tot": Stepping(),
    "rollback": Stepping(),
    "react": Errand(),
    "itot_a_star": Errand(),
    "itot_dfs": Errand(),
    "fgdip": Errand(),
}
REQUESTS = 15
"""Requests of a run, so that there are many runs."""
PATIENCE = 180.0
"""Seconds in which a run must end: a bound on hanging, not on speed."""
LATE = 5.0
"""Seconds in which a request that was sent before its run was ended may still arrive."""
PAGE = os.sysconf("SC_PAGE_SIZE")


class Load(NamedTuple):
    runs: int
    """How many at once."""
    seconds: float
    timeout: float
    """Seconds after which an attempt is given up."""


class Tally:
    """What became of the runs."""

    def __init__(self) -> None:
        self.ends: Counter[str] = Counter()
        self.stopped: dict[str, float] = {}
        """When a run was cancelled or abandoned, by its mark."""
        self.memory: list[tuple[float, int]] = []
        """Seconds since the beginning, and bytes in use."""


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def sockets() -> set[str]:
    found = set()
    for fd in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the listing's own
            found.add(os.readlink(fd))
    return {name for name in found if name.startswith("socket:")}


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


async def run(graph: Graph, number: int, tally: Tally) -> None:
    """One run, to its end or to its fate."""
    mark, draws = marked(number), random.Random(number)
    fate = {3: "cancelled", 4: "abandoned"}.get(number % 5, "left alone")
    stream = graph.astream(
        {"problem": mark},
        context={"limit_requests": REQUESTS, "on_error": "report"},
        stream_mode="values",
    )
    ended: dict[str, Any] = {}
    left = draws.randint(1, 8)
    try:
        async with asyncio.timeout(PATIENCE):
            async for out in stream:
                ended, left = out, left - 1
                if fate == "cancelled" and not left:
                    _cancel_soon(draws.uniform(0.0, 0.5))
                if fate == "abandoned" and not left:
                    tally.ends[fate] += 1
                    tally.stopped[mark] = time.monotonic()
                    return
            tally.ends[check(ended, mark)] += 1
    except asyncio.CancelledError:
        tally.ends["cancelled"] += 1
        tally.stopped[mark] = time.monotonic()
        raise


def _cancel_soon(seconds: float) -> None:
    task = asyncio.current_task()
    assert task
    asyncio.get_running_loop().call_later(seconds, task.cancel)


async def work(graphs: list[Graph], numbers: Any, until: float, tally: Tally) -> None:
    """Runs one after the other until the time is up."""
    while time.monotonic() < until:
        number = next(numbers)
        running = asyncio.create_task(run(graphs[number % len(graphs)], number, tally))
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            running.cancel()
            await asyncio.wait([running])
            raise
        if not running.cancelled():
            running.result()


async def crowd(load: Load, server: FaultyServer, tally: Tally) -> None:
    """All runs; half of those that the end finds running are cancelled, the others awaited."""
    chat = ChatOpenAI(model="fake", base_url=server.url, api_key=SecretStr("x"), max_retries=0)
    port = ChatPort(
        chat,
        timeout=load.timeout,
        retry=Retry(give_up_after=3 * load.timeout, longest_wait=1.0),
    )
    graphs = [tg.build(method, task=task, model=port) for method, task in METHODS.items()]
    began = time.monotonic()
    numbers = iter(range(10**6))
    until = began + load.seconds
    workers = [asyncio.create_task(work(graphs, numbers, until, tally)) for _ in range(load.runs)]
    while time.monotonic() < until:
        await asyncio.sleep(1.0)
        tally.memory.append((time.monotonic() - began, resident()))
        for each in workers:
            assert not each.done() or each.result() is None
    for each in workers[::2]:
        each.cancel()
    ended = await asyncio.gather(*workers, return_exceptions=True)
    for each in ended:
        if each is not None and not isinstance(each, asyncio.CancelledError):
            raise each
    await nothing_left(server)


async def nothing_left(server: FaultyServer) -> None:
    """Waits until the runs are gone, and sees that nothing of them goes on."""
    for _ in range(int(10 * PATIENCE)):
        if len(asyncio.all_tasks()) == 1 and not server.seen()["in_flight"]:
            break
        await asyncio.sleep(0.1)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"{len(left)} tasks outlive their runs: {list(left)[:3]}"
    before = server.seen()["requests"]
    await asyncio.sleep(1.0)
    assert server.seen()["requests"] == before, "a run that has ended asks on"


LOADS = [
    pytest.param(Load(30, 6.0, 1.0), id="30"),
    pytest.param(Load(200, 300.0, 5.0), id="200", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("load", LOADS)
def test_every_run_ends_and_leaves_nothing(load: Load) -> None:
    tally, threads = Tally(), set(threading.enumerate())
    with FaultyServer(seed=7, timeout=load.timeout) as server:
        open_before = sockets()
        asyncio.run(crowd(load, server, tally))
        seen = server.seen()
        assert sockets() <= open_before
    assert set(threading.enumerate()) <= threads
    assert not seen["crossed"], seen["crossed"]
    assert set(tally.ends) >= {"finished", "budget", "cancelled", "abandoned"}
    late = {
        mark: seen["last"][mark] - ended
        for mark, ended in tally.stopped.items()
        if seen["last"].get(mark, 0.0) > ended + LATE
    }
    assert not late, f"{len(late)} runs asked on after they were ended: {late}"
    third = next(used for at, used in tally.memory if at >= load.seconds / 3)
    end = tally.memory[-1][1]
    # Shown with `pytest -s`.
    told = f"{dict(tally.ends)}, {seen['requests']} requests, faults {seen['faults']}"
    sys.stderr.write(f"{told}, memory {third >> 20} MB after a third, {end >> 20} MB at the end\n")
    if load.seconds > 60:  # a short run has only begun to fill its caches
        assert end < 1.1 * third
