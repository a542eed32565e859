"""The live backend against a small server: faults, deadlines, rates, recordings; time passes only
when somebody sleeps. `tests/live` has a real MediaWiki."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.clock import Clock
from support.scripted import ScriptedChat
from support.wiki_proxy import FAULTS, SLOW, Fault, WikiProxy

import thoughtgraph as tg
from thoughtgraph.errors import InputError
from thoughtgraph.settings.acting import Recording
from thoughtgraph.tools.wiki import pages, transport
from thoughtgraph.tools.wiki.search_tools import Cursor, search
from thoughtgraph.tools.wiki.sources import toolbox
from thoughtgraph.tools.wiki.wikipedia import Wikipedia

WIKI = "thoughtgraph.tools.wiki"
TIMED = (
    *(f"{WIKI}.transport", f"{WIKI}.wikipedia", f"{WIKI}.recordings"),
    *("tenacity", "tenacity.nap", "langchain_core.rate_limiters"),
)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    clock.rule(monkeypatch, *TIMED)
    transport.rate_of.cache_clear()  # whose limiters know another clock
    return clock


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


def empty(query: Mapping[str, str]) -> dict[str, Any]:
    """Another wiki, without the page."""
    return alpha({**query, "titles": "Gone", "srsearch": ""})


@pytest.fixture
def proxy() -> Iterator[WikiProxy]:
    with WikiProxy(alpha) as opened:
        yield opened


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "wiki.sqlite"


def wiki(proxy: WikiProxy, kept: Path, recording: Recording = "fresh", **given: Any) -> Wikipedia:
    given = {"deadline": 20.0, "per_second": 1_000, **given}
    return Wikipedia(proxy.url, kept, recording=recording, **given)


@pytest.mark.parametrize("kind", FAULTS)
async def test_a_lasting_fault_is_told(kind, proxy, kept, clock, monkeypatch):
    fault, told = FAULTS[kind]
    proxy.fail(fault)
    if kind == "silent":  # for longer than we listen
        monkeypatch.setattr(transport, "SILENCE_SECONDS", 0.05)
    elif kind in SLOW:  # so that the deadline passes meanwhile

        def late(number: int) -> Fault:
            clock.now += 21.0
            return fault

        proxy.fault = late
    step = await search(wiki(proxy, kept), "Alpha", Cursor())
    assert step.failed
    assert step.observation.startswith("Search failed: ")
    assert told in step.observation
    assert len(step.observation.splitlines()) == 1
    assert clock.slept and sum(clock.slept) < 20.0


async def test_no_wiki_sends_us_to_another_server_or_is_asked_again(proxy, kept):
    """Else it chose which address of ours is asked."""
    with WikiProxy(alpha) as other:
        for status in (301, 302, 307, 308):
            proxy.fail(Fault(status, {"Location": other.url}))
            step = await search(wiki(proxy, kept), "Alpha", Cursor())
            assert step.failed and "name that address" in step.observation
            assert not other.seen and len(proxy.seen) == 1
    proxy.fail(Fault(403))
    with pytest.raises(pages.Refused, match="THOUGHTGRAPH_CONTACT"):
        await wiki(proxy, kept).find("Alpha")
    assert len(proxy.seen) == 1, "one that is blocked does not ask again"


async def test_a_passing_fault_is_not_noticed(proxy, kept):
    passing = [Fault(503), Fault(429, {"Retry-After": "0"}), Fault(drop=True)]
    for fault in (*passing, Fault(truncate=True), Fault(body=b"<html>"), FAULTS["lagging"][0]):
        proxy.fail(fault, times=2)
        assert isinstance(await wiki(proxy, kept).find("Alpha"), pages.Page)
        assert len(proxy.seen) == 4
    proxy.fail(Fault(503))
    with pytest.raises(pages.Busy):
        await wiki(proxy, kept).find("Alpha")
    assert len(proxy.seen) == 4, "one that lasts is told"


async def test_what_the_server_asks_to_wait_is_waited_but_not_beyond_the_deadline(
    proxy, kept, clock
):
    proxy.fail(Fault(429, {"Retry-After": "5"}), times=1)
    await wiki(proxy, kept).find("Alpha")
    assert max(clock.slept) == 5.0
    proxy.fail(Fault(503, {"Retry-After": "30"}))
    with pytest.raises(pages.Busy, match="asks to wait 30 s"):
        await wiki(proxy, kept).find("Alpha")
    assert max(clock.slept) == 5.0
    assert len(proxy.seen) == 1


async def test_what_hangs_where_no_timeout_reaches_ends_at_the_deadline(kept, monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr(transport.Transport, "ask", lambda *given: ended.wait(60))
    try:
        with pytest.raises(pages.Unreachable, match="did not answer in time"):
            await Wikipedia("http://w/api.php", kept, deadline=0.05).find("Alpha")
        assert not ended.is_set()
    finally:
        ended.set()


def test_what_is_no_contact_or_no_address_is_refused(kept):
    for contact in ("a\r\nX-Evil: 1", "ü@example.org", "a) evil", "a (evil"):
        with pytest.raises(InputError, match="contact"):
            Wikipedia("http://w/api.php", kept, deadline=1.0, contact=contact)
    for address in ("", "en.wikipedia.org", "ftp://x/api.php", "http://"):
        with pytest.raises(InputError, match=r"api\.php"):
            Wikipedia(address, kept, deadline=1.0)
    for address, used in (("http://de.wikipedia.org/w", "https:"), ("http://intranet/w", "http:")):
        assert transport.Transport(address).address.startswith(used)


def test_requests_pass_at_a_steady_rate_and_none_waits_beyond_its_deadline(proxy, clock):
    """Also those of another run."""
    began, runs = clock.now, [transport.Transport(proxy.url, per_second=4.0) for _ in range(2)]
    for asking in runs * 4:
        asking.ask({"titles": "Alpha", "prop": "info"}, clock.now + 60)
    assert 7 / 4 <= clock.now - began <= 10 / 4
    with pytest.raises(pages.Busy, match="too many requests"):
        runs[0].ask({}, clock.now + 0.1)


async def test_wikis_side_by_side_do_not_mix(kept):
    with WikiProxy(alpha) as one, WikiProxy(empty) as other:
        wikis = [wiki(one, kept), wiki(other, kept)] * 3
        found = await asyncio.gather(*(each.find("Alpha") for each in wikis))
    assert [isinstance(each, pages.Page) for each in found] == [True, False] * 3


async def test_a_recording_is_replayed_without_a_wiki(proxy, kept):
    recorder = wiki(proxy, kept, "record")
    proxy.fail(Fault(body=b"{}"), times=1)
    with pytest.raises(pages.Unreadable):  # which is not kept
        await recorder.find("Alpha")
    recorded = [await recorder.find(title) for title in ("Alpha", "alpha", "Gamma")]
    proxy.fail(Fault(drop=True))
    replayer = wiki(proxy, kept, "replay")
    assert [await replayer.find(title) for title in ("Alpha", "alpha", "Gamma")] == recorded
    with pytest.raises(pages.NotRecorded, match="record it first"):
        await replayer.find("Delta")
    assert proxy.seen == []


async def test_a_file_that_fails_later_is_told_to_the_model(proxy, kept):
    backend = wiki(proxy, kept, "record")
    with sqlite3.connect(kept) as db:
        db.execute("DROP TABLE answers")
    db.close()
    step = await search(backend, "Alpha", Cursor())
    assert step.failed
    assert step.observation.startswith(f"Search failed: cannot use '{kept}'")


async def test_the_communitys_tool_of_a_server_names_no_address(tmp_path, monkeypatch):
    monkeypatch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path))

    def refuse(asked: transport.Transport, query: Any, until: float) -> Any:
        raise pages.Unreachable(f"{asked.address} did not answer in time")

    monkeypatch.setattr(transport.Transport, "ask", refuse)
    tools = toolbox("community", name="encyclopaedia", recording="fresh")
    used = await tools.call("Search", "Alpha", None)
    assert used.failed
    for told in (used.observation, await tools.check()):
        assert "'encyclopaedia' failed" in told and "wikipedia.org" not in told


async def test_a_search_by_fgdip_opens_with_the_communitys_tool(tmp_path, monkeypatch):
    monkeypatch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path))
    monkeypatch.setattr(transport.Transport, "ask", lambda self, query, until: alpha(query))
    said = {"extract": '["Alpha", "Gamma"]', "step_eval": "Reply: sure", "answer_eval": "YES"}
    model = ScriptedChat(reply=lambda call: said.get(call.role, "Known.\nAction 2: Finish[old]"))
    graph = tg.build("fgdip", task="hotpotqa", model=model)
    asked = {"corpus": "community", "recording": "fresh", "tool_costs": "Search=2"}
    out = await graph.ainvoke({"problem": "How old is Alpha?"}, context=asked)
    openings = tg.children_of(out["tree"], "0")
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
