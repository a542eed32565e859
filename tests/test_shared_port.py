"""One port beside itself: shared evaluations, limits on what is in flight, loops, cancellation."""

import asyncio
import time
from typing import Any

from support.asking import ASK, ONCE, meter, numbered, port
from support.fake_server import FakeServer, Fault, after

from thoughtgraph.errors import BudgetSpent, ModelError, OutOfTime
from thoughtgraph.llm.limiter import Limiter, Rates
from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.port import Draw
from thoughtgraph.usage import Limits, Usage

HELD = Fault(hold=True)


REPLY = numbered


def hold(server: FakeServer) -> None:
    server.fault = lambda seen: HELD


async def held(server: FakeServer, least: int = 1) -> None:
    await asyncio.to_thread(server.wait_for_held, 60.0, least)


async def test_identical_concurrent_evaluations_are_one_request(server: FakeServer) -> None:
    asked, spent = port(server), meter(requests=1)
    texts = await asyncio.gather(
        *(asked.sample(ASK, n=3, role="value", scope="run", meter=spent) for _ in range(10))
    )
    assert len(server.seen) == 1
    assert texts == [["text 0", "text 1", "text 2"]] * 10
    texts[0].clear()
    assert texts[1], "each caller has a list of its own"
    assert (spent.usage()["requests"], spent.usage()["cached"]) == (1, 9)


async def test_what_differs_is_not_shared(server: FakeServer) -> None:
    asked = port(server)
    await asyncio.gather(
        asked.sample(ASK, scope="run"),
        asked.sample(ASK, scope="another run"),
        asked.sample(ASK, scope="run", n=2),
        asked.sample(ASK, scope="run", stop=["x"]),
        asked.sample(ASK, scope="run", parameters={"temperature": 0.1}),
        asked.sample(ASK, scope="run", draw=Draw("p", "0")),
        asked.sample(ASK, scope="run", draw=Draw("p", "0")),
    )
    assert len(server.seen) == 7
    for scope in ("run", "shared", "shared", "shared"):
        await asked.sample(ASK, scope=scope)
    assert len(server.seen) == 9, "an evaluation outlives its run only when it is shared"


async def test_who_waits_asks_when_the_asker_is_stopped(server: FakeServer) -> None:
    hold(server)
    asked = port(server)
    asker = asyncio.create_task(asked.sample(ASK))
    await held(server)
    waiters = [asyncio.create_task(asked.sample(ASK)) for _ in range(4)]
    await asyncio.sleep(0)
    server.fault = lambda seen: Fault()
    asker.cancel()
    waiters[0].cancel()
    results = await asyncio.gather(asker, *waiters, return_exceptions=True)
    assert [isinstance(result, asyncio.CancelledError) for result in results[:2]] == [True, True]
    assert results[2:] == [["text 0"]] * 3
    assert len(server.seen) == 2


async def test_a_failure_stops_what_is_still_queued(server: FakeServer) -> None:
    server.fault = after(2, Fault(500))
    shared: dict[str, float] = {}
    asked = port(server, retry=ONCE, limiter=Limiter(Rates(concurrency=1)))
    meters = [Meter(Limits(), Usage(), siblings=shared) for _ in range(20)]
    results = await asyncio.gather(
        *(asked.sample(ASK, draw=Draw("p", str(k)), meter=spent) for k, spent in enumerate(meters)),
        return_exceptions=True,
    )
    assert results[:2] == [["text 0"]] * 2
    assert isinstance(results[2], ModelError)
    assert all(isinstance(result, BudgetSpent) for result in results[3:])
    assert len(server.seen) == 3
    shared_failure = await asyncio.gather(
        *(asked.sample(ASK) for _ in range(5)), return_exceptions=True
    )
    assert all(isinstance(result, ModelError) for result in shared_failure)
    assert len(server.seen) == 4, "who waits for an answer fails with who asked"


# Limits.


async def test_the_limit_on_seconds_cuts_off_what_is_in_flight(server: FakeServer) -> None:
    server.fault = after(1, Fault(hang=True))
    asked, passed = port(server, limiter=Limiter(Rates(concurrency=5))), 0.0
    watch = Meter(Limits(seconds=600.0), Usage(), clock=lambda: time.time() + passed)

    def ask(k: int) -> Any:
        return asked.sample(ASK, draw=Draw("p", str(k)), meter=watch)

    assert await ask(0), "what is answered in time is kept"
    passed = 599.8
    async with asyncio.timeout(60):
        results = await asyncio.gather(*map(ask, range(1, 11)), return_exceptions=True)
    assert all(isinstance(result, OutOfTime) for result in results), "those in the queue too"
    assert len(server.seen) <= 6, "a turn that comes free too late is not used"
    usage = watch.usage()
    assert usage["requests"] == 1
    assert usage["mark"]["until"] - usage["mark"]["begin"] >= 600.0, "no time is left"
    server.release()
    assert await asked.sample(ASK, draw=Draw("p", "11")), "the endpoint's turns are free again"


# Event loops and cancellation.


async def test_a_port_is_usable_after_cancellation(server: FakeServer) -> None:
    asked = port(server, limiter=Limiter(Rates(concurrency=4)))
    shared: dict[str, float] = {}
    for _ in range(2):
        hold(server)
        meters = [Meter(Limits(requests=100), Usage(), siblings=shared) for _ in range(12)]
        asking = [
            asyncio.create_task(asked.sample(ASK, n=2, scope=str(k % 6), meter=spent))
            for k, spent in enumerate(meters)
        ]
        await held(server, 4)
        for task in asking:
            task.cancel()
        results = await asyncio.gather(*asking, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        server.release()
    async with asyncio.timeout(60):
        await asyncio.gather(*(asked.sample(ASK, scope=str(k)) for k in range(20)))
    assert shared["requests"] == 0, "nothing stays reserved"
