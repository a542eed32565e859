"""Pages of an encyclopaedia as plain sentences, what serves them, and what can go wrong."""

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
"""Titles that a miss suggests (ReAct's code)."""


class PagesError(ThoughtgraphError, RuntimeError):
    """Pages could not be asked for; a page that does not exist is no error.

    Args:
        message: What went wrong, and what to do, on one line.
        pause: Seconds to wait at least before another attempt; None: none will do better.
    """

    def __init__(self, message: str, pause: float | None = None) -> None:
        super().__init__(message)
        self.pause = pause


class Refused(PagesError):
    """The server will not serve this client, so that trying again does not help."""


class Busy(PagesError):
    """The server, or our own rate limit, asks to wait longer than the deadline allows."""


class Unreachable(PagesError):
    """There was no connection, or no answer in time."""


class Unreadable(PagesError):
    """The server answered with something that is no answer of a wiki."""


class NotRecorded(PagesError):
    """A replay asked for something that was never recorded."""


@dataclass(frozen=True, slots=True)
class Page:
    """One article.

    Args:
        title: The title under which it was found.
        paragraphs: The sentences of each paragraph, in the source's own split where it has one.
        lead: How many of the paragraphs stand before the first heading.
        url: Where a person can read it; empty if nowhere.
        redirected_from: The title that was asked for, when it is another name of this page.
    """

    title: str
    paragraphs: tuple[tuple[str, ...], ...]
    lead: int = 1
    url: str = ""
    redirected_from: str = ""


@dataclass(frozen=True, slots=True)
class Similar:
    """What there is instead of a page that does not exist, or of one with several meanings.

    Args:
        titles: Titles of pages that may be meant, the likeliest first.
        ambiguous: Whether the title that was asked for has several meanings.
    """

    titles: tuple[str, ...] = ()
    ambiguous: bool = False


class Backend(Protocol):
    """Serves pages: live Wikipedia, an offline corpus, or a script."""

    async def find(self, entity: str) -> Page | Similar:
        """Returns the page of that title, or what is similar to it.

        Raises:
            PagesError: The pages could not be asked for within the backend's deadline.
        """
        ...


@contextmanager
def errors_as(name: str) -> Iterator[None]:
    """Names a source of pages in the place of what went wrong with it, which is logged.

    Args:
        name: What a server's clients know it by; empty: errors are raised as they are.
    """
    try:
        yield
    except (PagesError, InputError) as error:
        if not name:
            raise
        logger.error("pages %r: %s", name, error)
        if isinstance(error, PagesError):
            raise type(error)(f"{name!r} failed: {type(error).__name__}") from None
        told = f"the pages {name!r} cannot be used; the server's log says why"
        raise InputError(told) from None


@runtime_checkable
class Checkable(Protocol):
    """A backend that may be out of reach."""

    async def check(self) -> None:
        """Asks whether pages can be had now.

        Raises:
            PagesError: They cannot; the message says why and what to do.
        """
        ...


def page_of_text(text: str, title: str, *, url: str = "", redirected_from: str = "") -> Page:
    """Makes a page of plain text with headings such as `== History ==`, which are left out.

    Each line is a paragraph; sentences end at a full stop followed by a space, as in ReAct's code.
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
    """Says whether a line is a title between equals signs, such as `== History ==`."""
    return len(line) > 2 and line[0] == line[-1] == "=" and bool(line[1:-1].strip())


def split_sentences(text: str) -> tuple[str, ...]:
    """Splits a paragraph at `". "`, as ReAct's code does, but keeps each full stop once."""
    parts = [part for part in one_line(text).split(". ") if part]
    return (*(f"{part}." for part in parts[:-1]), *parts[-1:])


def title_key(title: str) -> str:
    """Returns what titles that differ only in case, spacing or escaping have in common."""
    plain = unicodedata.normalize("NFC", html.unescape(title).replace("_", " "))
    return one_line(plain).casefold()


def first_similar(titles: Sequence[str], *, ambiguous: bool = False) -> Similar:
    """Returns the first few distinct titles."""
    return Similar(tuple(dict.fromkeys(titles))[:MOST_SIMILAR], ambiguous)
