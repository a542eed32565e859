"""The documentation site: Sphinx reads this.

    uv run --group docs sphinx-build -E -W --keep-going -q -c docs/site . build/site

The checkout is its source folder, so README and the other pages beside it are pages of the site as
they stand, by the links that GitHub follows too. What a page's marks stand for is made as it is
read. The site loads nothing from elsewhere.
"""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import page_parts
import worked_searches

project = "thoughtgraph"
html_title = "thoughtgraph"
author = "The thoughtgraph developers"
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [".*", "build", "dist", "**/node_modules"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
nitpicky = False
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"show-inheritance": False}
html_theme = "furo"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_use_index = False

ACCESSIBLE = {
    '<p class="caption" role="heading"': '<p class="caption" role="heading" aria-level="2"',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
}
"""What the theme leaves out: the level of a heading, and that what scrolls is reached by keys."""
FOLDER_LINKS = {"](examples)": "](docs/embed.md)"}
"""Links to folders, which GitHub shows and a site does not: the page that tells of each."""
_ENTRY = re.compile(r"^\* \[([^\]]+)\]\(([^)]+)\.md\)", re.M)


def _prepare(app: Any, page: str, source: list[str]) -> None:
    """Makes of a page that GitHub shows the one that the site shows."""
    text = page_parts.on_site(source[0])
    for link, instead in FOLDER_LINKS.items():
        text = text.replace(link, instead)
    source[0] = text + _navigation(text) if page == root_doc else text


def _navigation(text: str) -> str:
    """Returns the sidebar: the lists of the first page, a heading each."""
    made = []
    for section in text.split("\n## ")[1:]:
        title, _, listed = section.partition("\n")
        entries = "\n".join(f"{name} <{path}>" for name, path in _ENTRY.findall(listed))
        made.append(f"\n\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{entries}\n```\n")
    return "".join(made)


def _finish(app: Any, error: Exception | None) -> None:
    """Writes what stands beside the pages: the trees to click through, and the way in."""
    if error is not None or app.builder.name != "html":
        return
    for file in Path(app.outdir).rglob("*.html"):
        page = file.read_text(encoding="utf-8")
        for left_out, instead in ACCESSIBLE.items():
            page = page.replace(left_out, instead)
        file.write_text(page, encoding="utf-8")
    trees = Path(app.outdir, "trees")
    trees.mkdir(exist_ok=True)
    for name in worked_searches.names():
        (trees / f"{name}.html").write_text(worked_searches.tree_page(name), encoding="utf-8")
    way_in = f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
    entrance = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{project}</title>'
        f'{way_in}</head><body><main><h1>{project}</h1><a href="{root_doc}.html">To the pages</a>'
        "</main></body></html>\n"
    )
    Path(app.outdir, "index.html").write_text(entrance, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Tells Sphinx what to call."""
    app.connect("source-read", _prepare)
    app.connect("build-finished", _finish)
    # Searches run once a process, and files beside a page are read by its marks.
    return {"parallel_read_safe": False}
