"""Two workers of aegra on PostgreSQL and Redis: one is killed, and nothing is lost."""

import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest
from support.fake_server import FakeServer
from support.players import play
from support.serving import Server, ask, copied, database_of, missing, redis, serving

import thoughtgraph as tg

pytestmark = pytest.mark.ci

KEY = "alice-key-0123456789"
PUZZLES = ["4 9 10 13", "1 1 4 6", "3 5 7 9", "2 4 7 11"]
METHODS = ["tot_bfs", "tot_dfs"]
CONTEXT = {"task": "game24", "limit_requests": 60}
PATIENCE = 180.0
"""Seconds until all runs have ended; a dead worker's lease runs out after a few."""
QUICK = {
    "LEASE_DURATION_SECONDS": "7",
    "HEARTBEAT_INTERVAL_SECONDS": "3",
    "REAPER_INTERVAL_SECONDS": "3",
}


class Workers(NamedTuple):
    first: Server
    second: Server
    model: FakeServer


class Run(NamedTuple):
    method: str
    puzzle: str
    thread: str
    id: str


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    if reason := missing("aegra"):
        pytest.skip(reason)
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server: `.ci/run` installs it where it can")
    with ExitStack() as stack:
        folders = [tmp_path_factory.mktemp(name) for name in ("one", "two", "redis")]
        model = stack.enter_context(FakeServer(play))
        model.latency = 0.15
        variables = {
            "DATABASE_URL": stack.enter_context(database_of(f"aegra_{os.getpid()}")),
            "REDIS_URL": stack.enter_context(redis(folders[2])),
            "REDIS_BROKER_ENABLED": "true",
            "THOUGHTGRAPH_CLIENT_KEYS": f"alice={KEY}",
            "THOUGHTGRAPH_SERVED_CORPORA": "none",
            "THOUGHTGRAPH_SERVED_MODELS": f"small={model.specifier}",
            **QUICK,
        }
        # One after the other: the first makes the tables.
        servers = [
            stack.enter_context(
                serving("aegra", folder, copied(folder, "deploy/langgraph.json"), **variables)
            )
            for folder in folders[:2]
        ]
        yield Workers(servers[0], servers[1], model)


def begin(server: Server, method: str, puzzle: str) -> Run:
    thread = ask(server, "POST", "/threads", {}, key=KEY).body["thread_id"]
    body = {"assistant_id": method, "input": {"problem": puzzle}, "context": CONTEXT}
    run = ask(server, "POST", f"/threads/{thread}/runs", body, key=KEY).body["run_id"]
    return Run(method, puzzle, thread, run)


def status(server: Server, run: Run) -> str:
    found = ask(server, "GET", f"/threads/{run.thread}/runs/{run.id}", key=KEY).body
    return str(found["status"])


def found(out: dict[str, Any]) -> Any:
    spent = ("requests", "samples", "prompt_tokens", "completion_tokens", "thoughts", "rounds")
    return out["tree"], out["answer"], {name: out["usage"][name] for name in spent}


async def test_runs_of_a_killed_worker_end_as_if_nothing_had_happened(workers: Workers) -> None:
    alone = {}
    for method in METHODS:
        graph = tg.build(method, task="game24", model=workers.model.specifier)
        for puzzle in PUZZLES:
            out = await graph.ainvoke({"problem": puzzle}, context={"limit_requests": 60})
            alone[method, puzzle] = out
    asked = len(workers.model.answered)
    runs = [begin(workers.second, method, puzzle) for method in METHODS for puzzle in PUZZLES]
    while len(workers.model.answered) < asked + 40:
        time.sleep(0.05)
    os.killpg(workers.first.group, signal.SIGKILL)
    left, began = list(runs), time.monotonic()
    while left and time.monotonic() < began + PATIENCE:
        time.sleep(0.5)
        left = [run for run in left if status(workers.second, run) in ("pending", "running")]
    assert [status(workers.second, run) for run in runs] == ["success"] * len(runs)
    for run in runs:
        state = ask(workers.second, "GET", f"/threads/{run.thread}/state", key=KEY).body
        assert found(state["values"]) == found(alone[run.method, run.puzzle]), run
    sent = Counter(workers.model.answered[asked:])
    repeated = sum(times - 1 for times in sent.values())
    # Of what was in flight, and of equal questions of two methods.
    assert repeated < len(workers.model.answered) / 4, f"{repeated} requests were repeated"


def test_a_refused_input_says_why(workers: Workers) -> None:
    run = begin(workers.second, "tot_bfs", "no puzzle")
    while status(workers.second, run) in ("pending", "running"):
        time.sleep(0.2)
    assert status(workers.second, run) == "success"
    state = ask(workers.second, "GET", f"/threads/{run.thread}/state", key=KEY).body["values"]
    assert state["stop_reason"] == "refused" and "is no Game-of-24 puzzle" in state["error"]
