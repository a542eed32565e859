"""The documentation site: built strictly, closed to the outside, whole, and accessible."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from selenium import webdriver
from support.browser import chromium, needs_browser

ROOT = Path(__file__).parents[2]
GROUP = ("sphinx", "furo", "myst_parser", "axe_playwright_python")
WIDTHS = (375, 1280)
SCHEMES = ("light", "dark")
GRAVE = ("serious", "critical")
FETCHED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
"""What a browser fetches without being asked."""

pytestmark = [
    pytest.mark.ci,
    pytest.mark.enable_socket,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, GROUP)),
        reason="needs the group of dependencies `docs` (uv sync --group docs)",
    ),
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
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning is an error."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs/site"]
    done = subprocess.run([*command, ".", str(out)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file) for file in sorted(site.rglob("*.html"))}


def test_each_method_and_each_document_has_a_page(pages: dict[Path, Page], site: Path) -> None:
    named = {str(file.relative_to(site).with_suffix("")) for file in pages}
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert {str(file.relative_to(ROOT).with_suffix("")) for file in documents} <= named


def test_it_loads_nothing_from_elsewhere(pages: dict[Path, Page], site: Path) -> None:
    outside = {url for page in pages.values() for url in page.fetched if urlsplit(url).netloc}
    assert not outside
    for style in site.rglob("*.css"):
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


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


CHECK = """
const done = arguments[arguments.length - 1];
const wanted = {resultTypes: ["violations"], iframes: false, selectors: false};
axe.run(wanted).then((found) => done(found.violations.map(
    (each) => [each.impact, each.id, each.nodes.map((node) => node.html.slice(0, 120)).slice(0, 5)]
)));
"""


def grave(driver: webdriver.Chrome) -> list[Any]:
    """What hinders people on the page that is shown, light and dark, narrow and wide."""
    driver.execute_script((files("axe_playwright_python") / "axe.min.js").read_text())
    found = []
    for scheme in SCHEMES:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        for width in WIDTHS:
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            found += [
                (scheme, width, *each)
                for each in driver.execute_async_script(CHECK)
                if each[0] in GRAVE
            ]
    return found


@needs_browser
def test_no_page_hinders_people(driver: webdriver.Chrome, pages: dict[Path, Page]) -> None:
    hindrances = {}
    for file in pages:
        driver.get(file.as_uri())
        if found := grave(driver):
            hindrances[file.name] = found
    assert not hindrances
