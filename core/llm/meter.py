"""Watches what one node run asks and spends: within the limits, counted once."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from thoughtgraph.errors import BudgetSpent, InputError, ModelError, OutOfTime
from thoughtgraph.usage import Limits, Usage, add_counts, spent

SHARED = ("requests", "prompt_tokens", "completion_tokens", "dollars")
"""The counters that nodes of one superstep tell each other, because limits speak of them."""


@dataclass
class Meter:
    """Watches one node run: admits requests within the limits and counts what they cost.

    Args:
        limits: What the whole search may spend.
        before: What the search had spent when the node started.
        prices: US dollars a million prompt tokens and a million completion tokens, by model name;
            None for a model whose price nobody knows, which is not counted.
        step: Number of the running superstep; nodes that run side by side share it.
        siblings: What those nodes have spent in this superstep, shared and changed by their meters,
            so that a limit holds for all of them together.
        needed: Whether a request that fails for good ends the search; else those beside it go on.
        tell: Is told, in one line, why an attempt failed that is repeated.
        clock: Seconds since the epoch.
    """

    limits: Limits
    before: Usage
    prices: Mapping[str, Sequence[float] | None] = field(default_factory=dict)
    step: int = 0
    siblings: dict[str, float] = field(default_factory=dict)
    needed: bool = True
    tell: Callable[[str], None] = lambda cause: None
    clock: Callable[[], float] = time.time
    error: str = ""
    """Why a request of this node run failed for good, in one line; empty while none has."""
    _begin: float = field(init=False)
    _waited: bool = False
    _late: float = 0.0
    _counts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Notes when the node begins."""
        self._begin = self.clock()

    def admit(self) -> None:
        """Reserves one request.

        Raises:
            BudgetSpent: Sending it would break the request limit, another limit is reached, or a
                request beside it failed for good.
        """
        self._refuse(spent(self.limits, self._now()))
        self._share("requests", 1)

    def check(self) -> None:
        """Says whether a reserved request may still be sent; asked before each attempt.

        Waiting for a turn, or for a failing endpoint, takes time in which the requests beside this
        one spend what was left.

        Raises:
            BudgetSpent: A limit other than the reserved requests is reached, or a request beside it
                failed for good.
        """
        self._refuse(spent({**self.limits, "requests": None}, self._now()))
        self.wait()

    def release(self) -> None:
        """Gives a reserved request back: it was not answered, or `count` takes over."""
        self._share("requests", -1)

    @contextmanager
    def request(self, role: str, model: str) -> Iterator[None]:
        """Watches one request: admits it, and counts it when it was answered.

        Args:
            role: What it is for.
            model: Name of the model.

        Raises:
            BudgetSpent: It is not admitted.
        """
        self.admit()
        try:
            yield
        except ModelError as error:
            self.fail(str(error))
            raise
        finally:
            self.release()
        self.count(role, model, requests=1)

    def wait(self) -> None:
        """Notes that the node waits for a model or a tool: its time counts."""
        self._waited = True

    def left(self) -> float | None:
        """Returns how many seconds the node may still wait; None without a limit."""
        limit = self.limits.get("seconds")
        return None if limit is None else max(0.0, limit - self._now().get("seconds", 0.0))

    @asynccontextmanager
    async def in_time(self, failures: Sequence[ModelError] = ()) -> AsyncIterator[None]:
        """Lets its body wait for as long as the limit on seconds allows, then cancels it.

        Args:
            failures: What went wrong with it so far: the limit never hides what kept an answer
                away.

        Raises:
            ModelError: The time was over first, and something had gone wrong; the last of it.
            OutOfTime: The time was over first.
        """
        bound = asyncio.timeout(self.left())
        try:
            async with bound:
                yield
        except TimeoutError:
            if not bound.expired():
                raise
            # A timer and a clock may differ by less than anybody sees, and no router may take that
            # for time that is left.
            self._late = (self.left() or 0.0) + 0.001
            if failures:
                raise failures[-1] from None
            raise OutOfTime("the limit on seconds is reached") from None

    def retry(self, cause: str) -> None:
        """Counts a failed attempt that is repeated, and tells whoever follows the search.

        Args:
            cause: Which endpoint failed and why, in one line.
        """
        self.add({"retries": 1})
        self.tell(cause)

    def fail(self, error: str) -> None:
        """Notes a request that failed for good: if it is needed, those that still wait stay."""
        self.error = self.error or error
        if self.needed:
            self._share("failed", 1)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Ends a search whose answers cannot be kept: what is paid for is used, then it stops."""
        try:
            yield
        except InputError as error:
            self.fail(str(error))

    def count(self, role: str, model: str, **numbers: int) -> None:
        """Counts what a request of one role cost (or, with `cached=1`, that it was not needed).

        Args:
            role: What the request was for.
            model: Name of the model, for its price.
            numbers: Counters of `RoleUsage`.
        """
        cost: dict[str, Any] = {**numbers, "roles": {role: numbers}}
        if (price := self.prices.get(model)) and not numbers.get("cached"):
            prompt, completion = price
            cost["dollars"] = (
                numbers.get("prompt_tokens", 0) * prompt
                + numbers.get("completion_tokens", 0) * completion
            ) / 1e6
        for name in SHARED:
            if name in cost:
                self._share(name, cost[name])
        self.add(cost)

    def add(self, counts: Mapping[str, Any]) -> None:
        """Adds any other counters, such as `thoughts` or `evaluated`."""
        self._counts = add_counts(self._counts, counts)

    def parse_error(self, role: str) -> None:
        """Counts one malformed output."""
        self.add({"parse_errors": {role: 1}})

    def by_role(self) -> dict[str, dict[str, float]]:
        """Returns what was spent by role, in the form a thought's `usage` keeps."""
        return {role: dict(numbers) for role, numbers in self._counts.get("roles", {}).items()}

    def usage(self) -> Usage:
        """Returns what this node run has spent, ready for the `usage` channel."""
        delta = cast("Usage", dict(self._counts))
        if self._waited:
            until = self.clock() + self._late
            delta["mark"] = {"step": self.step, "begin": self._begin, "until": until}
        return delta

    def _now(self) -> Usage:
        # Asked twice a request: the counters by role, which no limit names, stay as they are.
        beside = {name: self.siblings[name] for name in SHARED if name in self.siblings}
        before = cast("Mapping[str, float]", self.before)
        now = cast("Usage", {**before, **{k: before.get(k, 0) + v for k, v in beside.items()}})
        now["seconds"] = self.before.get("seconds", 0.0) + self.clock() - self._begin
        return now

    def _refuse(self, limit: str | None) -> None:
        if self.siblings.get("failed"):
            raise BudgetSpent("a request beside this one failed for good")
        if limit == "seconds":
            # Else no router would learn that the time is up, and the node would be sent for again.
            self.wait()
        if limit:
            kind = OutOfTime if limit == "seconds" else BudgetSpent
            raise kind(f"the limit on {limit} is reached")

    def _share(self, name: str, amount: float) -> None:
        self.siblings[name] = self.siblings.get(name, 0) + amount
