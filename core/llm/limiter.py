"""How much one endpoint is asked at a time: caps and a rate, shared by all runs.

Runs may live in several event loops, one after the other or in several threads, so nothing here
belongs to a loop.
"""

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from math import inf
from typing import Any

from thoughtgraph.errors import InputError

DEFAULT_CONCURRENCY = 64
"""Requests in flight at one endpoint (ours): enough to hide latency, few enough for its ports."""
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Rates:
    """What one endpoint allows.

    Args:
        concurrency: Most requests in flight; None lifts the cap.
        rpm: Most requests in any 60 seconds, repeated ones included; None sets no rate.
        samples: Most completions in flight, for a server that decodes so many together: a request
            for n counts as n. None sets no cap.
        context: Most tokens in flight, for a server that keeps them all in one memory: a request
            counts with its prompt and all that its completions may hold. None sets no cap.
    """

    concurrency: int | None = DEFAULT_CONCURRENCY
    rpm: float | None = None
    samples: int | None = None
    context: int | None = None

    def __post_init__(self) -> None:
        """Refuses rates nothing could pass."""
        for name, value in asdict(self).items():
            if value is not None and not 1 <= value < inf:
                raise InputError(f"{name} must be a number of at least 1 or None, not {value!r}")


_Waiter = tuple[asyncio.Future[None], list[float]]
"""Who waits for a turn, and what the request takes of each cap."""


class Limiter:
    """Holds requests back until the endpoint's rates admit them, first come, first served."""

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self._caps = [cap or inf for cap in (rates.concurrency, rates.samples, rates.context)]
        self._free = self._caps
        self._waiting: deque[_Waiter] = deque()
        self._starts = deque[float]()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def slot(self, samples: int = 1, tokens: int = 0) -> AsyncIterator[None]:
        """Waits for a turn and holds it; what is above a cap waits until nothing is in flight.

        Args:
            samples: How many completions the request asks for.
            tokens: The most tokens that it can come to.
        """
        wanted = list(map(min, (1, samples, tokens), self._caps))
        waiter = asyncio.get_running_loop().create_future(), wanted
        self._move(comes=waiter)
        try:
            await waiter[0]
            if self.rates.rpm:
                await self._start(int(self.rates.rpm))
            yield
        finally:
            self._move(goes=waiter)

    def _move(self, comes: _Waiter | None = None, goes: _Waiter | None = None) -> None:
        """Adds who comes, gives back what a request holds that goes, and turns to whose turn it is.

        Who was cancelled before its turn leaves the queue.
        """
        with self._lock:
            if comes:
                self._waiting.append(comes)
            if goes and goes in self._waiting:
                self._waiting.remove(goes)
            elif goes:
                self._free = [free + each for free, each in zip(self._free, goes[1], strict=True)]
            while self._waiting:
                turn, wanted = self._waiting[0]
                left = [free - each for free, each in zip(self._free, wanted, strict=True)]
                if min(left) < 0:
                    return
                if self._waiting.popleft() is comes:
                    turn.set_result(None)
                    self._free = left
                    return
                with suppress(RuntimeError):  # a loop was closed: nobody waits there any more
                    turn.get_loop().call_soon_threadsafe(_grant, turn)
                    self._free = left

    async def _start(self, rate: int) -> None:
        """Waits until the minute before has room for one more request."""
        now = time.monotonic()
        with self._lock:
            while self._starts and self._starts[0] <= now - MINUTE:
                self._starts.popleft()
            full = len(self._starts) >= rate
            at = max(now, self._starts[-rate] + MINUTE) if full else now
            self._starts.append(at)
        if at == now:
            return
        try:
            await asyncio.sleep(at - now)
        except asyncio.CancelledError:
            with self._lock:
                self._starts.remove(at)
            raise


def _grant(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


def rates_from_environment() -> Rates:
    """Returns the rates in `THOUGHTGRAPH_CONCURRENCY` and `THOUGHTGRAPH_RPM`.

    Raises:
        InputError: A variable is not a number of at least 1; the cap is a whole one.
    """
    if os.environ.get("THOUGHTGRAPH_TPM"):
        raise InputError(
            "tokens a minute are limited no longer: unset THOUGHTGRAPH_TPM, and set "
            "THOUGHTGRAPH_RPM or THOUGHTGRAPH_CONCURRENCY"
        )
    rates: dict[str, Any] = {}
    for name, kind in (("concurrency", int), ("rpm", float)):
        variable = f"THOUGHTGRAPH_{name.upper()}"
        if text := os.environ.get(variable, ""):
            try:
                rates[name] = kind(text)
                Rates(**rates)
            except ValueError:
                raise InputError(
                    f"{variable} must be a {'whole ' * (kind is int)}number of at least 1, not "
                    f"{text!r}; unset it for the default"
                ) from None
    return Rates(**rates)


@cache
def shared_limiter(endpoint: str, rates: Rates) -> Limiter:
    """Returns the one limiter of an endpoint and its rates, shared by all runs of the process.

    Who gives other rates than the rest has another limiter: what a caller asks for is neither
    widened nor narrowed by what another one asked for before.
    """
    return Limiter(rates)
