"""Times of their own for what waits: nothing is waited for, and nothing is late."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest


class Clock:
    """Tells the time when it is called, and sleeps without waiting.

    Args:
        step: Seconds that pass with each look.
    """

    def __init__(self, step: float = 0.0) -> None:
        self.now = 1_000.0
        self._step = step
        self.slept: list[float] = []

    def __call__(self) -> float:
        self.now += self._step
        return self.now

    def pause(self, seconds: float) -> None:
        """Sleeps as `time.sleep` does."""
        self.slept.append(seconds)
        self.now += seconds

    async def sleep(self, seconds: float) -> None:
        """Sleeps as `asyncio.sleep` does."""
        self.pause(seconds)

    def rule(self, monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
        """Has some modules go by this clock, and nothing else in the process."""
        time = SimpleNamespace(monotonic=self, time=self, sleep=self.pause)
        patient = SimpleNamespace(**{**vars(asyncio), "sleep": self.sleep})
        for module in modules:
            monkeypatch.setattr(f"{module}.time", time)
            monkeypatch.setattr(f"{module}.asyncio", patient, raising=False)


class _Leaping(selectors.DefaultSelector):
    """Waits for nothing: where all tasks sleep, the time of the first timer has come."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if not timeout or timeout < 0.0:
            return super().select(timeout)
        ready = super().select(0)
        self.now += 0.0 if ready else timeout
        return ready


def leaping(coroutine: Coroutine[Any, Any, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a coroutine that waits for timers alone; searches in it read the same clock."""
    selector = _Leaping()
    loop = asyncio.SelectorEventLoop(selector)
    monkeypatch.setattr(loop, "time", lambda: selector.now)
    set_clock(loop.time, monkeypatch)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(coroutine)


def set_clock(clock: Callable[[], float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets every search read a clock of the test's own."""
    monkeypatch.setattr("thoughtgraph.llm.meter.time", SimpleNamespace(time=clock))
