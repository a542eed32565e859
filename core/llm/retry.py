"""Bounded retries: tenacity's loop around our own reading of what failed (`llm.failures`)."""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.failures import (
    cause_of,
    explained,
    is_endpoint_failure,
    is_transient,
    is_unreachable,
    retry_after,
)

logger = logging.getLogger("thoughtgraph")


@dataclass(frozen=True, slots=True)
class Retry:
    """When to try again.

    Args:
        give_up_after: Seconds from the first attempt after which no further one is made (ours: 30).
        first_wait: Longest first wait, in seconds (ours: 0.1); each further one may double.
        longest_wait: Longest wait between attempts, in seconds (ours: 8), unless the endpoint's
            `Retry-After` asks for more.
        unreachable_after: Seconds after which no further attempt is made where no connection can be
            had at all (ours: 4): nobody waits for a server that was not started.
    """

    give_up_after: float = 30.0
    first_wait: float = 0.1
    longest_wait: float = 8.0
    unreachable_after: float = 4.0

    def loop(
        self,
        *,
        endpoint: str,
        retried: Callable[[ModelError], None],
        hide: Callable[[], Sequence[str]] = tuple,
    ) -> AsyncRetrying:
        """Returns tenacity's loop for one call, which it makes again after passing faults.

        `await loop(call, …)` raises a `ModelError` when the endpoint refuses, or keeps failing
        until the time is up. Errors that are not about an endpoint pass through unchanged.

        Args:
            endpoint: Named in the error.
            retried: Called before each further attempt, with the failure of the last one.
            hide: Returns texts that no error may show, such as keys.
        """
        attempts = _Attempts(self, endpoint, retried, hide)
        return AsyncRetrying(
            sleep=asyncio.sleep,
            retry=retry_if_exception(is_endpoint_failure),
            wait=attempts.wait,
            stop=attempts.stop,
            before_sleep=attempts.before_sleep,
            retry_error_callback=attempts.give_up,
        )

    def backoff(self, attempt: int) -> float:
        """Returns how long to wait after an attempt, the first being 1: half fixed, half random."""
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 60))
        # A pause, not a search choice: it never reaches a result, so it needs no seed.
        return random.uniform(longest / 2, longest)

    def shown(self, failure: ModelError) -> ModelError:
        """Returns a failure as those who ask may see it."""
        return failure

    def final(self, failure: ModelError) -> ModelError:
        """Returns the failure after which nothing more is tried, as those who ask may see it."""
        return self.shown(failure)


@dataclass(frozen=True, slots=True)
class ServedRetry(Retry):
    """Repeats requests; what went wrong in the end is logged, and the client learns its kind.

    Args:
        name: The name by which the client knows the model.
    """

    name: str = ""

    def shown(self, failure: ModelError) -> ModelError:
        """Returns a failure that names no more than the model and the kind of failure."""
        line = f"model {self.name!r} failed: {failure.kind}"
        return ModelError(line, status=failure.status, kind=failure.kind)

    def final(self, failure: ModelError) -> ModelError:
        """Logs the last failure and returns what the client learns of it."""
        logger.error("model %r: %s", self.name, failure)
        return self.shown(failure)


@dataclass
class _Attempts:
    """What tenacity asks about the attempts of one call."""

    retry: Retry
    endpoint: str
    retried: Callable[[ModelError], None]
    hide: Callable[[], Sequence[str]]
    reached: float = field(default_factory=lambda: time.monotonic())  # as of now, not of import

    def wait(self, state: RetryCallState) -> float:
        return max(retry_after(_fault(state)), self.retry.backoff(state.attempt_number))

    def stop(self, state: RetryCallState) -> bool:
        """Returns whether to give up; tenacity has asked for the wait before."""
        error, now = _fault(state), state.start_time + (state.seconds_since_start or 0.0)
        until = state.start_time + self.retry.give_up_after
        if is_unreachable(error):
            until = min(until, self.reached + self.retry.unreachable_after)
        else:
            self.reached = now
        return now + state.upcoming_sleep > until or not is_transient(error)

    def before_sleep(self, state: RetryCallState) -> None:
        self.retried(self.retry.shown(self._failure(state)))

    def give_up(self, state: RetryCallState) -> NoReturn:
        # Without a cause on purpose: an SDK's error holds the request and with it the key.
        raise self.retry.final(self._failure(state))

    def _failure(self, state: RetryCallState) -> ModelError:
        return explained(
            _fault(state),
            self.endpoint,
            attempt=state.attempt_number,
            seconds=state.seconds_since_start or 0.0,
            hide=self.hide(),
        )


def _fault(state: RetryCallState) -> BaseException:
    error = state.outcome.exception() if state.outcome else None
    assert error is not None, "tenacity asks about attempts that failed"
    return cause_of(error)
