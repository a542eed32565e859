"""What the live tests share: servers, each started once when a test first needs it, and a browser.

All of them run in one process (`pytest_xdist_make_scheduler` in `tests/conftest.py`).
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient as Client
from selenium import webdriver
from support.browser import chromium
from support.place import CAROL, Place, Start, opened
from support.serving import missing


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Returns the server of a kind, and starts it where nobody has."""
    with ExitStack() as stack:

        @cache
        def started(kind: str) -> Place:
            if reason := missing(kind):
                pytest.skip(reason)
            return stack.enter_context(opened(kind, tmp_path_factory.mktemp(kind)))

        yield started


@pytest.fixture(scope="session")
def dev(start: Start) -> Place:
    """`langgraph dev`."""
    return start("dev")


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    """LangGraph's SDK on the server that the file calls its `place`."""
    async with get_client(url=place.server.url, api_key=CAROL) as connected:
        yield connected


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver
