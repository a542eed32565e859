"""Keeps the requests of a node within the limits, counts each once and logs it.

A run's lines go to the logger `thoughtgraph`: start, retries, limits and end at INFO, each request
at DEBUG. Every record names its run in the text and in fields: the labels of the run's traces, and
LangGraph's `run_id` and `thread_id`, None where the caller set none. Texts of prompts and answers
go to the logger `thoughtgraph.prompts`, which is silent until it gets a level of its own.
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
"""The counters that the nodes of one superstep share, because limits apply to them."""
LABEL = "thoughtgraph_"
"""Prefix of the names of a call's labels, in traces and in log records."""
WHOSE = tuple(f"{LABEL}{name}" for name in ("method", "task", "run"))

logger = logging.getLogger("thoughtgraph")
prompts = logging.getLogger("thoughtgraph.prompts")


@dataclass
class Meter:
    """Admits the requests of one node run within the limits, and counts their cost.

    Args:
        limits: The limits of the whole search.
        before: The usage of the search when the node started.
        prices: As of `llm.prices`; a model without a known price costs nothing here.
        step: Number of the running superstep.
        siblings: The counters of all nodes in this superstep, shared and updated by their meters,
            so that a limit holds for all of these nodes together.
        required: Whether a request that fails for good ends the search; else its siblings go on.
        tell: Called before each retry, with one line that says why the attempt failed.
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
        """Reserves a request as `check` does, and counts it once answered.

        Args:
            role: What the request is for.
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
        """Raises an error if a request may not be sent; called before each attempt.

        While a request waits for its turn or for a failing endpoint, its siblings may use up a
        limit.

        Args:
            reserve: Whether to reserve the request. Otherwise it is reserved already, and the limit
                on requests does not apply.

        Raises:
            BudgetSpent: A limit is reached, or a sibling request failed for good.
        """
        if self.siblings["failed"]:
            raise BudgetSpent("a request beside this one failed for good")
        limit = reached_limit(
            self.limits if reserve else {**self.limits, "requests": None}, self._now()
        )
        if limit == "seconds":
            # Reports the time, or no router would see that it is up, and would run the node again.
            self._waited = True
            raise OutOfTime("the limit on seconds is reached")
        if limit:
            raise BudgetSpent(f"the limit on {limit} is reached")
        self.siblings["requests"] += reserve

    @asynccontextmanager
    async def in_time(self, failures: Sequence[Failure] = ()) -> AsyncIterator[None]:
        """Lets its body wait for as long as the limit on seconds allows, then cancels it.

        A search's seconds are the time for which its nodes wait for models or tools.

        Args:
            failures: Failures of the body so far. When the time is up, the last one is raised, so
                that the limit does not hide why there is no answer.

        Raises:
            OutOfTime: The time is up, and nothing has failed.
        """
        self._waited = True
        limit = self.limits.get("seconds")
        left = None if limit is None else max(0.0, limit - self._now()["seconds"])
        timer = asyncio.timeout(left)
        try:
            async with timer:
                yield
        except TimeoutError:
            if not timer.expired() or limit is None:
                raise
            # The timer may end slightly before the clock reaches the limit: add the difference, or
            # a router would see time left.
            self._late = max(0.0, limit - self._now()["seconds"]) + 0.001
            if failures:
                raise failures[-1].error from None
            raise OutOfTime("the limit on seconds is reached") from None

    def fail(self, error: str) -> None:
        """Records a request that failed for good; if it was required, its siblings send no more."""
        self.error = self.error or error
        if self.required:
            self.siblings["failed"] += 1

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Ends the search if its body cannot store an answer; the paid answer is still used."""
        try:
            yield
        except InputError as error:
            self.fail(str(error))

    def count(self, role: str, model: str, **numbers: int) -> None:
        """Counts the cost of a request by role; with `cached=1`, one that a known answer replaced.

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
        """Counts a call of a model by its answer."""
        prompt, completion = answer["prompt_tokens"], answer["completion_tokens"]
        tokens = {"prompt_tokens": prompt, "completion_tokens": completion}
        self.count(role, model, samples=len(answer["texts"]), **tokens)
        cached = {"cached_prompt_tokens": answer.get("cached_prompt_tokens", 0)}
        self.add({"calls": 1, "incomplete": answer.get("incomplete", {}), **cached})

    def add(self, counts: Mapping[str, Any]) -> None:
        """Adds any other counters, such as `thoughts` or `evaluated`."""
        self._counts = add_counts(self._counts, counts)

    def parse_error(self, role: str) -> None:
        """Counts one malformed output."""
        self.add({"parse_errors": {role: 1}})

    def usage(self) -> Usage:
        """Returns the usage of this node run, as an update of the channel `spent`."""
        delta = cast("Usage", dict(self._counts))
        if self._waited:
            until = time.time() + self._late
            delta["mark"] = {"step": self.step, "begin": self._begin, "until": until}
        return delta

    def _now(self) -> Usage:
        """Returns the search's usage so far, as far as limits apply to it."""
        before = cast("Mapping[str, float]", self.before)
        shared = {name: (before.get(name) or 0) + self.siblings[name] for name in SHARED}
        now = cast("Usage", {**before, **shared})
        now["seconds"] = self.before.get("seconds", 0.0) + time.time() - self._begin
        return now


def tell(
    level: int, labels: Mapping[str, Any], message: str, *values: Any, to: logging.Logger = logger
) -> None:
    """Logs one line about a run.

    Args:
        labels: Metadata of the run's calls, by name; they identify the run.
        message: What happened, with a `%s` for each value; no text of a model or a person.
        to: The logger, if not that of runs.
    """
    if not to.isEnabledFor(level):
        return
    try:
        info = get_runtime().execution_info
    except (RuntimeError, KeyError, AttributeError):  # no graph is running
        info = None
    # Inside a LangGraph task the id of the run is missing, so the labels carry it.
    names = ("run_id", "thread_id")
    run_ids = {name: getattr(info, name, None) or labels.get(name) for name in names}
    run_labels = [f"{name.removeprefix(LABEL)}={labels[name]}" for name in WHOSE if name in labels]
    # A client may choose these ids: quoted, they cannot break the line.
    ids = [f"{name}={value!r}" for name, value in run_ids.items() if value is not None]
    fields = {**dict.fromkeys(WHOSE), **labels, **run_ids}
    to.log(level, f"%s: {message}", " ".join([*run_labels, *ids]), *values, extra=fields)
