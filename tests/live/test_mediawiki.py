"""The live backend against a real MediaWiki; `solve` over it, recorded and replayed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer
from support.mediawiki import mediawiki, missing
from support.pages_script import PAGES as READ
from support.pages_script import QUESTION, read, told
from support.wiki_proxy import OK, Fault, WikiProxy

from thoughtgraph.acting import Toolbox
from thoughtgraph.tools.wiki.pages import Page, Similar
from thoughtgraph.tools.wiki.sources import toolbox
from thoughtgraph.tools.wiki.wikipedia import Wikipedia

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]

PLAIN = """
AT&T / C++ / 100% Love / Who? What! / O'Brien / The "Quoted" / Ångström / 東京
العربية / 😀 / St. John's / 1+1=2 / ..and Justice / (parentheses) / IT\\ICCU\\UBO / ~tilde
"""
PLAIN = ["A/B testing", *re.split(" / |\n", PLAIN.strip())]
"""Titles that were trouble to somebody, each of a page."""
PAGES = {
    "VIVA Media": "'''VIVA Media''' (until 2004 '''VIVA Media AG''') is a company.\n\nIt is in "
    "[[Germany]]. It plays music.\n\n== History ==\nIt began in 1993.\n* one item\n* another item",
    "VIVA Poland": "'''VIVA Poland''' was a channel.",
    "Viva AG": "#REDIRECT [[VIVA Media]]",
    "Viva once": "#REDIRECT [[Viva AG]]",
    "Mercury": "'''Mercury''' may refer to:\n* [[VIVA Media]], no planet\n* [[Mercury (planet)]]\n"
    "__DISAMBIG__",
    "Mercury (planet)": "Mercury is a planet.",
    "Quotation": 'The phrase "may refer to:" opens many pages. This one quotes it.',
    "Empty": "<!-- nothing -->",
    "Loop one": "#REDIRECT [[Loop two]]",
    "Loop two": "#REDIRECT [[Loop one]]",
    "Loop alone": "#REDIRECT [[Loop alone]]",
    "Bare link": "#REDIRECT [[Nowhere at all]]",
    **READ,
    **dict.fromkeys(PLAIN, "<nowiki/>This is a page. It is short."),
}
REFUSED = r"""
[x] <b> {{x}} .. %25 #foo A|B | Special:Search Special:Nothing File:X.png wikipedia:Foo mw:x
/sub ~~~~ \ ../../etc/passwd <script>alert(1)</script> ?action=raw &format=xml * "
"""
AWKWARD = [*REFUSED.split(), "Foo\nBar", "x" * 400, "é" * 200, "\x07bell", "\ud800"]
"""What no page can be called, or none is."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mediawiki(tmp_path_factory.mktemp("mediawiki"), PAGES) as started:
        yield started


@pytest.fixture
def proxy(address: str) -> Iterator[WikiProxy]:
    with WikiProxy(address) as proxy:
        yield proxy


@pytest.fixture
def tools(proxy: WikiProxy, tmp_path: Path) -> Toolbox:
    return toolbox(wiki(proxy, tmp_path))


def wiki(proxy: WikiProxy, folder: Path) -> Wikipedia:
    given: Any = {"recording": "fresh", "per_second": 1_000, "contact": "me@example.org"}
    return Wikipedia(proxy.url, folder / "wiki.sqlite", deadline=30.0, **given)


@pytest.mark.parametrize(
    ("asked", "title", "origin", "requests"),
    [
        ("VIVA Media", "VIVA Media", "", 2),
        ("VIVA Media#History", "VIVA Media", "", 2),
        ("Viva AG", "VIVA Media", "Viva AG", 3),
        ("Viva once", "VIVA Media", "Viva once", 4),
        ("VIVA MEDIA", "VIVA Media", "", 4),
    ],
)
async def test_a_page_is_found(asked, title, origin, requests, proxy, tmp_path):
    found = await wiki(proxy, tmp_path).find(asked)
    assert isinstance(found, Page)
    assert (found.title, found.redirected_from) == (title, origin)
    assert found.paragraphs[: found.lead] == (
        ("VIVA Media (until 2004 VIVA Media AG) is a company.",),
        ("It is in Germany.", "It plays music."),
    )
    rest = (("It began in 1993.",), ("one item",), ("another item",))
    assert found.paragraphs[found.lead :] == rest
    assert len(proxy.seen) == requests


async def test_a_miss_and_a_title_with_several_meanings_name_titles(proxy, tmp_path):
    assert await wiki(proxy, tmp_path).find("VIVA") == Similar(("VIVA Media", "VIVA Poland"))
    assert len(proxy.seen) == 2
    proxy.fail(OK)
    found = await wiki(proxy, tmp_path).find("Mercury")
    assert found == Similar(("VIVA Media", "Mercury (planet)"), ambiguous=True)
    assert len(proxy.seen) == 2
    quotes = await wiki(proxy, tmp_path).find("Quotation")
    assert isinstance(quotes, Page), "it says the phrase of such pages"


async def test_titles_that_were_trouble_to_somebody_are_found(proxy, tmp_path):
    for title in PLAIN:
        proxy.fail(OK)
        found = await wiki(proxy, tmp_path).find(title)
        assert isinstance(found, Page), title
        assert found.title == title
        assert found.paragraphs[0][0].startswith("This is a page")
        assert len(proxy.seen) == 2


async def test_no_title_is_too_awkward(tools):
    for asked in AWKWARD:
        result = await tools.call("Search", asked, None)
        assert result.failed, ascii(asked)
        assert result.observation.startswith(("Could not find ", "Invalid action: ")), ascii(asked)
        assert len(result.observation.splitlines()) == 1
        assert result.state in ({}, {"page": None, "keyword": None, "next_index": 0})


async def test_pages_without_text_and_redirects_to_nothing_or_in_a_circle_say_so(tools, proxy):
    empty = await tools.call("Search", "Empty", None)
    assert empty.observation == "Empty exists but has no text."
    assert not empty.failed
    for title in ("Bare link", "Loop one", "Loop alone"):
        proxy.fail(OK)
        assert (await tools.call("Search", title, None)).failed, title
        assert len(proxy.seen) < 10


@pytest.fixture
def solve(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    for name in ("THOUGHTGRAPH_DATA", "THOUGHTGRAPH_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return lambda *options: command("solve", QUESTION, "--task", "hotpotqa", *options)


def test_a_wiki_is_searched_and_its_recording_needs_none(proxy, solve):
    with FakeServer(read) as model:
        given = ["--model", model.specifier, "--set", f"corpus={proxy.url}"]
        code, out, err = solve(*given, "--set", "recording=record", "--set", "contact=me@x.org")
        assert (code, err) == (0, "")
        assert "answer:   Germany" in out
        seen = told(model.answered[-1])
        assert seen[-1] == "(Result 1 / 1) Bonn in Germany is where he was born."
        assert "(me@x.org)" in proxy.agents[-1]
        proxy.fail(Fault(drop=True))
        code, out, err = solve(*given, "--set", "recording=replay")
        assert (code, err) == (0, "")
        assert "answer:   Germany" in out
        assert told(model.answered[-1]) == seen
        assert proxy.seen == []
