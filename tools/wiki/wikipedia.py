"""Live Wikipedia, and any other MediaWiki, through the `wikipedia` package.

The package serves one wiki per process, caches answers regardless of their wiki and age, and hides
failures. So each search loads its own copy of the package's module (2 ms), which sends its requests
through our transport. Several wikis and languages can then be searched at the same time, and other
users of the package notice nothing.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import wikipedia
from bs4 import BeautifulSoup

from thoughtgraph.errors import InputError
from thoughtgraph.settings.acting import Recording
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tools.wiki.pages import (
    MOST_SIMILAR,
    Page,
    Similar,
    Unreachable,
    Unreadable,
    first_similar,
    page_of_text,
    title_key,
)
from thoughtgraph.tools.wiki.recordings import WikiCache
from thoughtgraph.tools.wiki.transport import PER_SECOND, Transport

GRACE = 0.5
"""Seconds beyond the deadline in which a request in flight can end by itself (ours)."""
LONGEST_TITLE = 255
"""Bytes that a title may have (MediaWiki)."""
LONGEST_SEARCH = 300
"""Characters that a search may have (Wikipedia)."""
NO_TEXT = "the wiki gives no plain text: it lacks the extension TextExtracts; choose another wiki"

_ILLEGAL = frozenset("#<>[]{}|")
_T = TypeVar("_T")


class Wikipedia:
    """The pages of one MediaWiki.

    A title is found in whatever case if the wiki's search finds it. `Title#Section` is the page
    `Title`. A title with several meanings gives the titles of these meanings.

    Args:
        address: The address of the wiki's `api.php`.
        cache_file: The file in which the wiki's answers are kept.
        deadline: Seconds for finding a page, however many requests that takes.
        contact: An address or link at which the wiki's operators can reach this program's user.
        recording: How long the answers are kept; see `WikiCache`.
        per_second: Requests a second to the wiki's host, over all runs of the process.

    Raises:
        InputError: The address is invalid, the contact does not fit into a header, or the file
            cannot be used.
    """

    def __init__(
        self,
        address: str,
        cache_file: Path,
        *,
        deadline: float,
        contact: str = "",
        recording: Recording = "keep",
        per_second: float = PER_SECOND,
    ) -> None:
        self._transport = Transport(address, contact=contact, per_second=per_second)
        self._deadline = deadline
        self._recording = recording
        self._cache = WikiCache(cache_file, recording)

    async def find(self, entity: str) -> Page | Similar:
        """Returns the page with that title, or similar titles.

        Raises:
            PagesError: The wiki gave no usable answer in time.
        """
        return await self._in_time(partial(self._find, entity))

    async def check(self) -> None:
        """Checks that the wiki answers and gives plain text; a replay needs no wiki.

        Raises:
            PagesError: The wiki does not; the message says what to do.
        """
        if self._recording != "replay":
            query = {"action": "query", "meta": "siteinfo", "prop": "extracts", "format": "json"}
            until = time.monotonic() + self._deadline
            answer = await self._in_time(partial(self._transport.ask, query, until))
            warnings = answer.get("warnings")
            if isinstance(warnings, dict) and "extracts" in str(warnings.get("query")):
                raise Unreadable(NO_TEXT)

    def package(self) -> Any:
        """Returns a copy of the `wikipedia` package's module that asks this wiki.

        The copy is good for one search, whose deadline counts from now.
        """
        spec: Any = find_spec("wikipedia.wikipedia")
        module: Any = module_from_spec(spec)
        spec.loader.exec_module(module)
        module._wiki_request = partial(self._answer, time.monotonic() + self._deadline)
        module.BeautifulSoup = partial(BeautifulSoup, features="html.parser")  # else it warns
        module.exceptions = wikipedia.exceptions
        return module

    async def _in_time(self, work: Callable[[], _T]) -> _T:
        """Runs work in a thread and returns its result if it is ready by the deadline."""
        try:
            # A thread ends by itself, unless it hangs where no timeout of ours reaches.
            async with asyncio.timeout(self._deadline + GRACE):
                return await asyncio.to_thread(work)
        except TimeoutError:
            raise Unreachable(f"{self._transport.address} did not answer in time") from None

    def _answer(self, until: float, parameters: dict[str, Any]) -> Mapping[str, Any]:
        query = {"action": "query", "format": "json", **parameters}
        return self._cache.answer(self._transport.address, query, self._transport.ask, until)

    def _find(self, entity: str) -> Page | Similar:
        package, title = self.package(), _legal_title(entity)
        page = None if title is None else _page(package, title)
        if page is not None:
            return page
        titles = _search(package, entity)
        matches = [each for each in titles if title_key(each) == title_key(title or entity)]
        page = _page(package, matches[0]) if matches and matches[0] != title else None
        return page or first_similar(titles)


def _page(package: Any, title: str) -> Page | Similar | None:
    """Returns a page, the meanings of its title, or None if there is no such page."""
    try:
        page = package.page(title, auto_suggest=False)
    except wikipedia.DisambiguationError as error:
        options = [one_line(str(option)) for option in error.options]
        return first_similar(options, ambiguous=True)
    except (wikipedia.PageError, KeyError, AssertionError):
        return None  # the package fails on the wiki's reply to an impossible title
    except InputError:
        raise  # from the file of answers
    except (TypeError, AttributeError, LookupError, ValueError, RecursionError) as error:
        raise Unreadable("the wiki's answer has another form than MediaWiki's") from error
    try:
        text = str(page.content)
    except LookupError as error:
        raise Unreadable(NO_TEXT) from error
    renamed = title_key(page.title) != title_key(title)
    return page_of_text(text, page.title, url=page.url, redirected_from=title if renamed else "")


def _search(package: Any, text: str) -> list[str]:
    query = one_line("".join(" " if letter in _ILLEGAL else letter for letter in text))
    if not query:
        return []
    try:
        titles = package.search(query[:LONGEST_SEARCH], results=MOST_SIMILAR)
    except (TypeError, AttributeError, LookupError) as error:
        raise Unreadable("the wiki's answer has another form than MediaWiki's") from error
    return [str(title) for title in titles]


def _legal_title(entity: str) -> str | None:
    """Returns the title in a text, without a section; None if no page can have that title."""
    title, hash_sign, section = one_line(entity.replace("_", " ")).partition("#")
    title = title.strip()
    if hash_sign and not section.strip():
        return None  # such as C#, which is not a section of C
    if (
        not title
        or title.startswith((":", "/"))
        or _ILLEGAL & set(title)
        or unquote(title) != title
    ):
        return None
    return title if len(title.encode()) <= LONGEST_TITLE else None
