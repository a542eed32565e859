"""A headless Chromium that talks to nobody, where one is installed."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PATIENCE = 60
"""Seconds within which anything must happen: a bound on hanging, not on speed."""
_CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
_DRIVER = shutil.which("chromedriver")

needs_browser = pytest.mark.skipif(
    not (_CHROMIUM and _DRIVER),
    reason="needs chromium and chromedriver (Debian: apt-get install chromium-driver)",
)


@contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """Starts a browser, whose console can be read, and ends it.

    Args:
        profile: An empty folder for what it keeps.
    """
    options = webdriver.ChromeOptions()
    options.binary_location = _CHROMIUM or ""
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        "--window-size=1440,900",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(_DRIVER))
    driver.set_page_load_timeout(PATIENCE)
    driver.set_script_timeout(PATIENCE)
    try:
        yield driver
    finally:
        driver.quit()
