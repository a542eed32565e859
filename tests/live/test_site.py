"""The documentation site: closed to the outside, and accessible.

It is tested as `.ci/run` has built it:
uv run --group docs sphinx-build -E -W --keep-going -q -c docs/site . build/site
"""

from collections.abc import Sequence
from html.parser import HTMLParser
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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
    """What a page fetches."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in FETCHED and FETCHED[tag] in given and given.get("rel") != "canonical":
            self.fetched.append(given[FETCHED[tag]])


PAGES = sorted(SITE.rglob("*.html"))


def test_it_loads_nothing_from_elsewhere() -> None:
    outside = {url for file in PAGES for url in Page(file).fetched if urlsplit(url).netloc}
    assert not outside
    for style in SITE.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert "url(http" not in text and "url(//" not in text and "@import" not in text, style


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
def test_no_page_hinders_people(driver: webdriver.Chrome, often: bool) -> None:
    views = [("light", 375), ("dark", 1280)]
    views += [] if often else [("light", 1280), ("dark", 375)]
    hindrances = {}
    for file in PAGES:
        if not often or file.relative_to(SITE).with_suffix("").as_posix() in OFTEN:
            driver.get(file.as_uri())
            if found := grave(driver, views):
                hindrances[file.name] = found
    assert not hindrances
