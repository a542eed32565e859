"""A time of its own for what waits: it passes only while somebody sleeps, or looks."""

import asyncio
from types import SimpleNamespace

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
