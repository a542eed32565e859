"""Sphinx's configuration of the documentation site.

    uv run --group docs sphinx-build -E -W --keep-going -q -c docs/site . build/site

The source folder is the checkout, so README and the pages beside it are pages of the site
unchanged, and links work as on GitHub. Generated parts of a page are made when Sphinx reads it. The
site loads nothing from other hosts.
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
"""Fixes of the theme's HTML: the level of a heading, and keyboard access to scrolling areas."""
FOLDER_LINKS = {"](examples)": "](docs/embed.md)"}
"""Links to folders, which only GitHub can show, and links to the pages about these folders."""
_ENTRY = re.compile(r"^\* \[([^\]]+)\]\(([^)]+)\.md\)", re.M)


def _prepare(app: Any, page: str, source: list[str]) -> None:
    """Turns a page as GitHub shows it into a page of the site."""
    text = page_parts.on_site(source[0])
    for link, page_link in FOLDER_LINKS.items():
        text = text.replace(link, page_link)
    source[0] = text + _navigation(text) if page == root_doc else text


def _navigation(text: str) -> str:
    """Returns the sidebar: a table of contents for each section of the root page."""
    toctrees = []
    for section in text.split("\n## ")[1:]:
        title, _, links = section.partition("\n")
        entries = "\n".join(f"{name} <{path}>" for name, path in _ENTRY.findall(links))
        toctrees.append(f"\n\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{entries}\n```\n")
    return "".join(toctrees)


def _finish(app: Any, error: Exception | None) -> None:
    """Fixes the HTML of the pages, and adds the pages of trees and `index.html`."""
    if error is not None or app.builder.name != "html":
        return
    for file in Path(app.outdir).rglob("*.html"):
        page = file.read_text(encoding="utf-8")
        for old, new in ACCESSIBLE.items():
            page = page.replace(old, new)
        file.write_text(page, encoding="utf-8")
    trees = Path(app.outdir, "trees")
    trees.mkdir(exist_ok=True)
    for name in worked_searches.names():
        (trees / f"{name}.html").write_text(worked_searches.tree_page(name), encoding="utf-8")
    redirect = f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
    index = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{project}</title>'
        f'{redirect}</head><body><main><h1>{project}</h1><a href="{root_doc}.html">To the pages</a>'
        "</main></body></html>\n"
    )
    Path(app.outdir, "index.html").write_text(index, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Connects the handlers of this file to events of Sphinx."""
    app.connect("source-read", _prepare)
    app.connect("build-finished", _finish)
    # Each process would run the searches again, and parts of a page read other files.
    return {"parallel_read_safe": False}
