"""What is made of the code for docs/: tables that are kept in pages, worked searches, pictures."""

from collections.abc import Iterator
from pathlib import Path

import page_parts
import pytest
import worked_searches

from thoughtgraph import registry

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The searches' pages are indexed in an empty folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def parts(kind: str) -> set[str]:
    """The names of all parts of a kind, on any page."""
    texts = [page.read_text(encoding="utf-8") for page in page_parts.pages()]
    found = [part for text in texts for part in page_parts.PART.finditer(text)]
    return {name for part in found if part[2] == kind for name in part[3].split()}


def test_what_a_page_says_of_the_code_is_true() -> None:
    """Where it fails: `uv run python docs/site/page_parts.py`."""
    for page in page_parts.pages():
        text = page.read_text(encoding="utf-8")
        assert page_parts.remade(text) == text, page.name


def test_each_method_has_one_page_and_each_search_stands_on_one() -> None:
    assert parts("facts") == parts("settings") == set(registry.METHODS)
    assert parts("search") == {*worked_searches.names()}


@pytest.mark.parametrize("name", worked_searches.names())
def test_a_worked_search_ends_with_an_answer_and_its_tree_has_a_page(name: str) -> None:
    assert worked_searches.search(name).result["answer"]
    page = worked_searches.tree_page(name)
    assert page.lower().startswith("<!doctype html>")
    assert str(ROOT) not in page, "no folder of whoever built it is shown"
