"""Reads pages from a file: one JSON object per line, or HotpotQA questions with paragraphs."""

import html
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thoughtgraph.errors import InputError
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tools.wiki.pages import Page, page_of_text

FORMAT = (
    'a line {"title": …, "sentences": […]} a page (or "text" instead of "sentences"; "url" and '
    '"redirects": [other titles] may be added), {"title": …, "redirect": target} a redirect, or '
    'HotpotQA questions with "context"'
)


@dataclass(frozen=True, slots=True)
class Redirect:
    """Another name of a page."""

    title: str
    to: str


Entry = Page | Redirect


def read_entries(file: Path) -> Iterator[Entry]:
    """Reads pages and redirects; where questions' contexts repeat a title, only the first page.

    Args:
        file: Lines of JSON, or one JSON list of the same objects; the formats may be mixed.

    Raises:
        InputError: The file cannot be read, has no entries, or has an entry in none of the formats;
            the message names the entry.
    """
    count, titles = 0, set[str]()
    try:
        for record in _records(file):
            yield from _entries(record, titles)
            count += 1
    except OSError as error:
        raise InputError(f"cannot read {str(file)!r} ({error.strerror}); check the path") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{str(file)!r} cannot be read from entry {count + 1} on; expected {FORMAT}"
        ) from error
    if not count:
        raise InputError(f"{str(file)!r} holds no pages; expected {FORMAT}")


def _records(file: Path) -> Iterator[Any]:
    with file.open(encoding="utf-8-sig") as lines:
        first = lines.read(1)
        lines.seek(0)
        if first == "[":
            yield from json.load(lines)
        else:
            yield from (json.loads(line) for line in lines if line.strip())


def _entries(record: Mapping[str, Any], titles: set[str]) -> Iterator[Entry]:
    if "context" not in record:
        yield from _page(record)
        return
    for title, sentences in paragraphs(record["context"]):
        if title not in titles:
            titles.add(title)
            yield page(title, sentences)


def paragraphs(context: Any) -> Iterable[tuple[str, list[str]]]:
    """Reads the paragraphs of a context: pairs in HotpotQA's own files, columns in copies."""
    if isinstance(context, Mapping):
        return list(zip(context["title"], context["sentences"], strict=True))
    return [(title, sentences) for title, sentences in context]


def _page(record: Mapping[str, Any]) -> Iterator[Entry]:
    title = _title(record["title"])
    if "redirect" in record:
        yield Redirect(title, _title(record["redirect"]))
        return
    url = str(record.get("url") or "")
    if "sentences" in record:
        yield page(title, record["sentences"], url=url)
    else:
        yield page_of_text(record["text"], title, url=url)
    names = record.get("redirects") or ()
    if isinstance(names, str):
        raise TypeError("redirects are a list")
    for name in names:
        yield Redirect(_title(name), title)


def page(title: str, sentences: Iterable[str], *, url: str = "") -> Page:
    """Makes a page of one paragraph from sentences that are already split."""
    if isinstance(sentences, str):
        raise TypeError("sentences are a list")
    paragraph = tuple(line for sentence in sentences if (line := one_line(sentence)))
    return Page(_title(title), (paragraph,), url=url)


def _title(text: str) -> str:
    # HotpotQA escapes its titles as in HTML.
    title = one_line(html.unescape(text))
    if not title:
        raise ValueError("a title is empty")
    return title
