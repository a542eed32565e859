"""Two workers of aegra on PostgreSQL and Redis: one is killed, and nothing is lost."""

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from socket import create_connection
from typing import Any, NamedTuple

import pytest
from support.fake_server import FakeServer
from support.place import ALICE as KEY
from support.players import play
from support.serving import Server, ask, copied, database_of, free_port, missing, serving

import thoughtgraph as tg

pytestmark = pytest.mark.slow

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


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """Starts a Redis of its own, whose address it gives, and ends it."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with suppress(OSError), create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    if reason := missing("aegra"):
        pytest.skip(reason)
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
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


def ended(server: Server, runs: list[Run]) -> list[tuple[str, Any]]:
    """Waits until all runs have ended; returns what each came to, and its thread's state."""
    until = time.monotonic() + PATIENCE
    while True:
        paths = [f"/threads/{run.thread}/runs/{run.id}" for run in runs]
        found = [ask(server, "GET", path, key=KEY).body["status"] for path in paths]
        if not {"pending", "running"} & {*found} or time.monotonic() > until:
            break
        time.sleep(0.5)
    states = [ask(server, "GET", f"/threads/{run.thread}/state", key=KEY).body for run in runs]
    return [(status, state["values"]) for status, state in zip(found, states, strict=True)]


def kept(out: dict[str, Any]) -> Any:
    spent = ("requests", "samples", "prompt_tokens", "completion_tokens", "thoughts", "rounds")
    return out["tree"], out["answer"], {name: out["usage"][name] for name in spent}


async def test_runs_of_a_killed_worker_end_as_if_nothing_had_happened(workers: Workers) -> None:
    alone = []
    for method in METHODS:
        graph = tg.build(method, task="game24", model=workers.model.specifier)
        for puzzle in PUZZLES:
            out = await graph.ainvoke({"problem": puzzle}, context={"limit_requests": 60})
            alone.append(kept(out))
    asked = len(workers.model.answered)
    runs = [begin(workers.second, method, puzzle) for method in METHODS for puzzle in PUZZLES]
    while len(workers.model.answered) < asked + 40:
        time.sleep(0.05)
    os.killpg(workers.first.group, signal.SIGKILL)
    found = ended(workers.second, runs)
    assert [status for status, _ in found] == ["success"] * len(runs)
    assert [kept(values) for _, values in found] == alone
    sent = Counter(workers.model.answered[asked:])
    repeated = sum(times - 1 for times in sent.values())
    # Of what was in flight, and of equal questions of two methods.
    assert repeated < len(workers.model.answered) / 4, f"{repeated} requests were repeated"


def test_a_refused_input_says_why(workers: Workers) -> None:
    ((status, values),) = ended(workers.second, [begin(workers.second, "tot_bfs", "no puzzle")])
    assert status == "success"
    assert values["stop_reason"] == "refused" and "is no Game-of-24 puzzle" in values["error"]
