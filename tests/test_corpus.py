"""Pages in files, and recorded answers of wikis."""

import itertools
import json
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.clock import Clock

from thoughtgraph.errors import InputError
from thoughtgraph.tools.wiki.corpus import Corpus
from thoughtgraph.tools.wiki.corpus_files import Redirect, page, read_entries
from thoughtgraph.tools.wiki.pages import Page, Refused, Similar
from thoughtgraph.tools.wiki.recordings import WikiCache

RECORDINGS = "thoughtgraph.tools.wiki.recordings"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    clock.rule(monkeypatch, RECORDINGS)
    return clock


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return tmp_path / "wiki.sqlite"


@pytest.mark.parametrize("fails", [False, True])
def test_equal_searches_at_the_same_time_ask_once(fails, recorded, clock, monkeypatch):
    """The wiki answers when four others wait for its answer: each has looked at the clock."""
    cache, waiting, asked = WikiCache(recorded, "fresh"), threading.Semaphore(0), list[Any]()
    monkeypatch.setattr(f"{RECORDINGS}.time.monotonic", lambda: waiting.release() or 0.0)

    def ask(parameters: Mapping[str, Any], until: float) -> dict[str, Any]:
        asked.append(parameters)
        assert all(waiting.acquire(timeout=60) for _ in range(4))
        if fails:
            raise Refused("no")
        return {"n": len(asked)}

    def answer(_: int) -> Any:
        try:
            return cache.answer("w", {"q": 1}, ask, 60.0)
        except Refused as refused:
            return str(refused)

    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(answer, range(5)))
    assert answers == ["no" if fails else {"n": 1}] * 5
    assert len(asked) == 1


def test_a_file_that_is_no_store_of_answers_is_refused_in_one_line(recorded):
    recorded.write_text("no database, whatever it is called" * 100)
    with pytest.raises(InputError, match=r"name another file.*THOUGHTGRAPH_CACHE") as caught:
        WikiCache(recorded, "record")
    assert "\n" not in str(caught.value)


def test_answers_are_used_for_a_day_and_recordings_for_good(recorded, clock):
    asked = itertools.count(1)
    caches = [WikiCache(recorded, how) for how in ("fresh", "keep", "record", "replay")]

    def ask(parameters: Mapping[str, Any], until: float) -> dict[str, Any]:
        return {"answer": next(asked)}

    def answers() -> list[int]:
        return [cache.answer("a", {"q": 1}, ask, 1e9)["answer"] for cache in caches]

    assert answers() == [1, 2, 3, 3]
    assert answers() == [4, 2, 3, 3]
    assert [file.name for file in recorded.parent.glob("*-*.sqlite")] == ["wiki-1970-01-01.sqlite"]
    clock.now += 24 * 3600.0
    assert answers() == [5, 6, 3, 3]
    assert [file.name for file in recorded.parent.glob("*-*.sqlite")] == ["wiki-1970-01-02.sqlite"]
    assert WikiCache(recorded, "keep").answer("a", {"q": 1}, ask, 1e9) == {"answer": 6}


PAGES = [
    page("Mercury (planet)", ["Mercury is the smallest planet.", "It has no moon."]),
    page("Mercury (element)", ["Mercury is a metal.", "It is liquid."]),
    page("Mercury", ["Mercury may refer to:"]),
    page("Cover version", ["A cover version is a new performance of a song."]),
    page("Cover Version", ["Cover Version is an album by Steven Wilson."]),
    page("AT&T", ["AT&T is a company in Dallas."]),
    page("Ångström", ["The ångström is a unit of length."]),
    page("Leonardo DiCaprio", ["Leonardo DiCaprio is an American actor."]),
    *(Redirect("Leo DiCaprio", "Leonardo DiCaprio"), Redirect("Leo", "Leo DiCaprio")),
    *(Redirect("Round", "Robin"), Redirect("Robin", "Round"), Redirect("Nowhere", "Gone")),
]
CORPUS = Corpus.of(PAGES)


WRITTEN = {
    "Mercury (planet)": ["Mercury (planet)", "mercury  (PLANET)", "Mercury_(planet)"],
    "AT&T": ["AT&amp;T", "AT&T"],
    "Ångström": ["A\u030angstro\u0308m"],
    "Cover version": ["Cover version"],
    "Cover Version": ["Cover Version"],
    "Leonardo DiCaprio": ["Leo", "leo dicaprio"],
}


@pytest.mark.parametrize(("title", "written"), WRITTEN.items())
async def test_a_title_is_found_however_it_is_written(title, written):
    for asked in written:
        found = await CORPUS.find(asked)
        assert isinstance(found, Page)
        assert found.title == title
        if title == "Leonardo DiCaprio":
            assert found.redirected_from == asked
            assert found.paragraphs == (("Leonardo DiCaprio is an American actor.",),)


FIRST = {
    "Leonardo DiCapiro": "Leonardo DiCaprio",
    "DiCapiro": "Leonardo DiCaprio",
    "Which company is in Dallas?": "AT&T",
    "angstrom unit": "Ångström",
}
NOWHERE = ("Round", "Nowhere", "", " ", '"', "a AND (b:", "title:x", "*", "[x]", "\ud800", "\x00")
"""Redirects that lead nowhere, and what would be syntax."""


@pytest.mark.parametrize("asked", [*FIRST, *NOWHERE, "~^\\", "x" * 70_000, "的"])
async def test_what_is_no_title_gives_the_titles_that_fit(asked):
    found = await CORPUS.find(asked)
    assert isinstance(found, Similar)
    assert asked not in FIRST or found.titles[0] == FIRST[asked]


async def test_a_list_of_meanings_is_no_page():
    found: Any = await CORPUS.find("Mercury")
    assert {*found.titles} == {"Mercury (planet)", "Mercury (element)"}
    assert found.ambiguous
    assert await Corpus.of([]).find("anything") == Similar()


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "pages"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def test_every_format_is_read(file):
    records = [
        {"title": "Alpha", "sentences": ["A.", " B."], "redirects": ["Aleph"], "url": "u"},
        {"title": "Old", "redirect": "Alpha"},
        {"title": "Long", "text": "Lead one. Lead two.\n== More ==\nBody."},
        {"question": "?", "context": [["Wallace &amp; Gromit", ["They are two."]], ["Empty", []]]},
        {"context": {"title": ["Empty", "Columns"], "sentences": [["Not again."], ["C.", " D."]]}},
    ]
    file.write_text(lines(*records), encoding="utf-8")
    assert list(read_entries(file)) == [
        Page("Alpha", (("A.", "B."),), url="u"),
        *(Redirect("Aleph", "Alpha"), Redirect("Old", "Alpha")),
        Page("Long", (("Lead one.", "Lead two."), ("Body.",)), lead=1),
        *(Page("Wallace & Gromit", (("They are two.",),)), Page("Empty", ((),))),
        Page("Columns", (("C.", "D."),)),
    ]


NO_PAGES = [
    "[" * 100_000,
    "\n \n",
    '{"title": "x"}',
    '{"title": 1, "sentences": []}',
    '{"title": "x", "sentences": "ab"}',
    '{"title": "x", "sentences": [1]}',
    '{"title": "x", "sentences": [], "redirects": "ab"}',
    '{"context": [["a"]]}',
    '{"context": {"title": ["a"], "sentences": []}}',
]
GOOD = '{"title": "x", "sentences": []}\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [*((text, "expected") for text in NO_PAGES), (f"{GOOD}{GOOD}no JSON\n{GOOD}", "entry 3 on")],
)
def test_what_is_no_file_of_pages_is_refused_in_one_line(text, words, file, kept):
    file.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        Corpus.open(file, kept)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)
    assert list(kept.glob("*/*")) == [], "a failed build leaves nothing behind"


ONE = {"title": "Alpha", "sentences": ["A."]}


async def test_an_index_is_built_again_when_the_file_changes_or_it_is_damaged(
    file, kept, monkeypatch
):
    async def has(title: str) -> bool:
        return isinstance(await Corpus.open(file, kept).find(title), Page)

    file.write_text(lines(ONE))
    assert await has("alpha") and not await has("B")
    with monkeypatch.context() as patch:
        patch.setattr("thoughtgraph.tools.wiki.corpus.read_entries", None)
        assert await has("alpha")
    file.write_text(lines(ONE, {"title": "B", "text": "B."}))
    assert await has("B")
    assert len([*kept.glob("*/*")]) == 1  # the outdated index is gone
    for part in kept.glob("*/*/meta.json"):
        part.write_text("damaged")
    assert await has("Alpha")


def test_a_missing_file_and_a_folder_that_cannot_be_written_are_named(file, kept, tmp_path):
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match=f"cannot read '{missing}'"):
            Corpus.open(missing, kept)
    file.write_text(lines(ONE))
    with pytest.raises(InputError, match="THOUGHTGRAPH_CACHE"):
        Corpus.open(file, file)  # which stands in the way of a folder


FOLDER = os.environ.get("THOUGHTGRAPH_WIKI")


@pytest.mark.ci
@pytest.mark.skipif(not FOLDER, reason="THOUGHTGRAPH_WIKI names no folder of HotpotQA's pages")
async def test_every_page_that_real_questions_of_hotpotqa_need_is_found(kept):
    corpus = Corpus.open(Path(FOLDER or "", "offline_wiki.jsonl"), kept)
    for file in Path(FOLDER or "").glob("hotpotqa_*_100.jsonl"):
        for line in file.read_text(encoding="utf-8").splitlines():
            for title, _ in json.loads(line)["supporting_facts"]:
                assert isinstance(await corpus.find(title), Page), title
