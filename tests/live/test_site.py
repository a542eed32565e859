"""The documentation site: closed to the outside, and accessible.

It is tested as `.ci/run` has built it:
uv run --group docs sphinx-build -E -W --keep-going -q -c docs/site . build/site
"""

import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
from selenium import webdriver
from support.browser import needs_browser

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
GRAVE = ("serious", "critical")
OFTEN = ("README", "docs/index", "docs/python", "docs/which_method", "docs/methods/tot_bfs")
"""Pages of each kind, looked at for what hinders people."""

pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(not (SITE / "docs").is_dir(), reason=f"the site is not built in {SITE}"),
]


FETCHED = re.compile(
    r"<(?:script|img|iframe|source|link (?!rel=.canonical))[^>]*(?:src|href)=.http"
)
"""What a browser fetches from elsewhere without being asked."""


def test_it_loads_nothing_from_elsewhere() -> None:
    for file in (*SITE.rglob("*.html"), *SITE.rglob("*.css")):
        text = file.read_text(encoding="utf-8")
        assert not FETCHED.search(text), file
        assert not re.search(r"url\((?:http|//)|@import", text) or file.suffix == ".html", file


CHECK = """
const done = arguments[arguments.length - 1];
const wanted = {resultTypes: ["violations"], iframes: false, selectors: false};
axe.run(wanted).then((found) => done(found.violations.map((each) => [each.impact, each.id])));
"""


@needs_browser
@pytest.mark.skipif(not find_spec("axe_playwright_python"), reason="needs the group `docs`")
def test_no_page_hinders_people(driver: webdriver.Chrome) -> None:
    hindrances = []
    for name in OFTEN:
        driver.get((SITE / f"{name}.html").as_uri())
        driver.execute_script((files("axe_playwright_python") / "axe.min.js").read_text())
        found = driver.execute_async_script(CHECK)
        hindrances += [(name, *each) for each in found if each[0] in GRAVE]
    assert not hindrances
