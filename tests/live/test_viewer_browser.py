"""The page in headless Chromium: opened from disk, clicked, replayed, driven by keys."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait
from support.browser import PATIENCE, needs_browser
from support.stored import bushy, small, stored

from thoughtgraph.cli.viewer.page import page

ANSWER = "(10 - 4) * (13 - 9)"
HOSTILE = "</script><img src=x onerror=\"window.hacked = 1\"><b>bold</b> \u2028 \U0001d7d9 'x'"

pytestmark = [pytest.mark.ci, needs_browser]

Show = Callable[..., "Page"]


class Page:
    """A page in the browser, in the words of somebody who looks at it."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def card(self, key: str) -> WebElement:
        return self.one(f'.thought[data-key="{key}"]')

    def classes(self, key: str) -> set[str]:
        # In one go: a card found and then read may have been drawn again in between.
        script = "return [...document.querySelector(arguments[0]).classList]"
        return set(self.driver.execute_script(script, f'.thought[data-key="{key}"]'))

    def drawn(self) -> list[str]:
        script = "return [...document.querySelectorAll('.thought')].map((card) => card.dataset.key)"
        return self.driver.execute_script(script)

    def focused(self) -> str | None:
        return self.driver.switch_to.active_element.get_attribute("data-key")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def panel(self) -> str:
        return self.one("#panel").text

    def unfold(self, title: str) -> str:
        """Opens a section of the panel and returns what it holds, as it stands in the page."""
        section = next(d for d in self.all("#panel details") if title in d.text)
        if not section.get_property("open"):
            section.find_element(By.CSS_SELECTOR, "summary").click()
        return str(section.find_element(By.CSS_SELECTOR, "pre").get_property("textContent"))

    def until(self, condition: Callable[[], Any]) -> Any:
        return WebDriverWait(self.driver, PATIENCE).until(lambda _: condition())


@pytest.fixture
def show(driver: webdriver.Chrome, tmp_path: Path) -> Iterator[Show]:
    """Writes results to a page and opens it from disk; afterwards nothing may have gone wrong."""

    def opened(*results: dict[str, Any]) -> Page:
        file = tmp_path / "search.html"
        file.write_text(page(results), encoding="utf-8")
        driver.get(file.as_uri())
        return Page(driver)

    yield opened
    assert driver.get_log("browser") == []


def test_opens_from_disk_and_cannot_reach_the_network(driver: webdriver.Chrome, show: Show):
    seen = show(stored(small(), answer=ANSWER), stored(bushy(50), problem="1 5 6 13"))
    assert seen.one("#problem").text == "4 9 10 13"
    assert seen.one("#answer").text == ANSWER
    assert "tot_bfs" in seen.one("#method").text
    assert sorted(seen.drawn()) == ["0", "1", "2", "3"]
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert driver.execute_async_script(
        "const done = arguments[0];"
        "fetch('http://127.0.0.1:9/').then(() => done(''), (error) => done(String(error)))"
    )
    assert "Content Security Policy" in str(driver.get_log("browser"))
    seen.all("#picker option")[1].click()
    assert seen.one("#problem").text == "1 5 6 13", "another result of the page"


def test_click_shows_prompts_raw_answer_and_cost(show: Show):
    tree = small(raw="so: 10 - 4", usage={"value": {"requests": 1, "samples": 3}})
    begin, judged = "Use the numbers. Input: 4 9", "Use the numbers. Judge them: "
    sent: dict[str, Any] = {"0": [{"role": "generate", "expansion": 0, "text": begin}]}
    for key in "12":  # their prompts begin alike, and the page keeps that once
        sent[key] = [{"role": "value", "expansion": None, "text": judged + key}]
    seen = show(stored(tree, prompts=sent))
    for key in ("2", "1"):
        seen.card(key).click()
        assert seen.unfold("Prompt that made it") == begin
        assert seen.unfold("Prompt that judged it") == judged + key
        assert seen.unfold("What the model wrote") == tree[key]["raw"]
    for told in ("Thought 1", "likely, likely, likely", "make it and 1 sibling"):
        assert told in seen.panel()
    assert seen.unfold("What the evaluator wrote") == "sure"


def test_hostile_text_is_shown_and_runs_nothing(show: Show):
    tree = small(text=HOSTILE, raw=HOSTILE, note=f"n{HOSTILE}", observation=f"o{HOSTILE}")
    seen = show(stored(tree, problem=HOSTILE, answer=HOSTILE, candidates=[HOSTILE, HOSTILE]))
    assert "<img src=x" in seen.one("#problem").text
    seen.card("1").click()
    assert seen.panel().count("<b>bold</b>") == 4
    assert seen.unfold("What the model wrote") == HOSTILE
    assert seen.all("img, b:not(#method b)") == []
    assert seen.driver.execute_script("return window.hacked") is None


def test_slider_replays_the_search_in_creation_order(show: Show):
    seen = show(stored(small(), answer=ANSWER))
    assert {"chosen", "answer"} <= seen.classes("3")
    seen.press(Keys.ESCAPE)
    slider = seen.one("#step")
    slider.send_keys(Keys.HOME)
    assert all("future" in seen.classes(key) for key in "123")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert "now" in seen.classes("1") and "future" in seen.classes("2")
    assert seen.one("#caption").text.startswith("1 of 3")
    slider.send_keys(Keys.END)
    assert "chosen" in seen.classes("3")


def test_arrows_move_along_a_tree_that_screen_readers_know_and_enter_opens(show: Show):
    seen = show(stored(small(), answer=ANSWER))
    cards = seen.all("[role=tree] > [role=treeitem]")
    assert [card.get_attribute("tabindex") for card in cards].count("0") == 1
    spoken = seen.card("3").get_attribute("aria-label") or ""
    assert "output, value 60, on the path to the answer" in spoken
    for _ in range(15):
        if seen.focused() is None:
            seen.press(Keys.TAB)
    visited = [seen.focused()]
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ARROW_RIGHT):
        seen.press(key)
        visited.append(seen.focused())
    assert visited == ["0", "1", "2", "1", "3"]
    seen.press(Keys.ENTER)
    assert "Thought 3" in seen.panel()
    seen.press(Keys.ARROW_LEFT, "-")
    assert seen.focused() == "1" and "3" not in seen.drawn()
    seen.press("+", Keys.ARROW_RIGHT)
    assert seen.focused() == "3"
    seen.press(Keys.ESCAPE)
    assert "This search" in seen.panel()


@pytest.mark.slow
def test_two_thousand_thoughts_stay_usable(show: Show):
    tree = bushy(2000)
    seen = show(stored(tree))
    assert 10 < len(seen.drawn()) < 200, "the first sight is an overview"
    last = max(tree, key=int)
    seen.one("#find").send_keys(tree[last]["text"].upper())
    seen.until(lambda: seen.one("#found").text == "1 of 2001")
    seen.press(Keys.ENTER)
    seen.until(lambda: f"Thought {last}\n" in seen.panel())
    assert seen.card(last).is_displayed()
