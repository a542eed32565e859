"""Caps and rates of an endpoint, and one port beside itself."""

import asyncio
import random
import threading
import time
from collections import defaultdict
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from support.asking import ASK, ONCE, meter, numbered, port
from support.clock import Clock, set_clock
from support.fake_server import FakeServer, Fault, after
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.errors import BudgetSpent, InputError, ModelError, OutOfTime
from thoughtgraph.llm.exchange import Draw
from thoughtgraph.llm.limiter import Limiter, Rates, rates_from_environment
from thoughtgraph.llm.meter import Meter
from thoughtgraph.usage import Limits, Usage


class Gauge:
    """Counts how much is inside."""

    def __init__(self, most: int = 1) -> None:
        self.lock = threading.Lock()
        self.most = most
        self.inside = 0
        self.peak = 0
        self.order: list[int] = []

    async def visit(self, limiter: Limiter, name: int, samples: int = 1) -> None:
        size = min(self.most, samples)
        async with limiter.slot(samples):
            with self.lock:
                self.inside += size
                self.peak = max(self.peak, self.inside)
                self.order.append(name)
            try:
                await asyncio.sleep(0.001)
            finally:
                with self.lock:
                    self.inside -= size


@pytest.mark.parametrize(
    ("rates", "most", "largest"),
    [(Rates(concurrency=3), 3, 1), (Rates(concurrency=None, samples=8), 8, 11)],
)
async def test_the_cap_holds_first_come_first_served_whoever_leaves(
    rates: Rates, most: int, largest: int
) -> None:
    limiter, gauge, dice = Limiter(rates), Gauge(most), random.Random(2)
    sizes = [dice.randint(1, largest) for _ in range(60)]
    visits = [
        asyncio.create_task(gauge.visit(limiter, name, size)) for name, size in enumerate(sizes)
    ]
    await asyncio.sleep(0.002)
    gone = {name for name in range(20, 40) if visits[name].cancel()}
    await asyncio.gather(*visits, return_exceptions=True)
    assert gauge.peak == most
    assert [name for name in gauge.order if name not in gone] == [
        name for name in range(60) if name not in gone
    ]


@pytest.mark.parametrize(("length", "together"), [(100, 2), (25, 5), (400, 1)])
async def test_a_request_may_come_to_its_prompt_and_all_its_completions(
    length: int, together: int
) -> None:
    model = ScriptedChat(reply=lambda call: ["yes"] * call.n, delay=0.01)
    port = tg.ChatPort(model, limiter=Limiter(Rates(concurrency=None, context=1_000)))
    question = [HumanMessage("letters " * 50)]  # some 100 tokens
    await asyncio.gather(
        *(
            port.sample(question, n=4, parameters={"max_tokens": length}, draw=tg.Draw(str(k), "0"))
            for k in range(10)
        )
    )
    assert model.peak == together


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    ours = Clock()
    ours.rule(monkeypatch, "thoughtgraph.llm.limiter")
    return ours


async def test_no_minute_sees_more_requests_than_the_rate(clock: Clock) -> None:
    limiter, began, starts = Limiter(Rates(rpm=5)), clock.now, list[float]()

    async def visit() -> None:
        async with limiter.slot():
            starts.append(clock.now - began)

    await asyncio.gather(*(visit() for _ in range(11)))
    assert starts == [0.0] * 5 + [60.0] * 5 + [120.0]


async def test_who_is_cancelled_gives_the_rate_back(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter = Limiter(Rates(rpm=1))
    async with limiter.slot():
        pass

    async def cancelled(seconds: float) -> None:
        raise asyncio.CancelledError

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("thoughtgraph.llm.limiter.asyncio.sleep", cancelled)
        for _ in range(50):
            with pytest.raises(asyncio.CancelledError):
                await Gauge().visit(limiter, 0)
    await Gauge().visit(limiter, 1)
    assert clock.slept == [60.0], "one minute, not fifty"


def test_rates_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONCURRENCY", "RPM"):
        monkeypatch.delenv(f"THOUGHTGRAPH_{name}", raising=False)
    assert rates_from_environment() == Rates() == Rates(64, None)
    for name, text in (("CONCURRENCY", "3"), ("RPM", "60")):
        monkeypatch.setenv(f"THOUGHTGRAPH_{name}", text)
    assert rates_from_environment() == Rates(3, 60.0)
    bad = [("RPM", "many"), ("TPM", "9"), ("CONCURRENCY", "0"), ("CONCURRENCY", "2.5")]
    for name, text in bad:
        monkeypatch.setenv(f"THOUGHTGRAPH_{name}", text)
        with pytest.raises(InputError, match=f"(?i){name}"):
            rates_from_environment()
        monkeypatch.setenv(f"THOUGHTGRAPH_{name}", "" if name == "TPM" else "1")
    assert rates_from_environment().rpm == 1


REPLY = numbered


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


async def test_who_waits_asks_when_the_asker_is_stopped_and_nothing_stays_taken(server):
    server.fault = lambda seen: Fault(hold=True)
    asked = port(server, limiter=Limiter(Rates(concurrency=1)))
    shared = defaultdict[str, float](float)
    watch = Meter(Limits(requests=100), Usage(), siblings=shared)
    asker = asyncio.create_task(asked.sample(ASK, meter=watch))
    await asyncio.to_thread(server.wait_for_held)
    queued = asyncio.create_task(asked.sample(ASK, n=2, scope="another", meter=watch))
    waiters = [asyncio.create_task(asked.sample(ASK)) for _ in range(4)]
    await asyncio.sleep(0)
    assert shared["requests"] == 2, "reserved: the asker's, and that of the one in the queue"
    server.fault = lambda seen: Fault()
    stopped = (asker, queued, waiters[0])
    for task in stopped:
        task.cancel()
    async with asyncio.timeout(60):
        results = await asyncio.gather(*stopped, *waiters[1:], return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results[:3])
    assert results[3:] == [["text 0"]] * 3
    assert len(server.seen) == 2
    assert shared["requests"] == 0, "nothing stays reserved"


async def test_a_failure_stops_what_is_still_queued(server: FakeServer) -> None:
    server.fault = after(2, Fault(500))
    shared = defaultdict[str, float](float)
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


async def test_the_limit_on_seconds_cuts_off_what_is_in_flight(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fault = after(1, Fault(hang=True))
    asked, passed = port(server, limiter=Limiter(Rates(concurrency=5))), 0.0
    set_clock(lambda: time.time() + passed, monkeypatch)
    watch = Meter(Limits(seconds=600.0), Usage())

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
