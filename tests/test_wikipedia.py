"""The live backend against a small server: faults, deadlines, rates, recordings. `tests/live` has a
real MediaWiki."""

import asyncio
import sqlite3
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import wikipedia as package
from support.pools import few
from support.scripted import ScriptedChat
from support.wiki_proxy import FAULTS, SLOW, Fault, WikiProxy

import thoughtgraph as tg
from thoughtgraph.errors import InputError
from thoughtgraph.tools.wiki.community import community_tool, found_nothing
from thoughtgraph.tools.wiki.pages import (
    Busy,
    NotRecorded,
    Page,
    PagesError,
    Refused,
    Similar,
    Unreachable,
)
from thoughtgraph.tools.wiki.recordings import Recording, WikiCache
from thoughtgraph.tools.wiki.search_tools import Cursor, search
from thoughtgraph.tools.wiki.sources import toolbox
from thoughtgraph.tools.wiki.transport import Gate, Transport
from thoughtgraph.tools.wiki.wikipedia import Wikipedia

SLACK = 2.0
"""Seconds a busy machine may take beyond a deadline."""


def alpha(query: Mapping[str, str]) -> dict[str, Any]:
    """A wiki with the one page Alpha."""
    if query.get("list") == "search":
        found = [{"title": "Alpha"}] if query["srsearch"].casefold() == "alpha" else []
        return {"batchcomplete": "", "query": {"search": found}}
    if query.get("titles") != "Alpha":
        return {"query": {"pages": {"-1": {"title": query.get("titles"), "missing": ""}}}}
    page = {"pageid": 1, "title": "Alpha", "fullurl": "http://w/Alpha"}
    if "extracts" in query["prop"]:
        page |= {"extract": "Alpha is a letter. It is old.", "revisions": [{"revid": 1}]}
        page["revisions"][0] |= {"parentid": 0}
    return {"query": {"pages": {"1": page}}}


@pytest.fixture
def proxy() -> Iterator[WikiProxy]:
    with WikiProxy(alpha) as opened:
        yield opened


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "wiki.sqlite"


def wiki(proxy: WikiProxy, kept: Path, recording: Recording = "fresh", **given: Any) -> Wikipedia:
    given = {"deadline": 20.0, "per_second": 1_000, **given}
    return Wikipedia(proxy.url, recording=recording, cache_file=kept, **given)


async def test_a_page_is_found_with_two_requests(proxy, kept):
    found = await wiki(proxy, kept).find("Alpha")
    assert found == Page("Alpha", (("Alpha is a letter.", "It is old."),), url="http://w/Alpha")
    assert len(proxy.seen) == 2


@pytest.mark.parametrize("kind", few(FAULTS, 2))
async def test_a_lasting_fault_is_told_within_the_deadline(kind, proxy, kept):
    fault, told = FAULTS[kind]
    proxy.fail(fault)
    deadline = 1.0 if kind in SLOW else 20.0
    began = time.monotonic()
    step = await search(wiki(proxy, kept, deadline=deadline), "Alpha", Cursor())
    assert time.monotonic() - began < deadline + SLACK
    assert step.failed
    assert step.observation.startswith("Search failed: ")
    assert told in step.observation
    assert len(step.observation.splitlines()) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_wiki_sends_us_to_another_server(status, proxy, kept):
    """Else it chose which address of ours is asked."""
    with WikiProxy(alpha) as other:
        proxy.fail(Fault(status, {"Location": other.url}))
        step = await search(wiki(proxy, kept), "Alpha", Cursor())
        assert step.failed and "name that address" in step.observation
        assert not other.seen and len(proxy.seen) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault(503),
        Fault(429, {"Retry-After": "0"}),
        Fault(drop=True),
        Fault(truncate=True),
        Fault(body=b"<html>"),
        FAULTS["lagging"][0],
    ],
)
async def test_a_passing_fault_is_not_noticed(fault, proxy, kept):
    proxy.fail(fault, times=2)
    found = await wiki(proxy, kept).find("Alpha")
    assert isinstance(found, Page)
    assert len(proxy.seen) == 4


async def test_what_the_server_asks_to_wait_is_waited(proxy, kept):
    proxy.fail(Fault(429, {"Retry-After": "1"}), times=1)
    await wiki(proxy, kept).find("Alpha")
    assert proxy.times[1] - proxy.times[0] >= 1.0


async def test_waiting_beyond_the_deadline_is_not_begun(proxy, kept):
    proxy.fail(Fault(503, {"Retry-After": "30"}))
    began = time.monotonic()
    with pytest.raises(Busy, match="asks to wait 30 s"):
        await wiki(proxy, kept).find("Alpha")
    assert time.monotonic() - began < 10.0
    assert len(proxy.seen) == 1


async def test_a_client_that_is_blocked_does_not_ask_again(proxy, kept):
    proxy.fail(Fault(403))
    with pytest.raises(PagesError, match="THOUGHTGRAPH_CONTACT"):
        await wiki(proxy, kept).find("Alpha")
    assert len(proxy.seen) == 1


async def test_the_operator_is_told_whom_to_reach(proxy, kept, monkeypatch):
    ask = partial(toolbox, proxy.url, recording="fresh", cache_file=kept)
    assert await ask(contact="me@example.org").check() == ""
    monkeypatch.setenv("THOUGHTGRAPH_CONTACT", "https://example.org/bot")
    assert await ask().check() == ""
    assert "(me@example.org) wikipedia/" in proxy.agents[0]
    assert "(https://example.org/bot) wikipedia/" in proxy.agents[-1]


@pytest.mark.parametrize("contact", ["a\r\nX-Evil: 1", "ü@example.org", "a) evil"])
def test_a_contact_that_fits_into_no_header_is_refused(contact, kept):
    with pytest.raises(InputError, match="contact"):
        Wikipedia(contact=contact, cache_file=kept)


@pytest.mark.parametrize("address", ["", "en.wikipedia.org", "ftp://x/api.php", "http://"])
def test_what_is_no_address_is_refused(address, kept):
    with pytest.raises(InputError, match=r"api\.php"):
        Wikipedia(address, cache_file=kept)


def test_wikipedia_is_asked_by_https_only():
    assert Transport("http://de.wikipedia.org/w/api.php").address.startswith("https://de.")
    assert Transport("http://wiki.intranet/api.php").address.startswith("http://wiki.")


def test_requests_pass_at_a_steady_rate_over_all_threads():
    gate, passed = Gate(50.0), list[float]()

    def go() -> None:
        for _ in range(5):
            gate.wait(time.monotonic() + 60)
            passed.append(time.monotonic())

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(passed) - min(passed) >= 19 / 50.0 - 0.005


def test_nobody_queues_for_longer_than_the_deadline():
    gate = Gate(1.0)
    gate.wait(time.monotonic() + 1)
    with pytest.raises(Busy):
        gate.wait(time.monotonic() + 0.5)


async def test_wikis_side_by_side_do_not_mix(kept):
    def beta(query: Mapping[str, str]) -> dict[str, Any]:
        text = "Alpha of the other wiki."
        answer = alpha(query)
        for page in answer["query"].get("pages", {}).values():
            page |= {"extract": text} if "extract" in page else {}
        return answer

    with WikiProxy(alpha) as one, WikiProxy(beta) as other:
        wikis = [wiki(one, kept), wiki(other, kept)] * 5
        found = await asyncio.gather(*(each.find("Alpha") for each in wikis))
        misses = await asyncio.gather(*(each.find("Gamma") for each in wikis))
    pages = [page for page in found if isinstance(page, Page)]
    assert len(pages) == 10
    assert {page.paragraphs[0][0] for page in pages[::2]} == {"Alpha is a letter."}
    assert {page.paragraphs[0][0] for page in pages[1::2]} == {"Alpha of the other wiki."}
    assert misses == [Similar()] * 10


def test_other_users_of_the_package_notice_nothing(proxy, kept, monkeypatch):
    wiki(proxy, kept)
    monkeypatch.setattr(package.wikipedia, "API_URL", proxy.url)
    monkeypatch.setattr(package.wikipedia, "USER_AGENT", "theirs")
    assert package.page("Alpha", auto_suggest=False).content.startswith("Alpha is")
    assert set(proxy.agents) == {"theirs"}


@pytest.mark.parametrize(("recording", "requests"), [("fresh", 4), ("keep", 2), ("record", 2)])
async def test_answers_are_kept_as_told(recording, requests, proxy, kept):
    for _ in range(2):
        assert isinstance(await wiki(proxy, kept, recording).find("Alpha"), Page)
    assert len(proxy.seen) == requests


async def test_a_recording_is_replayed_without_a_wiki(proxy, kept):
    recorder = wiki(proxy, kept, "record")
    recorded = [await recorder.find(title) for title in ("Alpha", "alpha", "Gamma")]
    proxy.fail(Fault(drop=True))
    replayer = wiki(proxy, kept, "replay")
    assert [await replayer.find(title) for title in ("Alpha", "alpha", "Gamma")] == recorded
    with pytest.raises(NotRecorded, match="record it first"):
        await replayer.find("Delta")
    assert proxy.seen == []


async def test_equal_searches_at_the_same_time_ask_once(proxy, kept):
    proxy.fail(Fault(stall=0.2))
    backend = wiki(proxy, kept)
    found = await asyncio.gather(*(backend.find("Alpha") for _ in range(5)))
    assert len(set(found)) == 1
    assert len(proxy.seen) < 10


async def test_equal_searches_that_fail_all_say_so(proxy, kept):
    proxy.fail(Fault(403))
    backend = wiki(proxy, kept)
    failures = await asyncio.gather(
        *(backend.find("Alpha") for _ in range(5)), return_exceptions=True
    )
    assert {type(failure) for failure in failures} == {Refused}


async def test_faults_are_never_kept(proxy, kept):
    proxy.fail(Fault(body=b"{}"), times=1)
    kind = wiki(proxy, kept, "record")
    with pytest.raises(PagesError):
        await kind.find("Alpha")
    assert isinstance(await kind.find("Alpha"), Page)


def test_answers_grow_old_and_recordings_do_not(kept):
    short = WikiCache(kept, "keep", max_age=0.0)
    short.put("a", {"q": 1}, {"answer": 1})
    assert short.get("a", {"q": 1}) is None
    recorder = WikiCache(kept, "record")
    assert recorder.get("a", {"q": 1}) is None
    recorder.put("a", {"q": 1}, {"answer": 2})
    short.put("a", {"q": 1}, {"answer": 3})
    for cache in (short, recorder, WikiCache(kept, "replay", max_age=0.0)):
        assert cache.get("a", {"q": 1}) == {"answer": 2}
    short.put("a", {"q": 2}, {"answer": 1})
    short.close()
    WikiCache(kept, "keep", max_age=0.0)
    with sqlite3.connect(kept) as db:
        assert db.execute("SELECT count(*) FROM wiki_answers").fetchone() == (1,)
    db.close()


def test_a_file_that_is_no_cache_is_refused_in_one_line(tmp_path):
    file = tmp_path / "cache"
    file.write_text("this is no database, whatever it is called" * 100)
    with pytest.raises(InputError, match="name another file") as caught:
        WikiCache(file)
    assert "\n" not in str(caught.value)


async def test_a_file_that_fails_later_is_told_to_the_model(proxy, kept):
    backend = wiki(proxy, kept, "keep")
    with sqlite3.connect(kept) as db:
        db.execute("DROP TABLE wiki_answers")
    db.close()
    step = await search(backend, "Alpha", Cursor())
    assert step.failed
    assert step.observation.startswith(f"Search failed: cannot use '{kept}'")


async def test_the_communitys_tool_uses_our_transport_and_does_not_warn(proxy, kept):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tool = community_tool(wiki(proxy, kept, contact="me@example.org"))
    assert tool.name == "Search"
    shown = await tool.ainvoke({"query": "Alpha"})
    assert shown == "Page: Alpha\nSummary: Alpha is a letter. It is old."
    assert found_nothing(tool.invoke({"query": "Gamma"})), "a synchronous agent's call"
    assert "me@example.org" in proxy.agents[0]


async def test_the_communitys_tool_of_a_server_names_no_address(tmp_path, monkeypatch):
    monkeypatch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path))

    def refuse(transport: Transport, query: Any, until: float) -> Any:
        raise Unreachable(f"{transport.address} did not answer in time")

    monkeypatch.setattr(Transport, "ask", refuse)
    tools = toolbox("community", name="encyclopaedia", recording="fresh")
    used = await tools.call("Search", "Alpha", None)
    assert used.failed
    for told in (used.observation, await tools.check()):
        assert "'encyclopaedia' failed" in told and "wikipedia.org" not in told


async def test_the_communitys_tools_of_several_wikis_do_not_mix(kept, monkeypatch):
    def beta(query: Mapping[str, str]) -> dict[str, Any]:
        return {"query": {"search": []}} if query.get("list") == "search" else alpha(query)

    monkeypatch.setattr(package.wikipedia, "API_URL", "theirs")
    with WikiProxy(alpha) as one, WikiProxy(beta) as other:
        tools = [community_tool(wiki(each, kept)) for each in (one, other)]
        shown = [await tool.ainvoke({"query": "Alpha"}) for tool in tools]
    assert [found_nothing(text) for text in shown] == [False, True]
    assert package.wikipedia.API_URL == "theirs"


async def test_a_search_by_fgdip_opens_with_the_communitys_tool(tmp_path, monkeypatch):
    monkeypatch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path))
    monkeypatch.setattr(Transport, "ask", lambda self, query, until: alpha(query))
    said = {"extract": '["Alpha", "Gamma"]', "step_eval": "Reply: sure", "answer_eval": "YES"}
    model = ScriptedChat(reply=lambda call: said.get(call.role, "Known.\nAction 2: Finish[old]"))
    graph = tg.build("fgdip", task="hotpotqa", model=model)
    asked = {"corpus": "community", "recording": "fresh", "tool_costs": "Search=2"}
    out = await graph.ainvoke({"problem": "How old is Alpha?"}, context=asked)
    openings = [t for t in out["tree"].values() if t["parent"] == "0"]
    assert [(t["observation"], t["failed"], t["price"]) for t in openings] == [
        ("Page: Alpha Summary: Alpha is a letter. It is old.", False, 2.0),
        ("No good Wikipedia Search Result was found", True, 2.0),
    ]
    assert out["answer"] == "old"
    asked_for = [call.prompt for call in model.seen if call.role == "generate"]
    assert "Search[query]: Searches Wikipedia" in asked_for[0]


async def test_a_wiki_that_gives_no_plain_text_is_told_before_a_run(kept):
    warning = 'Unrecognized value for parameter "prop": extracts.'
    said = {"warnings": {"query": {"*": warning}}, "batchcomplete": "", "query": {"general": {}}}
    with WikiProxy(lambda query: said) as bare:
        assert "TextExtracts" in await toolbox(wiki(bare, kept)).check()
