"""Requests to the API of a MediaWiki, with deadlines, retries, a rate limit and typed errors.

They replace the one function through which the `wikipedia` package sends its requests: that
function has no timeout, no retry, no check of the status and no HTTPS.
"""

import json
import time
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit

import requests
from langchain_core.rate_limiters import InMemoryRateLimiter
from requests.adapters import HTTPAdapter
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)
from urllib3.exceptions import HTTPError

from thoughtgraph.errors import InputError
from thoughtgraph.llm.retry import retry_after
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tools.wiki.pages import (
    Busy,
    PagesError,
    Refused,
    Unreachable,
    Unreadable,
)

CONNECT_SECONDS = 3.05
"""Seconds a connection may take (ours: just above one repeated TCP packet)."""
SILENCE_SECONDS = 10.0
"""Seconds a server may send nothing (ours)."""
MOST_ATTEMPTS = 4
"""Attempts at one request before the wiki counts as failing (ours)."""
PER_SECOND = 10.0
"""Requests a second to one host, over all runs of the process (ours)."""
LONGEST_ADDRESS = 200
"""Characters of a redirect's address in an error (ours)."""
MOST_BYTES = 32 << 20
"""Bytes above which an answer is not read (ours); the longest articles have 1 MB of text."""
PAUSE = 0.01
"""Seconds between two tries to get a request past the rate limit (ours)."""
NO_WIKI = "give the address of a wiki's api.php"
NO_CONTACT = "set THOUGHTGRAPH_CONTACT to an address at which the wiki's operators can reach you"
POOL = 16
"""Connections to one host that are kept open (ours)."""

_TRANSIENT = frozenset({"ratelimited", "maxlag", "readonly", "http-timed-out"})
"""Codes of API errors whose cause passes by itself."""
_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_BUSY = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


@cache
def rate_of(host: str, per_second: float) -> InMemoryRateLimiter:
    """Returns the limiter of a host at a rate, which all threads share."""
    return InMemoryRateLimiter(requests_per_second=per_second)


class Transport:
    """Sends requests to one wiki. Threads may share it.

    Args:
        address: The address of its `api.php`; requests to Wikimedia's own wikis use HTTPS only.
        contact: An address or a page by which the wiki's operator can reach the operator of this
            program. Wikimedia slows down or blocks clients that give none.
        per_second: Requests a second to the wiki's host.

    Raises:
        InputError: The address is invalid, or the contact does not fit into a header.
    """

    def __init__(self, address: str, *, contact: str = "", per_second: float = PER_SECOND) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{address!r} is no address of a wiki; give https://HOST/w/api.php")
        if parts.hostname.endswith((".wikipedia.org", ".wikimedia.org")):
            parts = parts._replace(scheme="https")
        self.address = parts.geturl()
        self._contact = contact
        self._rate = rate_of(parts.netloc, per_second)
        self._session = requests.Session()
        self._session.headers["User-Agent"] = _user_agent(contact)
        adapter = HTTPAdapter(pool_connections=1, pool_maxsize=POOL)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def ask(self, parameters: Mapping[str, Any], until: float) -> dict[str, Any]:
        """Returns the API's answer to a query.

        Args:
            parameters: The query's parameters.
            until: The time (`time.monotonic`) after which no attempt is made.

        Raises:
            PagesError: There was no usable answer in time; the class says why.
        """
        if (left := until - time.monotonic()) <= 0:
            raise Unreachable(f"{self.address} did not answer in time")
        attempts = Retrying(
            retry=retry_if_exception(_can_retry),
            wait=_pause,
            stop=stop_after_attempt(MOST_ATTEMPTS) | stop_before_delay(left),
            reraise=True,
        )
        answer: dict[str, Any] = attempts(self._attempt, parameters, until)
        return answer

    def _attempt(self, parameters: Mapping[str, Any], until: float) -> dict[str, Any]:
        while not self._rate.acquire(blocking=False):
            if time.monotonic() > until:
                raise Busy("too many requests wait for this wiki; search with fewer at a time")
            time.sleep(PAUSE)
        left = max(0.001, until - time.monotonic())
        try:
            with self._session.get(
                self.address,
                params=parameters,
                timeout=(min(CONNECT_SECONDS, left), min(SILENCE_SECONDS, left)),
                stream=True,
                allow_redirects=False,  # a redirect would choose the host
            ) as response:
                body = self._body(response, until)
        except (requests.RequestException, HTTPError, OSError) as error:
            slow = isinstance(error, requests.Timeout)
            why = "gives no answer" if slow else f"cannot be reached ({type(error).__name__})"
            raise Unreachable(f"{self.address} {why}; check the network", pause=0.0) from error
        self._check_status(response)
        return self._answer(response, body)

    def _body(self, response: requests.Response, until: float) -> bytes:
        """Reads the response as it arrives, and gives up on a slow server when the time is over."""
        body = bytearray()
        while part := response.raw.read1(1 << 16, decode_content=True):
            body += part
            if time.monotonic() > until:
                raise Unreachable(f"{self.address} sends too slowly")
            if len(body) > MOST_BYTES:
                raise Unreadable(f"{self.address} sends more than {MOST_BYTES >> 20} MiB")
        return bytes(body)

    def _check_status(self, response: requests.Response) -> None:
        status = response.status_code
        fault = f"{self.address} answers with HTTP {status}"
        if status in _REFUSED:
            raise Refused(f"{fault}; {self._remedy()}")
        if status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            pause = retry_after(requests.HTTPError(response=response))
            asks = f" and asks to wait {pause:.0f} s" if pause else ""
            raise Busy(f"{fault}{asks}; {self._remedy()}", pause)
        if response.is_redirect:
            target = one_line(response.headers["Location"])[:LONGEST_ADDRESS]
            raise Refused(f"{fault} and redirects to {target}; name that address if you trust it")
        if status != HTTPStatus.OK:
            raise Unreadable(f"{fault}; {NO_WIKI}")

    def _answer(self, response: requests.Response, body: bytes) -> dict[str, Any]:
        no_answer = f"{self.address} sends what is no answer of a wiki"
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            beginning = one_line(repr(body[:60]))
            raise Unreadable(f"{no_answer} ({beginning} …); {NO_WIKI}", pause=0.0) from None
        if isinstance(answer, dict) and "error" in answer:
            self._raise_api_error(answer["error"], response)
        if not isinstance(answer, dict) or not answer.keys() & {"query", "batchcomplete"}:
            raise Unreadable(f"{no_answer}; {NO_WIKI}")
        return answer

    def _raise_api_error(self, error: Any, response: requests.Response) -> None:
        details = error if isinstance(error, dict) else {}
        code = str(details.get("code", "unknown"))
        info = one_line(str(details.get("info")))
        fault = f"{self.address} answers with the error {code} ({info})"
        if code in _TRANSIENT or code.startswith("internal_api_error"):
            pause = retry_after(requests.HTTPError(response=response))
            raise Busy(f"{fault}; {self._remedy()}", pause)
        raise Unreadable(fault)

    def _remedy(self) -> str:
        return "try again later" if self._contact else NO_CONTACT


_BACKOFF = wait_random_exponential(multiplier=0.2, max=5.0)


def _can_retry(fault: BaseException) -> bool:
    return isinstance(fault, PagesError) and fault.pause is not None


def _pause(state: RetryCallState) -> float:
    fault = state.outcome.exception() if state.outcome else None
    minimum = (fault.pause or 0.0) if isinstance(fault, PagesError) else 0.0
    return max(minimum, _BACKOFF(state))


def _user_agent(contact: str) -> str:
    if not contact.isprintable() or not contact.isascii() or "(" in contact or ")" in contact:
        raise InputError(
            f"{contact!r} cannot be sent as a contact; give an e-mail address or a link, in ASCII"
        )
    libraries = (f"{name}/{metadata.version(name)}" for name in ("wikipedia", "requests"))
    program = f"thoughtgraph/{metadata.version('thoughtgraph')}"
    return f"{program} ({contact or 'no contact given'}) {' '.join(libraries)}"
