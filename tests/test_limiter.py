"""Caps and rates hold, in one event loop and in several, and survive cancellation."""

import asyncio
import random
import threading
import time

import pytest
from langchain_core.messages import HumanMessage
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.errors import InputError
from thoughtgraph.llm.limiter import Limiter, Rates, rates_from_environment, shared_limiter


class Gauge:
    """Counts who is inside."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.peak = 0
        self.order: list[int] = []

    async def visit(self, limiter: Limiter, name: int, seconds: float = 0.0) -> None:
        async with limiter.slot(1):
            with self.lock:
                self.inside += 1
                self.peak = max(self.peak, self.inside)
                self.order.append(name)
            try:
                await asyncio.sleep(seconds)
            finally:
                with self.lock:
                    self.inside -= 1


async def test_the_cap_holds_first_come_first_served() -> None:
    limiter, gauge = Limiter(Rates(concurrency=3)), Gauge()
    await asyncio.gather(*(gauge.visit(limiter, name, 0.001) for name in range(30)))
    assert gauge.peak == 3
    assert gauge.order == list(range(30))


def test_the_cap_holds_across_event_loops_in_threads() -> None:
    limiter, gauge = Limiter(Rates(concurrency=2)), Gauge()

    async def visits() -> None:
        await asyncio.gather(*(gauge.visit(limiter, name, 0.002) for name in range(10)))

    threads = [threading.Thread(target=asyncio.run, args=(visits(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert gauge.peak == 2
    assert len(gauge.order) == 40


async def test_who_is_cancelled_frees_the_place() -> None:
    limiter, gauge = Limiter(Rates(concurrency=1)), Gauge()
    dice = random.Random(1)
    for _ in range(30):
        visits = [asyncio.create_task(gauge.visit(limiter, name, 0.001)) for name in range(6)]
        await asyncio.sleep(dice.choice([0.0, 0.0005, 0.0015]))
        for visit in dice.sample(visits, 3):
            visit.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        async with asyncio.timeout(1):
            await gauge.visit(limiter, 9)
    assert gauge.peak == 1


def test_who_waits_in_a_loop_that_was_closed_takes_no_place() -> None:
    limiter = Limiter(Rates(concurrency=1))
    held = limiter.slot(1)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(held.__aenter__())
    abandoned = loop.create_task(Gauge().visit(limiter, 0))
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()

    async def leave_and_come() -> None:
        await held.__aexit__(None, None, None)
        async with asyncio.timeout(1):
            await Gauge().visit(limiter, 1)

    asyncio.run(leave_and_come())
    abandoned._log_destroy_pending = False  # type: ignore[attr-defined]


async def test_a_request_counts_as_many_samples_as_it_asks_for() -> None:
    limiter, dice = Limiter(Rates(concurrency=None, samples=8)), random.Random(2)
    sizes = [dice.randint(1, 11) for _ in range(60)]
    inside, peak, order = 0, 0, []

    async def visit(name: int) -> None:
        nonlocal inside, peak
        async with limiter.slot(1, sizes[name]):
            order.append(name)
            inside += min(8, sizes[name])
            peak = max(peak, inside)
            await asyncio.sleep(0.001)
            inside -= min(8, sizes[name])

    visits = [asyncio.create_task(visit(name)) for name in range(60)]
    await asyncio.sleep(0.002)
    gone = {name for name in range(20, 40) if visits[name].cancel()}
    await asyncio.gather(*visits, return_exceptions=True)
    assert peak == 8
    assert [name for name in order if name not in gone] == [
        name for name in range(60) if name not in gone
    ]


async def test_what_is_in_flight_comes_to_no_more_tokens_than_the_server_keeps() -> None:
    limiter, within, most = Limiter(Rates(concurrency=None, context=100)), 0, 0

    async def visit(tokens: int) -> None:
        nonlocal within, most
        async with limiter.slot(1, 1, tokens):
            within += tokens
            most = max(most, within)
            await asyncio.sleep(0.001)
            within -= tokens

    draws = random.Random(3)
    await asyncio.gather(*(visit(draws.randint(1, 60)) for _ in range(60)))
    assert 60 < most <= 100
    async with asyncio.timeout(1):
        await visit(1_000)  # alone, as it would else wait for ever


async def test_a_request_may_come_to_its_prompt_and_all_its_completions() -> None:
    model = ScriptedChat(reply=lambda call: ["yes"] * call.n, delay=0.01)
    limiter = Limiter(Rates(concurrency=None, context=1_000))
    port = tg.ChatPort(model, limiter=limiter)
    asked = [HumanMessage("letters " * 50)]  # some 100 tokens

    async def ask(number: int, length: int) -> None:
        bounds = {"max_tokens": length}
        await port.sample(asked, n=4, parameters=bounds, draw=tg.Draw(str(number), "0"))

    for length, together in ((100, 2), (25, 5), (400, 1)):
        model.peak = 0
        await asyncio.gather(*(ask(number, length) for number in range(10)))
        assert model.peak == together


async def test_no_minute_sees_more_requests_than_the_rate() -> None:
    minute, jitter = 0.4, 0.1
    limiter = Limiter(Rates(rpm=5), minute=minute)
    starts: list[float] = []

    async def visit() -> None:
        async with limiter.slot(1):
            starts.append(time.monotonic())

    await asyncio.gather(*(visit() for _ in range(11)))
    assert all(b - a >= minute - jitter for a, b in zip(starts, starts[5:], strict=False))
    assert starts[-1] - starts[0] < 3 * minute


@pytest.mark.ci
async def test_tokens_are_counted_as_they_turn_out() -> None:
    minute = 1.0
    limiter = Limiter(Rates(tpm=100), minute=minute)

    async def visit(estimate: int, true: int) -> float:
        began = time.monotonic()
        async with limiter.slot(estimate) as turn:
            turn.settle(true)
        return time.monotonic() - began

    assert await visit(90, 10) < 0.5
    assert await visit(90, 90) < 0.5, "the first took 10, not 90"
    assert await visit(50, 50) >= 0.9 * minute - 0.1
    assert await visit(10_000, 10_000) < 1.5 * minute + 5, "a giant waits for one free minute"


async def test_who_is_cancelled_gives_the_rate_back() -> None:
    limiter = Limiter(Rates(rpm=1), minute=0.3)
    async with limiter.slot(1):
        pass
    waiting = [asyncio.create_task(Gauge().visit(limiter, name)) for name in range(50)]
    await asyncio.sleep(0.01)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    async with asyncio.timeout(14):  # fifty turns would be fifteen seconds
        await Gauge().visit(limiter, 1)


def test_runs_of_one_process_share_a_limiter() -> None:
    assert shared_limiter("http://a", Rates(2)) is shared_limiter("http://a", Rates(2))
    assert shared_limiter("http://a", Rates(2)) is not shared_limiter("http://b", Rates(2))


def test_rates_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONCURRENCY", "RPM", "TPM"):
        monkeypatch.delenv(f"THOUGHTGRAPH_{name}", raising=False)
    assert rates_from_environment() == Rates()
    monkeypatch.setenv("THOUGHTGRAPH_CONCURRENCY", "3")
    monkeypatch.setenv("THOUGHTGRAPH_RPM", "60")
    monkeypatch.setenv("THOUGHTGRAPH_TPM", "1e5")
    assert rates_from_environment() == Rates(3, 60.0, 100_000.0)
    bad = [("RPM", "many"), ("RPM", "0"), ("TPM", "nan"), ("TPM", "inf")]
    bad += [("CONCURRENCY", text) for text in ("-1", "0", "nan", "inf", "2.5")]
    for name, text in bad:
        monkeypatch.setenv(f"THOUGHTGRAPH_{name}", text)
        with pytest.raises(InputError, match=f"(?i){name}"):
            rates_from_environment()
        monkeypatch.setenv(f"THOUGHTGRAPH_{name}", "5")
