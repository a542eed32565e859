"""An event loop whose clock leaps to the next timer: nothing is waited for, and nothing is late."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from functools import partialmethod
from typing import Any

import pytest

from thoughtgraph.llm.meter import Meter


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
    monkeypatch.setattr(Meter, "__init__", partialmethod(Meter.__init__, clock=clock))
