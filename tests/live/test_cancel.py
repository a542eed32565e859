"""A run on `langgraph dev` that nobody wants any more sends nothing more.

A model holds one request of the run back until it has ended; then another search is run to its end,
during which one that still lived would send more.
"""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.fake_server import FakeServer, Fault
from support.place import CAROL, PROSE, Place

pytestmark = pytest.mark.ci

PATIENCE = 60.0


@pytest.fixture
def model(dev: Place) -> Iterator[FakeServer]:
    model = dev.models["held"]
    model.seen.clear()
    model.latency = 0.1  # a search that lived would try again before the other one has ended
    yield model
    model.release()


def run_of(thread: str, refinements: int = 1000) -> dict[str, Any]:
    """Returns the body of a search, whose requests are known by the thread that they name."""
    context = {"task": "creative_writing", "refinements": refinements, "model": "held"}
    problem = f"{PROSE[:-1]} {thread}."
    return {
        "assistant_id": "refine",
        "input": {"problem": problem},
        "context": {**context, "limit_depth": None},
    }


def new_thread(dev: Place) -> str:
    return str(dev.ask("POST", "/threads", {}).body["thread_id"])


def until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.05)


def run_on(dev: Place, thread: str) -> Any:
    (run,) = dev.ask("GET", f"/threads/{thread}/runs").body
    return run


def sent(model: FakeServer, thread: str) -> int:
    return sum(thread in seen.prompt for seen in [*model.seen])


def hold(model: FakeServer, thread: str, at: int) -> None:
    """Waits until a request of a thread, counted from 0, is held back."""
    model.fault = lambda seen: Fault(hang=thread in seen.prompt and sent(model, thread) > at)
    model.wait_for_held()


def assert_nothing_more(dev: Place, model: FakeServer, thread: str) -> None:
    assert run_on(dev, thread)["status"] == "interrupted"
    before = sent(model, thread)
    model.release()
    other = new_thread(dev)
    out = dev.ask("POST", f"/threads/{other}/runs/wait", run_of(other, refinements=20)).body
    assert out["usage"]["requests"] > 20
    assert sent(model, thread) == before


def test_a_run_that_is_cancelled_sends_nothing_more(dev: Place, model: FakeServer) -> None:
    thread = new_thread(dev)
    dev.ask("POST", f"/threads/{thread}/runs", run_of(thread))
    hold(model, thread, 2)
    run = run_on(dev, thread)
    assert run["status"] == "running"
    dev.ask("POST", f"/threads/{thread}/runs/{run['run_id']}/cancel?wait=true", {})
    assert_nothing_more(dev, model, thread)


@pytest.mark.parametrize("way", ["stream", pytest.param("wait", marks=pytest.mark.slow)])
def test_a_run_whose_client_has_gone_ends_if_its_client_said_so(
    dev: Place, model: FakeServer, way: str
) -> None:
    thread = new_thread(dev)
    connection = http.client.HTTPConnection(urlsplit(dev.server.url).netloc)
    headers = {"Content-Type": "application/json", "x-api-key": CAROL}
    body = json.dumps({**run_of(thread), "on_disconnect": "cancel"})
    connection.request("POST", f"/threads/{thread}/runs/{way}", body, headers)
    hold(model, thread, 2)
    assert run_on(dev, thread)["status"] == "running"
    connection.close()
    until(lambda: run_on(dev, thread)["status"] != "running")
    assert_nothing_more(dev, model, thread)
