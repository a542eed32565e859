"""Pages of an encyclopaedia as plain sentences, the backends that serve them, and errors."""

import html
import logging
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from thoughtgraph.errors import InputError, ThoughtgraphError
from thoughtgraph.tools.one_line import one_line

logger = logging.getLogger("thoughtgraph")

MOST_SIMILAR = 5
"""Titles that a miss suggests at most (ReAct's code)."""


class PagesError(ThoughtgraphError, RuntimeError):
    """A backend could not look for a page; a page that does not exist is no error.

    Args:
        message: What went wrong, and what to do, on one line.
        pause: Seconds to wait at least before another attempt; None: no attempt will do better.
    """

    def __init__(self, message: str, pause: float | None = None) -> None:
        super().__init__(message)
        self.pause = pause


class Refused(PagesError):
    """The server will not serve this client; trying again does not help."""


class Busy(PagesError):
    """The server, or our own rate limit, asks to wait longer than the deadline allows."""


class Unreachable(PagesError):
    """There was no connection, or no answer in time."""


class Unreadable(PagesError):
    """The server's answer is not the answer of a wiki."""


class NotRecorded(PagesError):
    """A replay asked for an answer that was never recorded."""


@dataclass(frozen=True, slots=True)
class Page:
    """One article.

    Args:
        title: The title under which it was found.
        paragraphs: The sentences of each paragraph, as the source splits them if it does.
        lead: The number of paragraphs before the first heading.
        url: The address at which a person can read the page; empty if there is none.
        redirected_from: The requested title, if it is another name of this page.
    """

    title: str
    paragraphs: tuple[tuple[str, ...], ...]
    lead: int = 1
    url: str = ""
    redirected_from: str = ""


@dataclass(frozen=True, slots=True)
class Similar:
    """Suggestions for a title that no page has, or that has several meanings.

    Args:
        titles: Titles of pages that may be meant, the likeliest first.
        ambiguous: Whether the requested title has several meanings.
    """

    titles: tuple[str, ...] = ()
    ambiguous: bool = False


class Backend(Protocol):
    """Serves pages: live Wikipedia, an offline corpus, or a script."""

    async def find(self, entity: str) -> Page | Similar:
        """Returns the page with that title, or similar titles.

        Raises:
            PagesError: The backend could not look for the page within its deadline.
        """
        ...


@contextmanager
def errors_as(name: str) -> Iterator[None]:
    """Raises a source's errors again with the source's name alone, and logs the details.

    Args:
        name: The source's name among a server's clients; empty: errors are raised as they are.
    """
    try:
        yield
    except (PagesError, InputError) as error:
        if not name:
            raise
        logger.error("pages %r: %s", name, error)
        if isinstance(error, PagesError):
            raise type(error)(f"{name!r} failed: {type(error).__name__}") from None
        message = f"the pages {name!r} cannot be used; the server's log says why"
        raise InputError(message) from None


@runtime_checkable
class Checkable(Protocol):
    """A backend that may be out of reach."""

    async def check(self) -> None:
        """Checks that the backend can serve pages now.

        Raises:
            PagesError: It cannot; the message says why and what to do.
        """
        ...


def page_of_text(text: str, title: str, *, url: str = "", redirected_from: str = "") -> Page:
    """Makes a page from plain text and leaves out headings such as `== History ==`.

    Each line is a paragraph. A sentence ends at a full stop and a space, as in ReAct's code.
    """
    paragraphs: list[tuple[str, ...]] = []
    lead = None
    for line in text.split("\n"):
        if _is_heading(line.strip()):
            lead = len(paragraphs) if lead is None else lead
        elif sentences := split_sentences(line):
            paragraphs.append(sentences)
    lead = len(paragraphs) if lead is None else lead
    return Page(title, tuple(paragraphs), lead, url, redirected_from)


def _is_heading(line: str) -> bool:
    """Returns whether a line is a title between equals signs, such as `== History ==`."""
    return len(line) > 2 and line[0] == line[-1] == "=" and bool(line[1:-1].strip())


def split_sentences(text: str) -> tuple[str, ...]:
    """Splits a paragraph at `". "`, as ReAct's code does, but keeps each full stop once."""
    parts = [part for part in one_line(text).split(". ") if part]
    return (*(f"{part}." for part in parts[:-1]), *parts[-1:])


def title_key(title: str) -> str:
    """Returns a key that is equal for titles that differ only in case, spacing or escaping."""
    plain = unicodedata.normalize("NFC", html.unescape(title).replace("_", " "))
    return one_line(plain).casefold()


def first_similar(titles: Sequence[str], *, ambiguous: bool = False) -> Similar:
    """Returns the first few distinct titles."""
    return Similar(tuple(dict.fromkeys(titles))[:MOST_SIMILAR], ambiguous)
