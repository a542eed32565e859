"""A run on `langgraph dev` that nobody wants any more sends nothing more."""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from support.fake_server import FakeServer, Seen
from support.serving import Server, ask, copied, missing, serving

if reason := missing("dev"):
    pytest.skip(reason, allow_module_level=True)

pytestmark = pytest.mark.ci

LATENCY = 0.5
"""Seconds of a request: an uncancelled run sends the next one then."""
PATIENCE = 60.0
DEAF = pytest.mark.xfail(
    reason="`listen_for_cancellation` of langgraph-runtime-inmem listens for 240 seconds",
    strict=True,
)
LONG = pytest.param(245.0, marks=[pytest.mark.slow, DEAF])
"""Seconds after which `langgraph dev` no longer hears of it; docs/deploy.md says what to do."""
TASK = "creative_writing"
SENTENCES = "It rained. The kettle hummed. Nobody came. She slept."
"""A thread is named in its problem, by which its requests are known."""


class Place(NamedTuple):
    server: Server
    model: FakeServer


def never_good(seen: Seen) -> str:
    return f"Passage:\n{seen.number}. {SENTENCES}\nNot good enough."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("cancel")
    with FakeServer(never_good) as model:
        model.latency = LATENCY
        variables = {
            "THOUGHTGRAPH_SERVED_MODELS": f"slow={model.specifier}",
            "THOUGHTGRAPH_SERVED_LIMITS": "depth=none",
        }
        with serving("dev", folder, copied(folder, "langgraph.json"), **variables) as server:
            yield Place(server, model)


def run_of(thread: str) -> tuple[str, dict[str, Any]]:
    """Returns path and body of a search that would take a quarter of an hour."""
    context = {"task": TASK, "refinements": 1000, "limit_depth": None}
    problem = f"{SENTENCES[:-1]} {thread}."
    body = {"assistant_id": "refine", "input": {"problem": problem}, "context": context}
    return f"/threads/{thread}/runs", body


def new_thread(place: Place) -> str:
    return str(ask(place.server, "POST", "/threads", {}).body["thread_id"])


def status(place: Place, thread: str) -> str:
    (run,) = ask(place.server, "GET", f"/threads/{thread}/runs").body
    return str(run["status"])


def until(reached: Callable[[], bool], patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.05)


def sent(place: Place, thread: str) -> int:
    return sum(thread in seen.prompt for seen in [*place.model.seen])


def runs_for(place: Place, thread: str, seconds: float) -> None:
    """Waits until a run has sent requests, and for so long."""
    began, before = time.monotonic(), sent(place, thread)
    until(lambda: sent(place, thread) > before + 1)
    time.sleep(max(0.0, seconds - (time.monotonic() - began)))


def assert_nothing_more(place: Place, thread: str) -> None:
    """Of a run that has ended nothing may come any more: a slow machine cannot make it fail."""
    before = sent(place, thread)
    time.sleep(8 * LATENCY)
    assert sent(place, thread) == before


@pytest.mark.parametrize("seconds", [0.0, LONG])
def test_a_run_that_is_cancelled_sends_nothing_more(place: Place, seconds: float) -> None:
    thread = new_thread(place)
    path, body = run_of(thread)
    run = ask(place.server, "POST", path, body).body["run_id"]
    runs_for(place, thread, seconds)
    assert status(place, thread) == "running"
    asked = time.monotonic()
    ask(place.server, "POST", f"{path}/{run}/cancel?wait=true", {})
    if seconds:
        assert time.monotonic() - asked < 10
    until(lambda: status(place, thread) == "interrupted")
    assert_nothing_more(place, thread)


@pytest.mark.parametrize("seconds", [0.0, LONG])
@pytest.mark.parametrize("way", ["stream", "wait"])
def test_a_run_whose_client_has_gone_ends_if_that_was_asked(
    place: Place, way: str, seconds: float
) -> None:
    thread = new_thread(place)
    leave = calling(place, thread, way, on_disconnect="cancel")
    runs_for(place, thread, seconds)
    assert status(place, thread) == "running"
    leave()
    until(lambda: status(place, thread) != "running")
    assert status(place, thread) == "interrupted"
    assert_nothing_more(place, thread)


def test_else_it_goes_on(place: Place) -> None:
    thread = new_thread(place)
    leave = calling(place, thread, "stream", on_disconnect="continue")
    runs_for(place, thread, 0)
    leave()
    runs_for(place, thread, 4 * LATENCY)
    assert status(place, thread) == "running"
    (run,) = ask(place.server, "GET", f"/threads/{thread}/runs").body
    ask(place.server, "POST", f"/threads/{thread}/runs/{run['run_id']}/cancel?wait=true", {})
    until(lambda: status(place, thread) == "interrupted")
    assert_nothing_more(place, thread)


def calling(place: Place, thread: str, way: str, **more: Any) -> Callable[[], None]:
    """Asks for a run on a connection, which stays open until what is returned is called."""
    path, body = run_of(thread)
    connection = http.client.HTTPConnection(urlsplit(place.server.url).netloc)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", f"{path}/{way}", json.dumps({**body, **more}), headers)
    return connection.close
