"""The live backend against a real MediaWiki, and against one behind a proxy with faults; `solve`
over it, recorded and replayed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer
from support.mediawiki import mediawiki, missing
from support.pages_script import act
from support.reader import PAGES as READ
from support.reader import QUESTION, read, told
from support.wiki_proxy import OK, Fault, WikiProxy

from thoughtgraph.acting import Toolbox
from thoughtgraph.tools.wiki.pages import Page, Similar
from thoughtgraph.tools.wiki.sources import toolbox
from thoughtgraph.tools.wiki.wikipedia import Wikipedia

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]

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
    "Bare link": "#REDIRECT [[Nowhere at all]]",
    **READ,
}
REFUSED = r"""
[x] <b> {{x}} .. . %25 % #foo C# A|B | Special:Search Special:Nothing File:X.png wikipedia:Foo mw:x
/sub ~~~~ \ \u2013 \N{BULLET} ..\.. ../../etc/passwd <script>alert(1)</script> ?action=raw
&format=xml + * " () AND intitle:x ~x -x _ __ VIVA_Media_x Finish[x]
"""
AWKWARD = [
    *REFUSED.split(),
    *("Foo\nBar", "x" * 256, "x" * 400, "é" * 200, "e\u0301", "\x00", "\x07bell"),
    *("Talk:VIVA Media", "w:VIVA Media", ":VIVA Media", "a AND", "   ", "'; DROP TABLE page; --"),
    *("\ud800", "🏳️‍🌈", "\u202e", "\u200b"),
]
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
    return Wikipedia(proxy.url, cache_file=folder / "wiki.sqlite", deadline=30.0, **given)


@pytest.mark.parametrize(
    ("asked", "title", "origin", "requests"),
    [
        ("VIVA Media", "VIVA Media", "", 2),
        ("vIVA Media", "VIVA Media", "", 2),
        ("VIVA_Media", "VIVA Media", "", 2),
        ("VIVA Media#History", "VIVA Media", "", 2),
        ("Viva AG", "VIVA Media", "Viva AG", 3),
        ("Viva once", "VIVA Media", "Viva once", 4),
        ("viva media", "VIVA Media", "", 4),
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
    assert found.paragraphs[found.lead :] == (
        ("It began in 1993.",),
        ("one item",),
        ("another item",),
    )
    assert len(proxy.seen) == requests


async def test_what_is_no_page_says_why(tools, proxy, tmp_path):
    found = await wiki(proxy, tmp_path).find("Mercury")
    assert found == Similar(("VIVA Media", "Mercury (planet)"), ambiguous=True)
    quotes = await wiki(proxy, tmp_path).find("Quotation")
    assert isinstance(quotes, Page), "it says the phrase of such pages"
    proxy.fail(OK)
    missed = await act(tools, "Search[VIVA]")
    assert missed.observation == 'Could not find VIVA. Similar: ["VIVA Media", "VIVA Poland"].'
    assert missed.failed
    assert len(proxy.seen) == 2
    nothing = await act(tools, "Search[no such thing at all]")
    assert nothing.observation == "Could not find no such thing at all. Similar: []."
    empty = await act(tools, "Search[Empty]")
    assert empty.observation == "Empty exists but has no text."
    assert not empty.failed
    for title in ("Bare link", "Loop one"):
        proxy.fail(OK)
        assert (await act(tools, f"Search[{title}]")).failed, title
        assert len(proxy.seen) < 10


async def test_no_title_is_too_awkward(tools):
    for asked in AWKWARD:
        result = await tools.call("Search", asked, None)
        assert result.failed, ascii(asked)
        assert result.observation.startswith(("Could not find ", "Invalid action: ")), ascii(asked)
        assert len(result.observation.splitlines()) == 1
        assert result.state in ({}, {"page": None, "keyword": None, "next_index": 0})


@pytest.mark.parametrize(
    "fault",
    [Fault(429, {"Retry-After": "0"}), Fault(503), Fault(drop=True), Fault(truncate=True)],
    ids=["429", "503", "dropped", "truncated"],
)
@pytest.mark.parametrize("asked", ["VIVA Media", "Viva AG", "viva media", "Mercury", "nothing"])
async def test_a_fault_in_any_request_but_the_last_try_changes_nothing(
    fault, asked, proxy, tmp_path
):
    backend = wiki(proxy, tmp_path)
    expected = await backend.find(asked)
    requests = len(proxy.seen)
    for number in range(requests):
        proxy.fail(OK)
        proxy.fault = lambda at, number=number: fault if at == number else OK
        assert await backend.find(asked) == expected
        assert len(proxy.seen) == requests + 1


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
