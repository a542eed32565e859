import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from thoughtgraph.errors import InputError
from thoughtgraph.tools.wiki.corpus import Corpus
from thoughtgraph.tools.wiki.corpus_files import Redirect, page, read_entries
from thoughtgraph.tools.wiki.pages import Page, Similar

PAGES = [
    page("Mercury (planet)", ["Mercury is the smallest planet.", "It has no moon."]),
    page("Mercury (element)", ["Mercury is a metal.", "It is liquid."]),
    page("Mercury", ["Mercury may refer to:"]),
    page("Cover version", ["A cover version is a new performance of a song."]),
    page("Cover Version", ["Cover Version is an album by Steven Wilson."]),
    page("AT&T", ["AT&T is a company in Dallas."]),
    page("C++", ["C++ is a programming language."]),
    page("Ångström", ["The ångström is a unit of length."]),
    page("Leonardo DiCaprio", ["Leonardo DiCaprio is an American actor."]),
    Redirect("Leo DiCaprio", "Leonardo DiCaprio"),
    Redirect("Leo", "Leo DiCaprio"),
    Redirect("Round", "Robin"),
    Redirect("Robin", "Round"),
    Redirect("Nowhere", "Gone"),
]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.of(PAGES)


def title(found: Page | Similar) -> str | None:
    return found.title if isinstance(found, Page) else None


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("Mercury (planet)", "Mercury (planet)"),
        ("mercury  (PLANET)", "Mercury (planet)"),
        ("Mercury_(planet)", "Mercury (planet)"),
        ("AT&amp;T", "AT&T"),
        ("AT&T", "AT&T"),
        ("C++", "C++"),
        ("A\u030angstro\u0308m", "Ångström"),
        ("Cover version", "Cover version"),
        ("Cover Version", "Cover Version"),
        ("Leo", "Leonardo DiCaprio"),
    ],
)
async def test_a_title_is_found_however_it_is_written(corpus, asked, found):
    assert title(await corpus.find(asked)) == found


async def test_a_redirect_says_where_it_came_from(corpus):
    found = await corpus.find("leo dicaprio")
    assert isinstance(found, Page)
    assert found.redirected_from == "leo dicaprio"
    assert found.paragraphs == (("Leonardo DiCaprio is an American actor.",),)


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("Leonardo DiCapiro", "Leonardo DiCaprio"),
        ("DiCaprio", "Leonardo DiCaprio"),
        ("Which company is in Dallas?", "AT&T"),
        ("angstrom unit", "Ångström"),
    ],
)
async def test_what_is_no_title_gives_the_titles_that_fit(corpus, asked, first):
    found = await corpus.find(asked)
    assert isinstance(found, Similar)
    assert found.titles[0] == first


async def test_a_list_of_meanings_is_no_page(corpus):
    found = await corpus.find("Mercury")
    assert isinstance(found, Similar)
    assert set(found.titles) == {"Mercury (planet)", "Mercury (element)"}
    assert found.ambiguous


@pytest.mark.parametrize("asked", ["Round", "Nowhere"])
async def test_redirects_that_lead_nowhere_are_misses(corpus, asked):
    assert isinstance(await corpus.find(asked), Similar)


@pytest.mark.parametrize(
    "asked",
    [
        "",
        " ",
        '"',
        "a AND (b:",
        "title:x",
        "*",
        "[x]",
        "\ud800",
        "\x00",
        "~^\\",
        "x" * 70_000,
        "的",
    ],
)
async def test_nothing_that_is_asked_is_syntax(corpus, asked):
    assert isinstance(await corpus.find(asked), Similar)


async def test_an_empty_corpus_finds_nothing():
    assert await Corpus.of([]).find("anything") == Similar()


def lines(*records) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


CONTEXT = [["Wallace &amp; Gromit", ["They are two.", " One is a dog."]], ["Empty", []]]
FORMATS = {
    "pages": lines(
        {"title": "Alpha", "sentences": ["A.", " B."], "redirects": ["Aleph"], "url": "u"},
        {"title": "Old", "redirect": "Alpha"},
        {"title": "Long", "text": "Lead one. Lead two.\n== More ==\nBody."},
    ),
    "hotpotqa": lines({"question": "?", "context": CONTEXT}, {"context": CONTEXT}),
    "hotpotqa as published": json.dumps([{"question": "?", "context": CONTEXT}]),
    "hotpotqa in columns": lines(
        {"context": {"title": [t for t, _ in CONTEXT], "sentences": [s for _, s in CONTEXT]}}
    ),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_is_read(kind, tmp_path):
    file = tmp_path / "pages"
    file.write_text(FORMATS[kind], encoding="utf-8")
    entries = list(read_entries(file))
    if kind == "pages":
        assert entries == [
            Page("Alpha", (("A.", "B."),), url="u"),
            Redirect("Aleph", "Alpha"),
            Redirect("Old", "Alpha"),
            Page("Long", (("Lead one.", "Lead two."), ("Body.",)), lead=1),
        ]
    else:
        assert entries == [
            Page("Wallace & Gromit", (("They are two.", "One is a dog."),)),
            Page("Empty", ((),)),
        ]


@pytest.mark.parametrize(
    "text",
    [
        "what",
        "[1]",
        "[" * 100_000,
        "{}",
        '{"title": "x"}',
        '{"title": "", "sentences": []}',
        '{"title": 1, "sentences": []}',
        '{"title": "x", "sentences": "ab"}',
        '{"title": "x", "sentences": [1]}',
        '{"title": "x", "sentences": [], "redirects": "ab"}',
        "",
        "\n \n",
        "[]",
        '{"context": [["a"]]}',
        '{"context": {"title": ["a"], "sentences": []}}',
    ],
)
def test_what_is_no_file_of_pages_is_refused_in_one_line(text, tmp_path):
    file = tmp_path / "pages"
    file.write_text(text)
    with pytest.raises(InputError, match="expected") as caught:
        Corpus.open(file, tmp_path / "kept")
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("fault", ["not JSON", "{}", '{"title": "x", "sentences": [1]}'])
def test_the_entry_that_cannot_be_read_is_named(fault, tmp_path):
    file, good = tmp_path / "pages", '{"title": "x", "sentences": []}'
    file.write_text("\n".join([good, good, fault, good]))
    with pytest.raises(InputError, match="cannot be read from entry 3 on"):
        Corpus.open(file, tmp_path / "kept")


def test_an_index_is_built_once_and_again_when_the_file_changes(tmp_path, monkeypatch):
    file, kept = tmp_path / "pages", tmp_path / "kept"
    file.write_text(lines({"title": "Alpha", "sentences": ["A."]}))
    assert len(Corpus.open(file, kept)) == 1
    with monkeypatch.context() as patch:
        patch.setattr("thoughtgraph.tools.wiki.corpus.read_entries", None)
        assert title(Corpus.open(file, kept).find_now("alpha")) == "Alpha"
    file.write_text(lines({"title": "Alpha", "sentences": ["A."]}, {"title": "B", "text": "B."}))
    assert len(Corpus.open(file, kept)) == 2
    assert len([*kept.glob("*/*")]) == 1  # the outdated index is gone


def test_a_damaged_index_is_built_again(tmp_path):
    file, kept = tmp_path / "pages", tmp_path / "kept"
    file.write_text(lines({"title": "Alpha", "sentences": ["A."]}))
    Corpus.open(file, kept)
    for part in kept.glob("*/*/meta.json"):
        part.write_text("damaged")
    assert title(Corpus.open(file, kept).find_now("Alpha")) == "Alpha"


def test_several_may_build_at_once(tmp_path):
    file, kept = tmp_path / "pages", tmp_path / "kept"
    file.write_text(lines(*({"title": f"P{at}", "sentences": ["A."]} for at in range(200))))
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: Corpus.open(file, kept), range(8)))
    assert [title(corpus.find_now("p7")) for corpus in opened] == ["P7"] * 8
    assert len([*kept.glob("*/*")]) == 1


def test_a_failed_build_leaves_nothing_behind(tmp_path):
    file, kept = tmp_path / "pages", tmp_path / "kept"
    file.write_text(lines({"title": "Alpha", "sentences": ["A."]}) + "broken")
    with pytest.raises(InputError):
        Corpus.open(file, kept)
    assert list(kept.glob("*/*")) == []


def test_a_file_that_is_not_there_is_named(tmp_path):
    for file in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match=f"cannot read '{file}'"):
            Corpus.open(file, tmp_path / "kept")


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    file, kept = tmp_path / "pages", tmp_path / "kept"
    file.write_text(lines({"title": "Alpha", "sentences": ["A."]}))
    kept.write_text("a file stands in the way")
    with pytest.raises(InputError, match="THOUGHTGRAPH_CACHE"):
        Corpus.open(file, kept)
