"""Caps and rates hold, in one event loop and in several, and survive cancellation."""

import asyncio
import random
import threading

import pytest
from langchain_core.messages import HumanMessage
from support.clock import Clock
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.errors import InputError
from thoughtgraph.llm.limiter import Limiter, Rates, rates_from_environment


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


async def test_who_is_cancelled_frees_the_place() -> None:
    limiter, gauge = Limiter(Rates(concurrency=1)), Gauge()
    dice = random.Random(1)
    for _ in range(30):
        visits = [asyncio.create_task(gauge.visit(limiter, name)) for name in range(6)]
        await asyncio.sleep(dice.choice([0.0, 0.0005, 0.0015]))
        for visit in dice.sample(visits, 3):
            visit.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        async with asyncio.timeout(60):
            await gauge.visit(limiter, 9)
    assert gauge.peak == 1


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


# Rates, by a clock of the test's own.


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
    limiter, sleep = Limiter(Rates(rpm=1)), clock.sleep
    async with limiter.slot():
        pass

    async def cancelled(seconds: float) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(clock, "sleep", cancelled)
    clock.rule(monkeypatch, "thoughtgraph.llm.limiter")
    for _ in range(50):
        with pytest.raises(asyncio.CancelledError):
            await Gauge().visit(limiter, 0)
    monkeypatch.setattr(clock, "sleep", sleep)
    clock.rule(monkeypatch, "thoughtgraph.llm.limiter")
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
