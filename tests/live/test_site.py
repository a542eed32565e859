"""The documentation site, a page of each kind: it fetches nothing and hinders nobody.

It is tested as `.ci/run` has built it:
uv run --group docs sphinx-build -E -W --keep-going -q -c docs/site . build/site
"""

from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
from selenium import webdriver
from support.browser import needs_browser

SITE = Path(__file__).parents[2] / "build" / "site"
PAGES = ("README", "docs/index", "docs/python", "docs/which_method", "docs/methods/tot_bfs")
CHECK = """
const done = arguments[arguments.length - 1];
axe.run({resultTypes: ["violations"], iframes: false, selectors: false}).then((found) =>
    done(found.violations.filter((each) => ["serious", "critical"].includes(each.impact)).map(
        (each) => [each.id, each.nodes.map((node) => node.html.slice(0, 120)).slice(0, 5)])));
"""


@pytest.mark.ci
@needs_browser
@pytest.mark.skipif(not (SITE / "docs").is_dir(), reason=f"the site is not built in {SITE}")
@pytest.mark.skipif(not find_spec("axe_playwright_python"), reason="needs the group `docs`")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_fetches_nothing_and_hinders_nobody(driver: webdriver.Chrome, page: str) -> None:
    driver.get((SITE / f"{page}.html").as_uri())
    script = "return performance.getEntriesByType('resource').map((each) => each.name)"
    assert all(name.startswith("file:") for name in driver.execute_script(script))
    driver.execute_script((files("axe_playwright_python") / "axe.min.js").read_text())
    for scheme, width in (("light", 375), ("dark", 1280)):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        assert not driver.execute_async_script(CHECK), (scheme, width)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
