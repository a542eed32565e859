"""A process killed outright and resumed ends with the tree of an undisturbed one, and pays once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fake_server import FakeServer, Seen
from players import play

DELAY = 0.03
"""Seconds the endpoint takes: long enough that a superstep's answers do not all arrive at once."""
GRACE = 0.1
"""Seconds before a kill in which an answer may be lost on its way to the disk."""
PATIENCE = 1.0
"""The same in the ordinary run, which must not fail because a machine is busy."""

CHILD = """
import asyncio, json, sys
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
import thoughtgraph as tg

async def main(model, file, method, context):
    config = {"configurable": {"thread_id": "1"}}
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        graph = tg.build(method, task="game24", model=model, checkpointer=saver)
        begun = (await graph.aget_state(config)).next
        given = None if begun else {"problem": "1 2 4 7"}
        out = await graph.ainvoke(given, config, context=None if begun else json.loads(context))
    print(json.dumps([out["tree"], out["answer"], out["stop_reason"]]))

asyncio.run(main(*sys.argv[1:]))
"""

METHODS = {
    "tot_bfs": {"breadth": 3, "n_evaluate": 1},
    "tot_dfs": {"n_evaluate": 1, "outputs": 4},
}
REQUESTS = 30
"""Each of the methods asks at least this often, so that a kill at any of these finds it running."""


def start(model: str, file: Path, method: str) -> subprocess.Popen[str]:
    context = json.dumps(METHODS[method])
    arguments = [sys.executable, "-c", CHILD, model, str(file), method, context]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    tree, *rest = json.loads(out)
    return [{key: untimed(thought) for key, thought in tree.items()}, *rest]


def untimed(thought: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in thought.items() if name != "usage"}


class Answer(NamedTuple):
    """One request as the endpoint saw it; times are its own monotonic clock's."""

    prompt: str
    asked: float
    answered: float


class Log:
    """What the endpoint answered, and when; kills a process while it answers a given request."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.kill_at = -1
        self.victim: Callable[[], int] = lambda: -1
        self.killed = float("inf")
        self.resumed = float("inf")

    def __call__(self, seen: Seen) -> str:
        if len(self.answers) + 1 == self.kill_at:
            os.kill(self.victim(), signal.SIGKILL)
            self.killed = time.monotonic()
        self.answers.append(Answer(seen.prompt, seen.arrived, time.monotonic()))
        return play(seen)

    def lost(self, grace: float) -> Counter[str]:
        """Requests of the killed run that it may not have written down."""
        return Counter(
            answer.prompt
            for answer in self.answers
            if answer.asked < self.resumed and answer.answered > self.killed - grace
        )


def slow(log: Log) -> FakeServer:
    server = FakeServer(log)
    server.latency = DELAY
    return server


def run_killed_at(k: int, method: str, folder: Path) -> tuple[Any, Log]:
    """Runs a search, kills it at its k-th request, resumes it; returns what came of it."""
    log = Log()
    with slow(log) as server:
        process = start(server.specifier, folder / "runs.sqlite", method)
        log.victim, log.kill_at = lambda: process.pid, k
        process.communicate(timeout=120)
        # What the dead process had sent may still lie in a socket; it is not the resumed run's.
        time.sleep(10 * DELAY)
        log.kill_at, log.resumed = -1, time.monotonic()
        return finish(start(server.specifier, folder / "runs.sqlite", method)), log


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, Counter[str]]]:
    """The result and the requests of each method when nothing happens to it."""
    results = {}
    for method in METHODS:
        log = Log()
        with slow(log) as server:
            file = tmp_path_factory.mktemp(method) / "runs.sqlite"
            result = finish(start(server.specifier, file, method))
        results[method] = result, Counter(answer.prompt for answer in log.answers)
    return results


def check(k: int, method: str, undisturbed: Any, folder: Path, grace: float) -> None:
    result, log = run_killed_at(k, method, folder)
    assert log.killed < float("inf"), "the search had ended before it was to be killed"
    expected, requests = undisturbed[method]
    assert result == expected
    repeated = Counter(answer.prompt for answer in log.answers) - requests
    assert not repeated - log.lost(grace), "an answer that had been paid for was asked for again"
    # Shown with `pytest -s`: the figure a reader wants, and none that could fail on a slow machine.
    sys.stderr.write(f"{method}, killed at request {k}: {repeated.total()} requests repeated\n")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 9])
def test_a_killed_search_resumes_where_it_was(
    k: int, method: str, undisturbed: Any, tmp_path: Path
) -> None:
    check(k, method, undisturbed, tmp_path, PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", range(1, REQUESTS + 1, 2))
def test_at_every_point(k: int, method: str, undisturbed: Any, tmp_path: Path) -> None:
    check(k, method, undisturbed, tmp_path, GRACE)
