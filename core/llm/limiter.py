"""Limits the requests to one endpoint by caps and a rate, shared by all runs.

Runs may use several event loops, one after another or in several threads, so nothing here belongs
to a loop.
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
    """The limits of one endpoint.

    Args:
        concurrency: Most requests in flight; None lifts the cap.
        rpm: Most requests in any 60 seconds, retries included; None sets no rate.
        samples: Most completions in flight, for a server that decodes so many at once: a request
            for n counts as n. None sets no cap.
        context: Most tokens in flight, for a server that keeps them all in one context: a request
            counts its prompt and the longest completions it may get. None sets no cap.
    """

    concurrency: int | None = DEFAULT_CONCURRENCY
    rpm: float | None = None
    samples: int | None = None
    context: int | None = None

    def __post_init__(self) -> None:
        """Refuses limits that no request could pass."""
        for name, value in asdict(self).items():
            if value is not None and not 1 <= value < inf:
                raise InputError(f"{name} must be a number of at least 1 or None, not {value!r}")


_Waiter = tuple[asyncio.Future[None], list[float]]
"""A request's turn, done once the request may start, and its share of each cap."""


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
        """Waits for a turn and holds it; a request above a cap waits for all of that cap.

        Args:
            samples: Number of completions that the request asks for.
            tokens: The most tokens of its prompt and completions.
        """
        demand = list(map(min, (1, samples, tokens), self._caps))
        waiter = asyncio.get_running_loop().create_future(), demand
        self._advance(new=waiter)
        try:
            await waiter[0]
            if self.rates.rpm:
                await self._wait_for_rate(int(self.rates.rpm))
            yield
        finally:
            self._advance(done=waiter)

    def _advance(self, new: _Waiter | None = None, done: _Waiter | None = None) -> None:
        """Queues `new`, frees what `done` holds, and starts the requests whose turn it is.

        A request that was cancelled before its turn leaves the queue.
        """
        with self._lock:
            if new:
                self._waiting.append(new)
            if done and done in self._waiting:
                self._waiting.remove(done)
            elif done:
                self._free = [free + each for free, each in zip(self._free, done[1], strict=True)]
            while self._waiting:
                turn, demand = self._waiting[0]
                left = [free - each for free, each in zip(self._free, demand, strict=True)]
                if min(left) < 0:
                    return
                if self._waiting.popleft() is new:
                    turn.set_result(None)
                    self._free = left
                    return
                with suppress(RuntimeError):  # a closed loop: nobody waits there
                    turn.get_loop().call_soon_threadsafe(_grant, turn)
                    self._free = left

    async def _wait_for_rate(self, rate: int) -> None:
        """Waits until the last 60 seconds have room for one more request."""
        now = time.monotonic()
        with self._lock:
            while self._starts and self._starts[0] <= now - MINUTE:
                self._starts.popleft()
            full = len(self._starts) >= rate
            start = max(now, self._starts[-rate] + MINUTE) if full else now
            self._starts.append(start)
        if start == now:
            return
        try:
            await asyncio.sleep(start - now)
        except asyncio.CancelledError:
            with self._lock:
                self._starts.remove(start)
            raise


def _grant(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


def rates_from_environment() -> Rates:
    """Returns the rates in `THOUGHTGRAPH_CONCURRENCY` and `THOUGHTGRAPH_RPM`.

    Raises:
        InputError: A variable is no number of at least 1 (a whole one for the cap), or the former
            `THOUGHTGRAPH_TPM` is set.
    """
    if os.environ.get("THOUGHTGRAPH_TPM"):
        raise InputError(
            "tokens a minute are no longer limited: unset THOUGHTGRAPH_TPM, and set "
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
    """Returns the one limiter of an endpoint and these rates, shared by all runs of the process.

    A caller with other rates gets another limiter: it neither widens nor narrows the first one.
    """
    return Limiter(rates)
