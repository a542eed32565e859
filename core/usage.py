"""What a search has spent (`Usage`) and what it may spend (`Limits`): two types.

Both are plain dictionaries in the graph's state, so that routers can check a limit before the call
that would break it, and so that a resumed run goes on counting where it stopped.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from typing_extensions import TypedDict

from thoughtgraph.errors import BudgetSpent


class RoleUsage(TypedDict, total=False):
    """What one role (`generate`, `value`, `vote`, …) spent."""

    requests: int
    samples: int
    prompt_tokens: int
    completion_tokens: int
    cached: int


class Usage(TypedDict, total=False):
    """What a search has spent so far (SPEC.md 1.3). A key that is absent stands for zero."""

    requests: int
    """Calls that reached the model; one call may return several samples."""
    samples: int
    """Completions returned by those calls; equals the papers' "interactions"."""
    prompt_tokens: int
    """Counted once a request, however many samples it returns."""
    completion_tokens: int
    cached: int
    """Answers taken from a cache or from the tree instead of the model."""
    retries: int
    """Failed attempts that were repeated."""
    dollars: float
    """By the price table of the settings; 0 where no price is given."""
    seconds: float
    """Wall time in which the search was waiting for models or tools; pauses are not counted."""
    levels: int
    """Supersteps that asked a model or called a tool: the length of the chain of dependent
    requests."""
    thoughts: int
    """Thoughts created, the root excluded."""
    evaluated: int
    """Distinct states evaluated."""
    expansions: int
    rounds: int
    analyses: int
    """Reasoning paths checked for bad steps."""
    rollbacks: int
    """Rollback edges added."""
    tool_calls: dict[str, int]
    tool_failures: dict[str, int]
    tool_cost: float
    """What all tool calls cost together (SPEC.md 1.3: the cost paid)."""
    tool_cost_path: float
    """What those on the path to the answer cost."""
    reexpansions: int
    """Expansions of thoughts that had been expanded before."""
    parse_errors: dict[str, int]
    """Malformed outputs by role."""
    roles: dict[str, RoleUsage]
    mark: dict[str, float]
    """Bookkeeping of `seconds` and `levels`: last superstep and last instant accounted for."""


def nothing_spent() -> Usage:
    """Returns the usage of a search that has not begun, so that its totals can always be read."""
    return {
        "requests": 0,
        "samples": 0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cached": 0,
        "retries": 0,
        "dollars": 0.0,
        "seconds": 0.0,
        "levels": 0,
        "thoughts": 0,
        "evaluated": 0,
        "expansions": 0,
        "rounds": 0,
    }


SHARED = ("requests", "prompt_tokens", "completion_tokens", "dollars")
"""The counters that nodes of one superstep tell each other, because limits speak of them."""


def add_usage(total: Usage, spent: Usage) -> Usage:
    """Adds what a node spent to the total; the reducer of the `usage` channel.

    Numbers add up, dictionaries add up by key. `seconds` and `levels` come from `mark`, so that
    nodes that ran side by side in one superstep count once.
    """
    both = cast("Usage", _add(total, {k: v for k, v in spent.items() if k != "mark"}))
    if "mark" in spent:
        _advance(both, spent["mark"])
    return both


def _add(total: Mapping[str, Any], spent: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(total)
    for key, value in spent.items():
        old = both.get(key)
        if isinstance(value, dict):  # looking at a `Mapping` takes ten times as long
            both[key] = _add(old or {}, value)
        else:
            both[key] = value if old is None else old + value
    return both


def _advance(total: Usage, mark: Mapping[str, float]) -> None:
    old = total.get("mark", {"step": -1.0, "until": 0.0})
    if mark["step"] > old["step"]:
        total["levels"] = total.get("levels", 0) + 1
    begin = max(mark["begin"], old["until"])
    total["seconds"] = total.get("seconds", 0.0) + max(0.0, mark["until"] - begin)
    total["mark"] = {
        "step": max(mark["step"], old["step"]),
        "until": max(mark["until"], old["until"]),
    }


class Limits(TypedDict, total=False):
    """What a search may spend. A key that is absent or None sets no limit."""

    requests: int | None
    tokens: int | None
    dollars: float | None
    seconds: float | None
    thoughts: int | None
    depth: int | None
    rounds: int | None


def remaining_requests(limits: Limits, usage: Usage) -> int:
    """Returns how many more requests may be sent now; 0 once any limit is reached."""
    if spent(limits, usage):
        return 0
    allowed = limits.get("requests")
    return 1_000_000_000 if allowed is None else max(0, allowed - usage.get("requests", 0))


def remaining_thoughts(limits: Limits, usage: Usage) -> int:
    """Returns how many more thoughts may be created."""
    allowed = limits.get("thoughts")
    return 1_000_000_000 if allowed is None else max(0, allowed - usage.get("thoughts", 0))


def spent(limits: Limits, usage: Usage) -> str | None:
    """Returns the name of a limit that has been reached, or None."""
    used = {
        "requests": usage.get("requests", 0),
        "tokens": usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0),
        "dollars": usage.get("dollars", 0.0),
        "seconds": usage.get("seconds", 0.0),
        "thoughts": usage.get("thoughts", 0),
        "rounds": usage.get("rounds", 0),
    }
    for name, value in used.items():
        allowed = cast("Mapping[str, float | None]", limits).get(name)
        if allowed is not None and value >= allowed:
            return name
    return None


class Meter:
    """Watches one node run: admits requests within the limits and counts what they cost.

    Args:
        limits: What the whole search may spend.
        usage: What the search had spent when the node started.
        prices: US dollars a million prompt tokens and a million completion tokens, by model name.
        step: Number of the running superstep; nodes that run side by side share it.
        siblings: What those nodes have spent in this superstep, shared and changed by their meters,
            so that a limit holds for all of them together.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        limits: Limits,
        usage: Usage,
        *,
        prices: Mapping[str, Sequence[float]] | None = None,
        step: int = 0,
        siblings: dict[str, float] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._limits = limits
        self._before = usage
        self._prices = prices or {}
        self._step = step
        self._clock = clock
        self._begin = clock()
        self._siblings = {} if siblings is None else siblings
        self._waited = False
        self._counts: dict[str, Any] = {}
        self.error = ""
        """Why a request of this node run failed for good, in one line; empty while none has."""

    def admit(self) -> None:
        """Reserves one request.

        Raises:
            BudgetSpent: Sending it would break the request limit, another limit is reached, or a
                request beside it failed for good.
        """
        self._refuse(spent(self._limits, self._now()))
        self._share("requests", 1)

    def check(self) -> None:
        """Says whether a reserved request may still be sent; asked before each attempt.

        Waiting for a turn, or for a failing endpoint, takes time in which the requests beside this
        one spend what was left.

        Raises:
            BudgetSpent: A limit other than the reserved requests is reached, or a request beside it
                failed for good.
        """
        self._refuse(spent({**self._limits, "requests": None}, self._now()))
        self.wait()

    def release(self) -> None:
        """Gives a reserved request back: it was not answered, or `count` takes over."""
        self._share("requests", -1)

    def wait(self) -> None:
        """Notes that the node waits for a model or a tool: its time counts."""
        self._waited = True

    def fail(self, error: str) -> None:
        """Notes a request that failed for good: those beside it that still wait are not sent."""
        self.error = self.error or error
        self._share("failed", 1)

    def count(self, role: str, model: str, **numbers: int) -> None:
        """Counts what a request of one role cost (or, with `cached=1`, that it was not needed).

        Args:
            role: What the request was for.
            model: Name of the model, for its price.
            numbers: Counters of `RoleUsage`.
        """
        cost: dict[str, Any] = {**numbers, "roles": {role: numbers}}
        if model in self._prices and not numbers.get("cached"):
            prompt, completion = self._prices[model]
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
        self._counts = _add(self._counts, counts)

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
            delta["mark"] = {"step": self._step, "begin": self._begin, "until": self._clock()}
        return delta

    def _now(self) -> Usage:
        # Asked twice a request: the counters by role, which no limit names, stay as they are.
        beside = {name: self._siblings[name] for name in SHARED if name in self._siblings}
        before = cast("Mapping[str, float]", self._before)
        now = cast("Usage", {**before, **{k: before.get(k, 0) + v for k, v in beside.items()}})
        now["seconds"] = self._before.get("seconds", 0.0) + self._clock() - self._begin
        return now

    def _refuse(self, limit: str | None) -> None:
        if self._siblings.get("failed"):
            raise BudgetSpent("a request beside this one failed for good")
        if limit:
            raise BudgetSpent(f"the limit on {limit} is reached")

    def _share(self, name: str, amount: float) -> None:
        self._siblings[name] = self._siblings.get(name, 0) + amount


def report(usage: Usage) -> Usage:
    """Returns a total without its bookkeeping, for the result."""
    return cast("Usage", {key: value for key, value in usage.items() if key != "mark"})
