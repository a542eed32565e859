"""Generates the parts of pages that repeat the code; a test checks that they are up to date.

    uv run python docs/site/page_parts.py

A part stands between `<!-- made: KIND NAMES -->` and `<!-- end -->`. The page stores it, so that
GitHub shows it, too. Where the site can show more, such as an interactive tree, `on_site` makes it
from the same marks when the site is built.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import graph_figure
import method_parts
import reference_parts
import results_parts
import worked_searches

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PART = re.compile(r"(<!-- made: (\w+) ?([\w ]*?) ?-->\n)(.*?)(<!-- end -->)", re.S)
Maker = Callable[..., str]
"""Makes a part from the names after its kind."""

MAKERS: Mapping[str, Maker] = {
    "box": method_parts.box,
    "common": method_parts.common_settings,
    "comparison": results_parts.comparison,
    "data_sets": reference_parts.data_sets,
    "facts": method_parts.facts,
    "faults": reference_parts.faults,
    "fields": reference_parts.fields,
    "graph": graph_figure.mermaid,
    "search": worked_searches.outline,
    "settings": method_parts.settings,
    "shared": method_parts.shared_settings,
}
ON_SITE: Mapping[str, Maker] = {
    "graph": graph_figure.figure,
    "search": worked_searches.framed,
}
"""Makers of the parts that the site shows in another form."""


def pages() -> Iterator[Path]:
    """Yields the pages that may have parts."""
    yield ROOT / "README.md"
    yield from sorted(DOCS.rglob("*.md"))


def remade(text: str) -> str:
    """Returns a page with its parts generated anew from the code."""
    return PART.sub(lambda part: _make_part(part, MAKERS), text)


def on_site(text: str) -> str:
    """Returns a page as the site shows it."""
    return PART.sub(lambda part: _make_part(part, {**MAKERS, **ON_SITE}), text)


def _make_part(part: re.Match[str], makers: Mapping[str, Maker]) -> str:
    begin, kind, names, _, end = part.groups()
    return f"{begin}\n{makers[kind](*names.split())}\n\n{end}"


if __name__ == "__main__":
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := remade(text)) != text:
            page.write_text(new, encoding="utf-8")
