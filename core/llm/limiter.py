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
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import TypeVar

from thoughtgraph.errors import InputError

N = TypeVar("N", int, float)

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
        for name in ("concurrency", "rpm", "samples", "context"):
            value = getattr(self, name)
            if value is not None and not 1 <= value < inf:
                raise InputError(f"{name} must be a number of at least 1 or None, not {value!r}")


class Limiter:
    """Holds requests back until the endpoint's rates admit them, first come, first served.

    Args:
        rates: What the endpoint allows.
    """

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        caps = (rates.concurrency, rates.samples, rates.context)
        self._slots = [_Slots(cap) if cap else None for cap in caps]
        self._starts = deque[float]()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def slot(self, samples: int = 1, most: int = 0) -> AsyncIterator[None]:
        """Waits for a turn and holds it.

        Args:
            samples: How many completions the request asks for. One that asks for more than the cap
                waits until nothing else is in flight.
            most: The most tokens that it can come to, for the cap on those in flight; likewise.
        """
        async with AsyncExitStack() as held:
            for slots, wanted in zip(self._slots, (1, samples, most), strict=True):
                if slots is not None:
                    await held.enter_async_context(slots.held(wanted))
            if self.rates.rpm:
                await self._start(int(self.rates.rpm))
            yield

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


class _Slots:
    """A weighted semaphore for tasks of any event loop in any thread, first come, first served."""

    def __init__(self, size: int) -> None:
        self._size = self._free = size
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def held(self, wanted: int) -> AsyncIterator[None]:
        """Waits for so many slots, or all there are if that is fewer, and holds them."""
        amount = min(wanted, self._size)
        await self._acquire(amount)
        try:
            yield
        finally:
            self._release(amount)

    async def _acquire(self, amount: int) -> None:
        with self._lock:
            if self._free >= amount and not self._waiting:
                self._free -= amount
                return
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            waiter = (turn, amount)
            self._waiting.append(waiter)
        try:
            await turn
        except asyncio.CancelledError:
            with self._lock:
                waits = waiter in self._waiting
                if waits:
                    self._waiting.remove(waiter)
            # Either the slots were handed over in the same instant, or others may go now.
            self._release(0 if waits else amount)
            raise

    def _release(self, amount: int) -> None:
        with self._lock:
            self._free += amount
            while self._waiting and self._waiting[0][1] <= self._free:
                turn, wanted = self._waiting.popleft()
                try:
                    turn.get_loop().call_soon_threadsafe(_grant, turn)
                except RuntimeError:
                    continue  # its loop was closed: nobody waits there any more
                self._free -= wanted


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
    concurrency = _number("CONCURRENCY", int)
    return Rates(
        concurrency=DEFAULT_CONCURRENCY if concurrency is None else concurrency,
        rpm=_number("RPM", float),
    )


def _number(name: str, kind: type[N]) -> N | None:
    text = os.environ.get(f"THOUGHTGRAPH_{name}", "")
    if not text:
        return None
    try:
        number = kind(text)
    except ValueError:
        number = None
    if number is None or not 1 <= number < inf:
        wanted = "whole number" if kind is int else "number"
        raise InputError(
            f"THOUGHTGRAPH_{name} must be a {wanted} of at least 1, not {text!r}; unset it for the "
            "default"
        )
    return number


@cache
def shared_limiter(endpoint: str, rates: Rates) -> Limiter:
    """Returns the one limiter of an endpoint and its rates, shared by all runs of the process.

    Who gives other rates than the rest has another limiter: what a caller asks for is neither
    widened nor narrowed by what another one asked for before.
    """
    return Limiter(rates)
