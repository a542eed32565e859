"""Failures of an endpoint: which of them are retried, and how errors explain them.

The retry loop is tenacity's; the meaning of an error is ours, because SDKs disagree.
"""

import asyncio
import random
import re
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import inf
from traceback import walk_tb
from typing import Any, NamedTuple, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_before_delay

from thoughtgraph.errors import ModelError

T = TypeVar("T")

TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
CLIENTS = frozenset(
    {
        *("openai", "anthropic", "cohere", "google", "groq", "mistralai", "ollama", "botocore"),
        *("httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "requests", "urllib3", "grpc"),
    }
)
"""Packages that talk to endpoints: their errors are about the connection."""
READERS = frozenset({"json", "pydantic"}) | CLIENTS
"""Packages that read answers, besides LangChain's: a failure inside them means a bad answer."""
UNREADABLE = (AttributeError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
"""Errors of reading an answer that has an unexpected form, or is nested without end."""
UNREACHABLE_AFTER = 4.0
"""Seconds after which no further attempt is made if every connection failed (ours): waiting does
not help if the server was never started."""
LONGEST_DETAIL = 200
"""Letters of a server's own message that an error quotes (ours)."""


class BadAnswer(ValueError):
    """The endpoint's response is not an answer."""


class Unacceptable(BadAnswer):
    """The endpoint's response is bad, and another attempt would get the same."""


class BrokenOff(BadAnswer):
    """The server ended an answer before it was whole."""


_LASTING = (AttributeError, LookupError, RecursionError, TypeError, Unacceptable)
"""Errors that another attempt would meet again, unless a status says otherwise."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How long, and after which waits, to try again.

    Args:
        give_up_after: Seconds from the first attempt after which no further one is made (ours: 30).
        first_wait: Longest first wait, in seconds (ours: 0.1); each further one may double.
        longest_wait: Longest wait between attempts, in seconds (ours: 8), unless the endpoint's
            `Retry-After` asks for more.
    """

    give_up_after: float = 30.0
    first_wait: float = 0.1
    longest_wait: float = 8.0


class Failure(NamedTuple):
    """An attempt that failed at the endpoint."""

    error: ModelError
    """The error for the caller."""
    wait: float
    """Seconds that the endpoint asks to wait; infinite if another attempt would fail as well."""
    unreachable: bool
    """Whether no connection could be opened: no server was there to get the request."""


async def persist(
    attempt: Callable[[], Awaitable[T]],
    retry: Retry,
    failures: list[Failure],
    explain: Callable[[Exception, str], Failure],
    on_retry: Callable[[ModelError], None],
) -> T:
    """Returns the result of an attempt, retried while it fails for reasons that may pass.

    Args:
        attempt: Asks the endpoint.
        retry: How long, and after which waits, to try again.
        failures: The failures so far; each new one is appended.
        explain: Turns an error, and a text on the number and time of attempts, into a failure.
        on_retry: Called before each further attempt, with the error of the last one.

    Raises:
        ModelError: The error of the last failure.
    """
    began = time.monotonic()

    async for turn in AsyncRetrying(
        sleep=asyncio.sleep,
        retry=retry_if_exception(lambda error: error in [each.error for each in failures]),
        wait=lambda state: _wait(retry, failures),
        stop=lambda state: stop_before_delay(_patience(retry, failures))(state),
        before_sleep=lambda state: on_retry(failures[-1].error),
        reraise=True,
    ):
        with turn:
            try:
                return await attempt()
            except Exception as error:
                if not is_endpoint_failure(error):
                    raise
                number, seconds = len(failures) + 1, time.monotonic() - began
                tries = f"{number} attempt{'s' * (number > 1)} in {seconds:.1f} s"
                failures.append(explain(error, tries))
            # Without a cause on purpose: an SDK's error holds the request and with it the key.
            raise failures[-1].error
    raise AssertionError("tenacity raises the last failure")


def _wait(retry: Retry, failures: Sequence[Failure]) -> float:
    longest = min(retry.longest_wait, retry.first_wait * 2.0 ** min(len(failures) - 1, 60))
    # A pause, not a search choice: it never reaches a result, so it needs no seed.
    return max(failures[-1].wait, random.uniform(longest / 2, longest))


def _patience(retry: Retry, failures: Sequence[Failure]) -> float:
    unreachable = all(failure.unreachable for failure in failures)
    return min(retry.give_up_after, UNREACHABLE_AFTER if unreachable else inf)


NAMED = {
    **dict.fromkeys(("insufficient_quota", "billing_error", "payment_required"), 402),
    **dict.fromkeys(("authentication_error", "invalid_api_key", "unauthenticated"), 401),
    **dict.fromkeys(("permission_error", "permission_denied"), 403),
    **dict.fromkeys(("rate_limit_error", "rate_limit_exceeded", "resource_exhausted"), 429),
    **dict.fromkeys(("model_not_found", "not_found_error"), 404),
    **dict.fromkeys(("invalid_request_error", "invalid_argument"), 400),
    **dict.fromkeys(("server_error", "internal_server_error", "overloaded_error"), 503),
}
"""Statuses by the names that OpenAI, Anthropic and Google use in an error inside an answer."""


def status_of(error: BaseException) -> int | None:
    """Returns an error's HTTP status, whichever SDK raised it, else the status its body names."""
    if not isinstance(error, Exception):
        return None
    # Some servers send failures with status 200; LangChain then raises their field `error`.
    bodies: list[Any] = [getattr(error, "body", None), *error.args]
    body = next((each for each in bodies if isinstance(each, Mapping)), {})
    body_status = None
    for name in (getattr(error, "code", None), *map(body.get, ("code", "status", "type"))):
        value = str(name).lower()
        if body_status is None and (re.fullmatch("[45][0-9]{2}", value) or value in NAMED):
            body_status = NAMED.get(value) or int(value)
    # OpenAI sends 429 for a used-up quota, as for a rate limit, but waiting does not help: 402.
    return 402 if body_status == 402 else _http_status(error) or body_status


def _http_status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and 400 <= status < 600:
                return int(status)
    return None


def _is_unreachable(error: BaseException) -> bool:
    """Returns whether no connection could be opened: no server was there to get the request."""
    return any(
        isinstance(cause, ConnectionRefusedError | socket.gaierror)
        or type(cause).__name__ == "ConnectError"
        for cause in _causes(error)
    )


def is_endpoint_failure(error: BaseException) -> bool:
    """Returns whether an error is the endpoint's, rather than a mistake in a program."""
    if not isinstance(error, Exception):
        return False
    if isinstance(error, UNREADABLE) and not isinstance(error, BadAnswer):
        frames = [frame for frame, _ in walk_tb(error.__traceback__)]
        # Deep nesting may overflow the stack anywhere, often in Python's own modules.
        within = frames if isinstance(error, RecursionError) else frames[-1:]
        packages = [str(frame.f_globals.get("__name__", "")).split(".")[0] for frame in within]
        if any(name in READERS or name.startswith("langchain_") for name in packages):
            return True
    return (
        isinstance(error, OSError | TimeoutError | BadAnswer)
        or status_of(error) is not None
        # Base classes count, as LangChain derives errors of its own from the SDKs'.
        or any(kind.__module__.split(".")[0] in CLIENTS for kind in type(error).__mro__)
    )


def retry_after(error: BaseException) -> float:
    """Returns how many seconds the endpoint asks to wait; 0 when it does not say."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    value = str(headers.get("retry-after") or headers.get("Retry-After") or "")
    with suppress(ValueError):
        return max(0.0, float(value))
    with suppress(ValueError):
        until = parsedate_to_datetime(value)
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


def explained(error: BaseException, endpoint: str, tries: str, hide: Sequence[str]) -> Failure:
    """Returns a failure whose error is one line: the endpoint, the problem and a remedy.

    Args:
        tries: Text on the number of attempts and the time they took.
        hide: Texts that the line may not show, such as keys.
    """
    # An SDK wraps a bad answer as if the connection had failed.
    error = next((cause for cause in _causes(error) if isinstance(cause, BadAnswer)), error)
    status, no_connection = status_of(error), _is_unreachable(error)
    # A ValueError may pass: it is a body that was cut off, or a proxy's page in its place.
    passing = not isinstance(error, _LASTING)
    if status is not None:
        problem = f"{'error' if _http_status(error) is None else 'HTTP'} {status}"
        remedy = _REMEDIES.get(status, _FAILING if status >= 500 else _REFUSED)
        passing = status in TRANSIENT_STATUS or status >= 500
    elif isinstance(error, TimeoutError):
        problem = "no answer"
        remedy = "the server is too slow: ask it less at a time with THOUGHTGRAPH_CONCURRENCY"
    elif isinstance(error, BrokenOff):
        problem, remedy = "an answer that broke off", _FAILING
    elif isinstance(error, UNREADABLE) and not no_connection:
        problem = "an unreadable answer"
        remedy = "is this an OpenAI-compatible chat endpoint whose address ends in /v1?"
    else:
        problem = "no connection" if no_connection else type(error).__name__
        remedy = "is the server running and the address right?"
    detail = _detail(error, first=status is not None, hide=hide)
    line = f"{endpoint}: {problem} after {tries}; {remedy}{f' ({detail})' if detail else ''}"
    explanation = ModelError(line, status=status, kind=problem)
    return Failure(explanation, retry_after(error) if passing else inf, unreachable=no_connection)


def _detail(error: BaseException, *, first: bool, hide: Sequence[str]) -> str:
    """Returns the error's own text, or its first cause's, as a printable end of a line."""
    texts = [text for cause in _causes(error) if (text := " ".join(str(cause).split()))]
    detail = "" if not texts else texts[0 if first else -1]
    for secret in hide:
        detail = detail.replace(secret, "***")
    detail = "".join(letter if letter.isprintable() else "?" for letter in detail)
    return detail if len(detail) <= LONGEST_DETAIL else f"{detail[:LONGEST_DETAIL]}…"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
