"""A time of its own for what waits: it passes only while somebody sleeps."""

import asyncio
from types import SimpleNamespace

import pytest


class Clock:
    """Tells the time, and sleeps without waiting."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def rule(self, monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
        """Has some modules go by this clock, and nothing else in the process."""
        patient = SimpleNamespace(**{**vars(asyncio), "sleep": self.sleep})
        for module in modules:
            monkeypatch.setattr(f"{module}.time", SimpleNamespace(monotonic=self))
            monkeypatch.setattr(f"{module}.asyncio", patient, raising=False)
