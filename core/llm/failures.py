"""Failures of an endpoint: which are its own, which may pass, and what a reader is told of them."""

import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from traceback import walk_tb
from typing import Any

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


class BadAnswer(ValueError):
    """The endpoint answered with something that is no answer."""


class Unacceptable(BadAnswer):
    """The endpoint answered what it will answer again."""


class BrokenOff(BadAnswer):
    """The server ended an answer before it was whole."""


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
    told = _status_in_body(error)
    # OpenAI says 429, as for a rate limit, but waiting does not help.
    return 402 if told == 402 else _http_status(error) or told


def _status_in_body(error: Exception) -> int | None:
    """Returns the status that an error's body names: some servers send failures with status 200."""
    # LangChain raises what stands in an answer's field `error`.
    bodies: list[Any] = [getattr(error, "body", None), *error.args]
    body = next((each for each in bodies if isinstance(each, Mapping)), {})
    for name in (getattr(error, "code", None), *map(body.get, ("code", "status", "type"))):
        value = str(name).lower()
        if re.fullmatch("[45][0-9]{2}", value) or value in NAMED:
            return NAMED.get(value) or int(value)
    return None


def _http_status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and 400 <= status < 600:
                return int(status)
    return None


def is_unreachable(error: BaseException) -> bool:
    """Returns whether no connection could be had: nothing was asked, and nobody was there."""
    return any(
        isinstance(cause, ConnectionRefusedError | socket.gaierror)
        or type(cause).__name__ == "ConnectError"
        for cause in _causes(error)
    )


def is_endpoint_failure(error: BaseException) -> bool:
    """Returns whether an error is about the endpoint rather than a mistake in a program."""
    return isinstance(error, Exception) and (
        isinstance(error, OSError | TimeoutError | BadAnswer)
        or status_of(error) is not None
        # LangChain derives errors of its own from the SDKs'.
        or any(_package(kind.__module__) in CLIENTS for kind in type(error).__mro__)
        or (isinstance(error, UNREADABLE) and _raised_by_reader(error))
    )


def is_transient(error: BaseException) -> bool:
    """Returns whether another attempt may succeed."""
    status = status_of(error)
    if status is not None:
        return status in TRANSIENT_STATUS or status >= 500
    # A body that was cut off or replaced by a proxy's page fails as a ValueError.
    return is_endpoint_failure(error) and not isinstance(
        error, AttributeError | LookupError | RecursionError | TypeError | Unacceptable
    )


def retry_after(error: BaseException) -> float:
    """Returns how many seconds the endpoint asks to wait; 0 when it does not say."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    asked = str(headers.get("retry-after") or headers.get("Retry-After") or "")
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(asked)
    except ValueError:
        return 0.0
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def cause_of(error: BaseException) -> BaseException:
    """Returns what went wrong: an SDK wraps a bad answer as if the connection had failed."""
    return next((cause for cause in _causes(error) if isinstance(cause, BadAnswer)), error)


def explained(
    error: BaseException, endpoint: str, *, attempt: int, seconds: float, hide: Sequence[str]
) -> ModelError:
    """Returns a failure in one line: the endpoint, what is wrong with it, and a remedy.

    Args:
        error: The failure of the last attempt.
        endpoint: Named in the line.
        attempt: How many attempts were made.
        seconds: How long they took.
        hide: Texts that the line may not show, such as keys.
    """
    tries = "1 attempt" if attempt == 1 else f"{attempt} attempts"
    return ModelError(
        f"{endpoint}: {_problem(error)} after {tries} in {seconds:.1f} s; "
        f"{_remedy(error)}{_detail(error, hide)}",
        status=status_of(error),
        kind=_problem(error),
    )


def _package(module: str) -> str:
    return module.partition(".")[0]


def _raised_by_reader(error: BaseException) -> bool:
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    # What is nested too deeply ends wherever the stack does, often in Python's own modules.
    within = frames if isinstance(error, RecursionError) else frames[-1:]
    packages = (_package(str(frame.f_globals.get("__name__", ""))) for frame in within)
    return any(name in READERS or name.startswith("langchain_") for name in packages)


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


def _problem(error: BaseException) -> str:
    status = status_of(error)
    if status is not None:
        return f"{'error' if _http_status(error) is None else 'HTTP'} {status}"
    if isinstance(error, TimeoutError):
        return "no answer"
    if is_unreachable(error):
        return "no connection"
    if isinstance(error, BrokenOff):
        return "an answer that broke off"
    return "an unreadable answer" if isinstance(error, UNREADABLE) else type(error).__name__


def _remedy(error: BaseException) -> str:
    status = status_of(error)
    if isinstance(error, BrokenOff):
        return _FAILING
    if status is None and isinstance(error, UNREADABLE):
        return "is this an OpenAI-compatible chat endpoint whose address ends in /v1?"
    if isinstance(error, TimeoutError):
        return "the server is too slow: ask it less at a time with THOUGHTGRAPH_CONCURRENCY"
    if status is None:
        return "is the server running and the address right?"
    other = _FAILING if status >= 500 else _REFUSED
    return _REMEDIES.get(status, other)


def _detail(error: BaseException, hide: Sequence[str]) -> str:
    """Returns what the server or the first cause says, as the end of a line a terminal can show."""
    texts = [text for cause in _causes(error) if (text := " ".join(str(cause).split()))]
    if not texts:
        return ""
    text = texts[-1] if status_of(error) is None else texts[0]
    for secret in hide:
        text = text.replace(secret, "***")
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    return f" ({plain if len(plain) <= LONGEST_DETAIL else plain[:LONGEST_DETAIL] + '…'})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
