"""Failures of an endpoint: which may pass and are tried again, and what a reader is told of them.

The loop is tenacity's (`llm.port`); what an error means is ours, because SDKs disagree.
"""

import logging
import random
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from traceback import walk_tb
from typing import Any, NoReturn

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr
from tenacity import RetryCallState

from thoughtgraph.errors import ModelError

TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
CLIENTS = frozenset(
    {
        *("openai", "anthropic", "cohere", "google", "groq", "mistralai", "ollama", "botocore"),
        *("httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "requests", "urllib3", "grpc"),
    }
)
"""Packages that talk to endpoints: their errors are about the connection."""
READERS = frozenset({"json", "pydantic"}) | CLIENTS
"""Packages that read answers, besides LangChain's: what fails inside them was no good answer."""
UNREADABLE = (AttributeError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
"""What reading an answer raises that has another form than expected, or is nested without end."""
LONGEST_DETAIL = 200
"""Letters of a server's own message that an error quotes (ours)."""
SHORTEST_SECRET = 8
"""Letters a key must have to be hidden in messages (ours): `none` and `EMPTY` are placeholders."""

logger = logging.getLogger("thoughtgraph")


class BadAnswer(ValueError):
    """The endpoint answered with something that is no answer."""


class Unacceptable(BadAnswer):
    """The endpoint answered what it will answer again."""


class BrokenOff(BadAnswer):
    """The server ended an answer before it was whole."""


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


@dataclass
class Attempts:
    """What tenacity asks about the attempts of one call.

    Args:
        retry: When to try again.
        model: The model that is asked; no error shows its keys.
        endpoint: Named in errors.
        retried: Called before each further attempt, with the failure of the last one.
        served_as: The name by which a server's clients know the model: they are told no more than
            this and the kind of failure, and the rest is logged. Empty: all is told.
    """

    retry: Retry
    model: BaseChatModel
    endpoint: str
    retried: Callable[[ModelError], None]
    served_as: str = ""
    _reached: float = field(default_factory=lambda: time.monotonic())

    def wait(self, state: RetryCallState) -> float:
        """Returns how long to wait: as the endpoint asks, else half fixed, half random."""
        doubled = self.retry.first_wait * 2.0 ** min(state.attempt_number - 1, 60)
        longest = min(self.retry.longest_wait, doubled)
        # A pause, not a search choice: it never reaches a result, so it needs no seed.
        return max(retry_after(_fault(state)), random.uniform(longest / 2, longest))

    def stop(self, state: RetryCallState) -> bool:
        """Returns whether to give up; tenacity has asked for the wait before."""
        error, now = _fault(state), state.start_time + (state.seconds_since_start or 0.0)
        until = state.start_time + self.retry.give_up_after
        if _is_unreachable(error):
            until = min(until, self._reached + self.retry.unreachable_after)
        else:
            self._reached = now
        return now + state.upcoming_sleep > until or not _is_transient(error)

    def before_sleep(self, state: RetryCallState) -> None:
        """Tells of a failure that is repeated."""
        self.retried(self._failure(state, final=False))

    def give_up(self, state: RetryCallState) -> NoReturn:
        """Raises the last failure."""
        # Without a cause on purpose: an SDK's error holds the request and with it the key.
        raise self._failure(state, final=True)

    def _failure(self, state: RetryCallState, *, final: bool) -> ModelError:
        number, seconds = state.attempt_number, state.seconds_since_start or 0.0
        tries = f"{number} attempt{'s' * (number > 1)} in {seconds:.1f} s"
        values = (getattr(self.model, name, None) for name in type(self.model).model_fields)
        keys = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        hide = [key for key in keys if len(key) >= SHORTEST_SECRET]
        failure = explained(_fault(state), self.endpoint, tries, hide)
        if not self.served_as:
            return failure
        if final:
            logger.error("model %r: %s", self.served_as, failure)
        line = f"model {self.served_as!r} failed: {failure.kind}"
        return ModelError(line, status=failure.status, kind=failure.kind)


def _fault(state: RetryCallState) -> BaseException:
    """Returns what went wrong: an SDK wraps a bad answer as if the connection had failed."""
    error = state.outcome.exception() if state.outcome else None
    assert error is not None, "tenacity asks about attempts that failed"
    return next((cause for cause in _causes(error) if isinstance(cause, BadAnswer)), error)


NAMED = {
    **dict.fromkeys(("insufficient_quota", "billing_error", "payment_required"), 402),
    **dict.fromkeys(("authentication_error", "invalid_api_key", "unauthenticated"), 401),
    **dict.fromkeys(("permission_error", "permission_denied"), 403),
    **dict.fromkeys(("rate_limit_error", "rate_limit_exceeded", "resource_exhausted"), 429),
    **dict.fromkeys(("model_not_found", "not_found_error"), 404),
    **dict.fromkeys(("invalid_request_error", "invalid_argument"), 400),
    **dict.fromkeys(("server_error", "internal_server_error", "overloaded_error"), 503),
}
"""What OpenAI, Anthropic and Google say instead of a status, in an error inside an answer."""


def status_of(error: BaseException) -> int | None:
    """Returns the HTTP status an error carries, whichever SDK raised it, or its body names."""
    if not isinstance(error, Exception):
        return None
    # Some servers send failures with status 200; LangChain raises what is in the field `error`.
    bodies: list[Any] = [getattr(error, "body", None), *error.args]
    body = next((each for each in bodies if isinstance(each, Mapping)), {})
    told = None
    for name in (getattr(error, "code", None), *map(body.get, ("code", "status", "type"))):
        value = str(name).lower()
        if told is None and (re.fullmatch("[45][0-9]{2}", value) or value in NAMED):
            told = NAMED.get(value) or int(value)
    # OpenAI says 429, as for a rate limit, but waiting does not help.
    return 402 if told == 402 else _http_status(error) or told


def _http_status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and 400 <= status < 600:
                return int(status)
    return None


def _is_unreachable(error: BaseException) -> bool:
    """Returns whether no connection could be had: nothing was asked, and nobody was there."""
    return any(
        isinstance(cause, ConnectionRefusedError | socket.gaierror)
        or type(cause).__name__ == "ConnectError"
        for cause in _causes(error)
    )


def is_endpoint_failure(error: BaseException) -> bool:
    """Returns whether an error is about the endpoint rather than a mistake in a program."""
    if not isinstance(error, Exception):
        return False
    if isinstance(error, UNREADABLE) and not isinstance(error, BadAnswer):
        frames = [frame for frame, _ in walk_tb(error.__traceback__)]
        # What is nested too deeply ends wherever the stack does, often in Python's own modules.
        within = frames if isinstance(error, RecursionError) else frames[-1:]
        packages = [str(frame.f_globals.get("__name__", "")).split(".")[0] for frame in within]
        if any(name in READERS or name.startswith("langchain_") for name in packages):
            return True
    return (
        isinstance(error, OSError | TimeoutError | BadAnswer)
        or status_of(error) is not None
        # LangChain derives errors of its own from the SDKs'.
        or any(kind.__module__.split(".")[0] in CLIENTS for kind in type(error).__mro__)
    )


def _is_transient(error: BaseException) -> bool:
    """Returns whether another attempt may succeed."""
    status = status_of(error)
    if status is not None:
        return status in TRANSIENT_STATUS or status >= 500
    # A body that was cut off or replaced by a proxy's page fails as a ValueError.
    lasting = AttributeError | LookupError | RecursionError | TypeError | Unacceptable
    return is_endpoint_failure(error) and not isinstance(error, lasting)


def retry_after(error: BaseException) -> float:
    """Returns how many seconds the endpoint asks to wait; 0 when it does not say."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    asked = str(headers.get("retry-after") or headers.get("Retry-After") or "")
    with suppress(ValueError):
        return max(0.0, float(asked))
    with suppress(ValueError):
        until = parsedate_to_datetime(asked)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    return 0.0


_FAILING = "the server keeps failing; see its own log"
_REFUSED = (
    "the request was refused: check the model's name, context length and settings such as "
    "temperature, top_p and max_completion_tokens"
)
_REMEDIES = {
    401: "the key was refused: set OPENAI_API_KEY, or THOUGHTGRAPH_API_KEY=ADDRESS=KEY for an "
    "http:// endpoint, or the provider's own variable",
    402: "the account has no credit left: pay, or use another endpoint",
    403: "access was refused: check that the key may use this model",
    404: "there is no such model or path: check the model's name and that the address ends in /v1",
    405: "the path takes no chat requests: check that the address ends in /v1",
    413: "the prompt is too long for this model or server: shorten it, or use another model",
    429: "the rate limit holds: set THOUGHTGRAPH_RPM or THOUGHTGRAPH_CONCURRENCY lower",
}


def explained(error: BaseException, endpoint: str, tries: str, hide: Sequence[str]) -> ModelError:
    """Returns a failure in one line: the endpoint, what is wrong with it, and a remedy.

    Args:
        tries: How many attempts were made, and how long they took.
        hide: Texts that the line may not show, such as keys.
    """
    status = status_of(error)
    if status is not None:
        problem = f"{'error' if _http_status(error) is None else 'HTTP'} {status}"
        remedy = _REMEDIES.get(status, _FAILING if status >= 500 else _REFUSED)
    elif isinstance(error, TimeoutError):
        problem = "no answer"
        remedy = "the server is too slow: ask it less at a time with THOUGHTGRAPH_CONCURRENCY"
    elif isinstance(error, BrokenOff):
        problem, remedy = "an answer that broke off", _FAILING
    elif isinstance(error, UNREADABLE) and not _is_unreachable(error):
        problem = "an unreadable answer"
        remedy = "is this an OpenAI-compatible chat endpoint whose address ends in /v1?"
    else:
        problem = "no connection" if _is_unreachable(error) else type(error).__name__
        remedy = "is the server running and the address right?"
    texts = [text for cause in _causes(error) if (text := " ".join(str(cause).split()))]
    # What the server says, or the first cause, as the end of a line that a terminal can show.
    detail = "" if not texts else texts[-1] if status is None else texts[0]
    for secret in hide:
        detail = detail.replace(secret, "***")
    detail = "".join(letter if letter.isprintable() else "?" for letter in detail)
    if len(detail) > LONGEST_DETAIL:
        detail = f"{detail[:LONGEST_DETAIL]}…"
    line = f"{endpoint}: {problem} after {tries}; {remedy}{f' ({detail})' if detail else ''}"
    return ModelError(line, status=status, kind=problem)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
