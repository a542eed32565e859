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
import asyncio, json, os, signal, sys, time
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
import thoughtgraph as tg

class Saver(AsyncSqliteSaver):
    writes_left = 0

    async def aput(self, *given):
        written = await super().aput(*given)
        self.writes_left -= 1
        if self.writes_left == 0:
            print(time.monotonic(), file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return written

async def main(model, file, method, context, writes):
    config = {"configurable": {"thread_id": "1"}}
    async with Saver.from_conn_string(file) as saver:
        saver.writes_left = int(writes)
        graph = tg.build(method, task="game24", model=model, checkpointer=saver)
        kept = await graph.aget_state(config)
        given = None if kept.created_at else {"problem": "1 2 4 7"}
        # Until the first node has run, the settings are nowhere but with the caller.
        context = None if kept.values.get("settings") else json.loads(context)
        out = await graph.ainvoke(given, config, context=context)
        nexts = [state.next async for state in graph.aget_state_history(config)]
    result = [out["tree"], out["answer"], out["stop_reason"]]
    print(json.dumps([result, ["".join(sorted({*names})) for names in reversed(nexts)]]))

asyncio.run(main(*sys.argv[1:]))
"""

METHODS = {
    "tot_bfs": {"breadth": 3, "n_evaluate": 1},
    "tot_dfs": {"n_evaluate": 1, "outputs": 4},
}
REQUESTS = 30
"""Each of the methods asks at least this often, so that a kill at any of these finds it running."""


def start(model: str, file: Path, method: str, writes: int = 0) -> subprocess.Popen[str]:
    """Runs or resumes a search; it kills itself once it has written so many checkpoints, if any."""
    context = json.dumps(METHODS[method])
    arguments = [sys.executable, "-c", CHILD, model, str(file), method, context, str(writes)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[Any, list[str]]:
    """What the search ended with, and what its checkpoints had before them, in order."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    (tree, *rest), nexts = json.loads(out)
    return [{key: untimed(thought) for key, thought in tree.items()}, *rest], nexts


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
        return resumed(server, log, method, folder), log


def run_killed_after(k: int, method: str, folder: Path) -> tuple[Any, Log]:
    """Runs a search that kills itself when its k-th checkpoint is written, resumes it."""
    log = Log()
    with slow(log) as server:
        process = start(server.specifier, folder / "runs.sqlite", method, k)
        log.killed = float(process.communicate(timeout=120)[1])
        assert process.returncode == -signal.SIGKILL
        return resumed(server, log, method, folder), log


def resumed(server: FakeServer, log: Log, method: str, folder: Path) -> Any:
    # What the dead process had sent may still lie in a socket; it is not the resumed run's.
    time.sleep(10 * DELAY)
    log.kill_at, log.resumed = -1, time.monotonic()
    return finish(start(server.specifier, folder / "runs.sqlite", method))[0]


class Whole(NamedTuple):
    """A search to which nothing happened."""

    result: Any
    requests: Counter[str]
    nexts: list[str]
    """The node before which each checkpoint was written, in order; empty for the last one."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Whole]:
    results = {}
    for method in METHODS:
        log = Log()
        with slow(log) as server:
            file = tmp_path_factory.mktemp(method) / "runs.sqlite"
            result, nexts = finish(start(server.specifier, file, method))
        results[method] = Whole(result, Counter(answer.prompt for answer in log.answers), nexts)
    return results


def check(what: str, whole: Whole, killed: tuple[Any, Log], grace: float) -> None:
    result, log = killed
    assert log.killed < float("inf"), "the search had ended before it was to be killed"
    assert result == whole.result, what
    repeated = Counter(answer.prompt for answer in log.answers) - whole.requests
    assert not repeated - log.lost(grace), f"{what}: an answer that had been paid for was asked for"
    # Shown with `pytest -s`: the figure a reader wants, and none that could fail on a slow machine.
    sys.stderr.write(f"{what}: {repeated.total()} requests repeated\n")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 9])
def test_a_killed_search_resumes_where_it_was(
    k: int, method: str, undisturbed: dict[str, Whole], tmp_path: Path
) -> None:
    killed = run_killed_at(k, method, tmp_path)
    check(f"{method}, killed at request {k}", undisturbed[method], killed, PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", range(1, REQUESTS + 1, 2))
def test_at_every_point(k: int, method: str, undisturbed: dict[str, Whole], tmp_path: Path) -> None:
    killed = run_killed_at(k, method, tmp_path)
    check(f"{method}, killed at request {k}", undisturbed[method], killed, GRACE)


@pytest.mark.parametrize(
    ("method", "node"),
    [
        ("tot_bfs", "register"),
        ("tot_bfs", "select"),
        ("tot_bfs", ""),
        ("tot_dfs", "record"),
        ("tot_dfs", "backtrack"),
        ("tot_dfs", "answer"),
    ],
)
def test_a_search_killed_between_its_requests_resumes_where_it_was(
    method: str, node: str, undisturbed: dict[str, Whole], tmp_path: Path
) -> None:
    """Before a node that asks for nothing, amid the search; after everything where none is left."""
    writes = [k for k, before in enumerate(undisturbed[method].nexts, 1) if before == node]
    killed = run_killed_after(writes[len(writes) // 2], method, tmp_path)
    check(f"{method}, killed before {node!r}", undisturbed[method], killed, PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_after_every_checkpoint(method: str, undisturbed: dict[str, Whole], tmp_path: Path) -> None:
    for k, node in enumerate(undisturbed[method].nexts, 1):
        folder = tmp_path / str(k)
        folder.mkdir()
        killed = run_killed_after(k, method, folder)
        what = f"{method}, killed after checkpoint {k} before {node!r}"
        check(what, undisturbed[method], killed, GRACE)
