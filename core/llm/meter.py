"""What one request, and with it a node, spends: within the limits, counted once, told to the log.

A run's lines go to the logger `thoughtgraph`: start, retries, limits and end at INFO, each request
at DEBUG. Every record says whose it is, in its text and as fields: those that traces know a call
by, and LangGraph's `run_id` and `thread_id`, None where the caller gave none. Texts of prompts and
answers go to the logger `thoughtgraph.prompts`, silent until a level is set for it alone.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from langgraph.runtime import get_runtime

from thoughtgraph.errors import BudgetSpent, InputError, ModelError, OutOfTime
from thoughtgraph.llm.retry import Failure
from thoughtgraph.llm.store import Answer
from thoughtgraph.usage import Limits, Usage, add_counts, reached_limit

SHARED = ("requests", "prompt_tokens", "completion_tokens", "dollars")
"""The counters that nodes of one superstep tell each other, because limits speak of them."""
LABEL = "thoughtgraph_"
"""What the names of a call's labels begin with, in traces and in records."""
WHOSE = tuple(f"{LABEL}{name}" for name in ("method", "task", "run"))

logger = logging.getLogger("thoughtgraph")
prompts = logging.getLogger("thoughtgraph.prompts")


@dataclass
class Meter:
    """Watches one node run: admits requests within the limits and counts what they cost.

    Args:
        limits: What the whole search may spend.
        before: What the search had spent when the node started.
        prices: As of `llm.prices`; a model whose price nobody knows costs nothing here.
        step: Number of the running superstep.
        siblings: What the nodes of this superstep have spent in it, shared and changed by their
            meters, so that a limit holds for all of them together.
        required: Whether a request that fails for good ends the search; else those beside it go on.
        tell: Is told, in one line, why an attempt failed that is repeated.
    """

    limits: Limits
    before: Usage
    prices: Mapping[str, Sequence[float] | None] = field(default_factory=dict)
    step: int = 0
    siblings: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    required: bool = True
    tell: Callable[[str], None] = lambda cause: None
    error: str = ""
    """Why a request of this node run failed for good, in one line; empty while none has."""
    _begin: float = field(default_factory=lambda: time.time())
    _waited: bool = False
    _late: float = 0.0
    _counts: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def request(self, role: str, model: str) -> Iterator[None]:
        """Watches one request: reserves it as `check` does, and counts it when it was answered.

        Args:
            role: What it is for.
            model: Name of the model.
        """
        self.check(reserve=True)
        try:
            yield
        except ModelError as error:
            self.fail(str(error))
            raise
        finally:
            self.siblings["requests"] -= 1
        self.count(role, model, requests=1)

    def check(self, *, reserve: bool = False) -> None:
        """Says whether a request may be sent; asked before each attempt.

        Waiting for a turn, or for a failing endpoint, takes time in which the requests beside this
        one spend what was left.

        Args:
            reserve: Whether to reserve the request; else it has been, and the limit on requests
                does not count.

        Raises:
            BudgetSpent: A limit is reached, or a request beside this one failed for good.
        """
        if self.siblings["failed"]:
            raise BudgetSpent("a request beside this one failed for good")
        limit = reached_limit(
            self.limits if reserve else {**self.limits, "requests": None}, self._now()
        )
        if limit == "seconds":
            # Else no router would learn that the time is up, and the node would be sent for again.
            self._waited = True
            raise OutOfTime("the limit on seconds is reached")
        if limit:
            raise BudgetSpent(f"the limit on {limit} is reached")
        self.siblings["requests"] += reserve

    @asynccontextmanager
    async def in_time(self, failures: Sequence[Failure] = ()) -> AsyncIterator[None]:
        """Lets its body wait for as long as the limit on seconds allows, then cancels it.

        The time for which a node waits for a model or a tool is what a search's seconds count.

        Args:
            failures: What went wrong with it so far: the last of it is raised when the time is
                over, as the limit never hides what kept an answer away.

        Raises:
            OutOfTime: The time was over, and nothing had gone wrong.
        """
        self._waited = True
        limit = self.limits.get("seconds")
        left = None if limit is None else max(0.0, limit - self._now()["seconds"])
        bound = asyncio.timeout(left)
        try:
            async with bound:
                yield
        except TimeoutError:
            if not bound.expired() or limit is None:
                raise
            # A timer and a clock may differ by less than anybody sees, and no router may take that
            # for time that is left.
            self._late = max(0.0, limit - self._now()["seconds"]) + 0.001
            if failures:
                raise failures[-1].error from None
            raise OutOfTime("the limit on seconds is reached") from None

    def fail(self, error: str) -> None:
        """Notes a request that failed for good; if it was required, no more are sent beside it."""
        self.error = self.error or error
        if self.required:
            self.siblings["failed"] += 1

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
            model: Name of the model, for its price.
            numbers: Counters of `RoleUsage`.
        """
        cost: dict[str, Any] = {**numbers, "roles": {role: numbers}}
        if (price := self.prices.get(model)) and not numbers.get("cached"):
            tokens = numbers.get("prompt_tokens", 0), numbers.get("completion_tokens", 0)
            cost["dollars"] = (tokens[0] * price[0] + tokens[1] * price[1]) / 1e6
        for name in SHARED:
            self.siblings[name] += cost.get(name, 0)
        self.add(cost)

    def count_answer(self, role: str, model: str, answer: Answer) -> None:
        """Counts what a call of a model was answered."""
        prompt, completion = answer["prompt_tokens"], answer["completion_tokens"]
        tokens = {"prompt_tokens": prompt, "completion_tokens": completion}
        self.count(role, model, samples=len(answer["texts"]), **tokens)
        told = {"cached_prompt_tokens": answer.get("cached_prompt_tokens", 0)}
        self.add({"calls": 1, "incomplete": answer.get("incomplete", {}), **told})

    def add(self, counts: Mapping[str, Any]) -> None:
        """Adds any other counters, such as `thoughts` or `evaluated`."""
        self._counts = add_counts(self._counts, counts)

    def parse_error(self, role: str) -> None:
        """Counts one malformed output."""
        self.add({"parse_errors": {role: 1}})

    def usage(self) -> Usage:
        """Returns what this node run has spent, ready for the channel `spent`."""
        delta = cast("Usage", dict(self._counts))
        if self._waited:
            until = time.time() + self._late
            delta["mark"] = {"step": self.step, "begin": self._begin, "until": until}
        return delta

    def _now(self) -> Usage:
        """Returns what the search has spent so far, as far as limits speak of it."""
        before = cast("Mapping[str, float]", self.before)
        shared = {name: (before.get(name) or 0) + self.siblings[name] for name in SHARED}
        now = cast("Usage", {**before, **shared})
        now["seconds"] = self.before.get("seconds", 0.0) + time.time() - self._begin
        return now


def tell(
    level: int, labels: Mapping[str, Any], message: str, *values: Any, to: logging.Logger = logger
) -> None:
    """Logs one line of a run.

    Args:
        labels: Whose it is: metadata of the run's calls, by name.
        message: What happened, with a `%s` for each value; no text of a model or a person.
        to: Another logger than that of runs.
    """
    if not to.isEnabledFor(level):
        return
    try:
        running = get_runtime().execution_info
    except (RuntimeError, KeyError, AttributeError):  # no graph is running
        running = None
    # A LangGraph task does not know the run that it is part of: its labels do.
    names = ("run_id", "thread_id")
    place = {name: getattr(running, name, None) or labels.get(name) for name in names}
    own = [f"{name.removeprefix(LABEL)}={labels[name]}" for name in WHOSE if name in labels]
    # A client may choose these: quoted, they stay within their line.
    ids = [f"{name}={value!r}" for name, value in place.items() if value is not None]
    fields = {**dict.fromkeys(WHOSE), **labels, **place}
    to.log(level, f"%s: {message}", " ".join([*own, *ids]), *values, extra=fields)
