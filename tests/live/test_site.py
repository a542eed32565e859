"""The documentation site: closed to the outside, whole, and accessible.

It is tested as `.ci/run` has built it:
uv run --group docs sphinx-build -E -W --keep-going -q -c docs/site . build/site
"""

from collections.abc import Sequence
from html.parser import HTMLParser
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from selenium import webdriver
from support.browser import needs_browser

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
GRAVE = ("serious", "critical")
FETCHED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
"""What a browser fetches without being asked."""
OFTEN = ("README", "docs/index", "docs/python", "docs/which_method", "docs/methods/tot_bfs")
"""Pages of each kind, looked at for what hinders people; all of them in the slow tests."""

pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(not (SITE / "docs").is_dir(), reason=f"the site is not built in {SITE}"),
]


class Page(HTMLParser):
    """What a page fetches, where it leads, and what can be led to."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag in FETCHED and FETCHED[tag] in given and given.get("rel") != "canonical":
            self.fetched.append(given[FETCHED[tag]])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    return {file: Page(file) for file in sorted(SITE.rglob("*.html"))}


def test_each_document_has_a_page(pages: dict[Path, Page]) -> None:
    named = {file.relative_to(SITE).with_suffix("") for file in pages}
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert {file.relative_to(ROOT).with_suffix("") for file in documents} <= named


def test_it_loads_nothing_from_elsewhere(pages: dict[Path, Page]) -> None:
    outside = {url for page in pages.values() for url in page.fetched if urlsplit(url).netloc}
    assert not outside
    for style in SITE.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert "url(http" not in text and "url(//" not in text and "@import" not in text, style


def test_every_link_within_it_leads_somewhere(pages: dict[Path, Page]) -> None:
    lost = []
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            known = pages[target].anchors if target in pages else {parts.fragment}
            if not target.is_file() or unquote(parts.fragment) not in known:
                lost.append((file.name, link))
    assert not lost


CHECK = """
const done = arguments[arguments.length - 1];
const wanted = {resultTypes: ["violations"], iframes: false, selectors: false};
axe.run(wanted).then((found) => done(found.violations.map(
    (each) => [each.impact, each.id, each.nodes.map((node) => node.html.slice(0, 120)).slice(0, 5)]
)));
"""


def grave(driver: webdriver.Chrome, views: Sequence[tuple[str, int]]) -> list[Any]:
    """What hinders people on the page that is shown, in a scheme of colours at a width."""
    driver.execute_script((files("axe_playwright_python") / "axe.min.js").read_text())
    found = []
    for scheme, width in views:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        violations = driver.execute_async_script(CHECK)
        found += [(scheme, width, *each) for each in violations if each[0] in GRAVE]
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    return found


@needs_browser
@pytest.mark.skipif(not find_spec("axe_playwright_python"), reason="needs the group `docs`")
@pytest.mark.parametrize("often", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_no_page_hinders_people(
    driver: webdriver.Chrome, pages: dict[Path, Page], often: bool
) -> None:
    views = [("light", 375), ("dark", 1280)]
    views += [] if often else [("light", 1280), ("dark", 375)]
    hindrances = {}
    for file in pages:
        if not often or file.relative_to(SITE).with_suffix("").as_posix() in OFTEN:
            driver.get(file.as_uri())
            if found := grave(driver, views):
                hindrances[file.name] = found
    assert not hindrances
