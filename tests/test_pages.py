"""The pages of docs/: what they say of the code is what the code says, and every page is found."""

import re
from collections.abc import Iterator
from pathlib import Path

import graph_figure
import page_parts
import pytest
import reference_parts
import results_parts
import results_picture
import terminal_picture
import worked_searches
from support.rows import row

import thoughtgraph
from thoughtgraph import registry
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.bench.report_lines import Entry, entries
from thoughtgraph.parts import JUDGES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


@pytest.fixture(scope="module", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The searches' pages are indexed in an empty folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.parametrize(
    "page", list(page_parts.pages()), ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_says_of_the_code_is_true(page: Path) -> None:
    """Where it fails: `uv run python docs/site/page_parts.py`."""
    text = page.read_text(encoding="utf-8")
    assert page_parts.remade(text) == text


def of_kind(kind: str) -> list[str]:
    """The names of all parts of a kind."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    parts = [part for text in texts for part in page_parts.PART.finditer(text)]
    return [name for part in parts if part[2] == kind for name in part[3].split()]


@pytest.mark.parametrize("kind", ["facts", "settings", "published", "ours"])
def test_each_method_has_one_page(kind: str) -> None:
    assert sorted(of_kind(kind)) == sorted(registry.METHODS)


def test_each_file_of_a_graph_has_its_box_on_a_page() -> None:
    boxes = [page_parts.method_parts.graph_file(name) for name in of_kind("box")]
    assert sorted(boxes) == sorted(set(map(page_parts.method_parts.graph_file, registry.METHODS)))


def test_each_worked_search_stands_on_a_page_and_serves_known_methods() -> None:
    assert sorted(of_kind("search")) == worked_searches.names()
    served = [
        method for name in worked_searches.names() for method in worked_searches.methods_of(name)
    ]
    assert sorted(served) == sorted(registry.METHODS)


@pytest.mark.parametrize("name", worked_searches.names())
def test_a_worked_search_ends_with_an_answer_and_its_tree_has_a_page(name: str) -> None:
    assert worked_searches.search(name).result["answer"]
    page = worked_searches.tree_page(name)
    assert page.lower().startswith("<!doctype html>")
    assert str(ROOT) not in page, "no folder of whoever built it is shown"


@pytest.mark.parametrize("name", sorted(registry.METHODS))
def test_the_drawing_of_a_graph_has_its_nodes_and_arrows(name: str) -> None:
    drawn, written = graph_figure.figure(name), graph_figure.mermaid(name)
    arrows = [line for line in written.splitlines() if "->" in line]
    nodes = {end for line in arrows for end in re.findall(r"\w+", line)}
    assert drawn.count("marker-end") == len(arrows)
    assert drawn.count("<rect") == drawn.count("<text") == len(nodes)
    assert "http" not in drawn and "<script" not in drawn


def test_the_roles_of_requests_are_listed() -> None:
    code = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "nodes").rglob("*.py"))
    asked = {*re.findall(r'role(?:: str)? ?= ?"(\w+)"', code), "refine", *JUDGES}
    table = (DOCS / "python.md").read_text(encoding="utf-8").partition("| role |")[2]
    rows = re.findall(r"^\| (`.*?) \|", table.partition("\n\n")[0], re.M)
    judges = {role for row in rows if "judge" in row.split("`")[-1] for role in named(row)}
    assert {role for row in rows for role in named(row)} == asked
    assert judges == JUDGES


def named(row: str) -> list[str]:
    """What stands as code in a text."""
    return re.findall(r"`(\w+)`", row)


def test_the_reference_has_every_public_name() -> None:
    listed = [
        path
        for page in ("calling", "models")
        for _, paths in reference_parts.groups(page)
        for path in paths
    ]
    named = {path.removeprefix("thoughtgraph.") for path in listed}
    assert set(thoughtgraph.__all__) - named == {"Tree"}, "the name of a plain dictionary"
    assert all(reference_parts.named(path) is not None for path in listed)


def test_each_page_is_listed_on_the_first() -> None:
    index = DOCS / "index.md"
    links = re.findall(r"^\* \[[^\]]+\]\(([^)]+)\)", index.read_text(encoding="utf-8"), re.M)
    listed = [(DOCS / link).resolve() for link in links]
    assert sorted(listed) == sorted({*PAGES, *ROOT.glob("*.md")} - {index})


def test_the_picture_of_the_terminal_is_what_the_program_shows() -> None:
    """Where it fails: `uv run python docs/site/terminal_picture.py`."""
    kept = (DOCS / "terminal.svg").read_text(encoding="utf-8")
    drawn = terminal_picture.picture()
    assert terminal_picture.words(kept) == terminal_picture.words(drawn)
    assert "(13&#160;-&#160;9)&#160;*&#160;(10&#160;-&#160;4)" in "".join(
        terminal_picture.words(drawn)
    )
    for svg in (kept, drawn):
        assert "url(http" not in svg and 'url("http' not in svg, "it loads nothing from elsewhere"


def test_the_picture_of_the_comparison_shows_the_results_that_are_kept() -> None:
    """Where it fails: `uv run python docs/site/results_picture.py`."""
    kept = results_picture.FILE.read_text(encoding="utf-8")
    assert terminal_picture.words(kept) == terminal_picture.words(results_picture.picture())
    assert {name for name, _ in results_parts.panels()} <= {
        part.id for part in suite("comparison").parts
    }


def plans(method: str, tokens: int, right: int, problems: int = 60) -> Entry:
    """A line that has the first few of its problems right."""
    rows = [
        row(
            method, "1", [float(at < right)], tokens, id=f"ptr-{at}", key=f"{method}-{at}", given={}
        )
        for at in range(problems)
    ]
    (entry,) = entries(rows)
    return entry


def test_a_plan_is_judged_beside_those_that_cost_as_much() -> None:
    """Of 60 problems 40 and 41 are as good as each other; 10 are fewer by any interval."""
    cheap, dear, dearest = (
        plans("tomt_os", 10, 40),
        plans("tomt_tot", 90, 41),
        plans("react", 99, 10),
    )
    lines = [dearest, dear, cheap]
    told = results_parts.beside_plans(cheap, lines)
    assert re.fullmatch(r"\+50% \(\+\d+%, \+\d+%\) beside react, wins; a tie with tomt_tot", told)
    assert results_parts.beside_plans(dearest, lines) == "", "nothing costs as much"
    turned = [plans("react", 10, 10), dear]
    assert results_parts.beside_plans(turned[0], turned) == "", "the dearer one scores more"
    few = [plans("tomt_os", 10, 40, 49), plans("react", 90, 10, 49)]
    assert results_parts.beside_plans(few[0], few).endswith("too few")
