"""How much one endpoint is asked at a time: a concurrency cap and rates, shared by all runs.

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
        tpm: Most tokens in any 60 seconds, prompt and completion; a request's size is estimated
            before the call and corrected by the answer. None sets no rate.
        samples: Most completions in flight, for a server that decodes so many together: a request
            for n counts as n. None sets no cap.
        context: Most tokens in flight, for a server that keeps them all in one memory: a request
            counts with its prompt and all that its completions may hold. None sets no cap.
    """

    concurrency: int | None = DEFAULT_CONCURRENCY
    rpm: float | None = None
    tpm: float | None = None
    samples: int | None = None
    context: int | None = None

    def __post_init__(self) -> None:
        """Refuses rates nothing could pass."""
        for name in ("concurrency", "rpm", "tpm", "samples", "context"):
            value = getattr(self, name)
            if value is not None and not 1 <= value < inf:
                raise InputError(f"{name} must be a number of at least 1 or None, not {value!r}")


class Limiter:
    """Holds requests back until the endpoint's rates admit them, first come, first served.

    Args:
        rates: What the endpoint allows.
        minute: Seconds over which the rates count (60).
    """

    def __init__(self, rates: Rates, *, minute: float = MINUTE) -> None:
        self.rates = rates
        self._slots = _Slots(rates.concurrency) if rates.concurrency else None
        self._samples = _Slots(rates.samples) if rates.samples else None
        self._context = _Slots(rates.context) if rates.context else None
        self._requests = _Window(rates.rpm, minute) if rates.rpm else None
        self._tokens = _Window(rates.tpm, minute) if rates.tpm else None
        self._lock = threading.Lock()

    @asynccontextmanager
    async def slot(self, tokens: int, samples: int = 1, most: int = 0) -> AsyncIterator["Turn"]:
        """Waits for a turn and holds it.

        Args:
            tokens: The estimated size of the request, for the token rate. A request larger than a
                whole minute's allowance waits for a full minute's.
            samples: How many completions it asks for. One that asks for more than the cap waits
                until nothing else is in flight.
            most: The most tokens that it can come to, for the cap on those in flight; likewise.

        Yields:
            The turn, to be told the true size.
        """
        async with AsyncExitStack() as held:
            held_by = ((self._slots, 1), (self._samples, samples), (self._context, most))
            for slots, wanted in held_by:
                if slots is not None:
                    await held.enter_async_context(slots.held(wanted))
            yield await self._turn(float(tokens))

    async def _turn(self, tokens: float) -> "Turn":
        now = at = time.monotonic()
        with self._lock:
            windows = [(self._requests, 1.0), (self._tokens, tokens)]
            for window, amount in windows:
                if window is not None:
                    at = window.earliest(amount, at, now)
            passed = [None if w is None else w.add(at, amount) for w, amount in windows]
        if at > now:
            try:
                await asyncio.sleep(at - now)
            except asyncio.CancelledError:
                with self._lock:
                    for (window, _), taken in zip(windows, passed, strict=True):
                        if window is not None and taken is not None:
                            window.forget(taken)
                raise
        return Turn(passed[1])


@dataclass(slots=True, eq=False)
class _Passed:
    at: float
    amount: float


class Turn:
    """One request's share of the token rate."""

    def __init__(self, tokens: _Passed | None) -> None:
        self._tokens = tokens

    def settle(self, tokens: int) -> None:
        """Replaces the estimated size by the true one."""
        if self._tokens is not None:
            self._tokens.amount = float(tokens)


class _Window:
    """What passes within any minute; guarded by the limiter's lock."""

    def __init__(self, most: float, minute: float) -> None:
        self._most = most
        self._minute = minute
        self._passed: deque[_Passed] = deque()

    def earliest(self, amount: float, after: float, now: float) -> float:
        """Returns the first instant, not before `after` or the last one, that has room."""
        while self._passed and self._passed[0].at <= now - self._minute:
            self._passed.popleft()
        if not self._passed:
            return after
        at = max(after, self._passed[-1].at)
        used = sum(passed.amount for passed in self._passed)
        for passed in self._passed:
            if used + min(amount, self._most) <= self._most:
                break
            at = max(at, passed.at + self._minute)
            used -= passed.amount
        return at

    def add(self, at: float, amount: float) -> _Passed:
        self._passed.append(_Passed(at, amount))
        return self._passed[-1]

    def forget(self, passed: _Passed) -> None:
        """Takes back what was not sent after all."""
        if passed in self._passed:
            self._passed.remove(passed)


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
    """Returns the rates in `THOUGHTGRAPH_CONCURRENCY`, `THOUGHTGRAPH_RPM` and `THOUGHTGRAPH_TPM`.

    Raises:
        InputError: A variable is not a number of at least 1; the cap is a whole one.
    """
    concurrency = _number("CONCURRENCY", int)
    return Rates(
        concurrency=DEFAULT_CONCURRENCY if concurrency is None else concurrency,
        rpm=_number("RPM", float),
        tpm=_number("TPM", float),
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
