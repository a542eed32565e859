"""A process killed outright and resumed ends with the tree of an undisturbed one, and pays once."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.fake_server import FakeServer, Seen
from support.players import play
from support.searches import untimed

from thoughtgraph.checkpoints import CompressingSerializer

pytestmark = pytest.mark.ci

DELAY = 0.03
"""Seconds the endpoint takes: long enough that a superstep's answers do not all arrive at once."""
GRACE = 0.1
"""Seconds before a kill in which an answer may be lost on its way to the disk.

The ordinary tests forgive none, however busy the machine: what they kill waits for an endpoint that
has fallen silent, and has written down what it was answered; or it writes each checkpoint before it
asks on. The slow ones kill amid everything, and need a quiet machine. Of those that die as they
write a checkpoint the kill counts from when they began to: what is answered meanwhile waits.
"""
PATIENCE = 60
"""Seconds in which an answer must be on the disk: a bound on hanging, not on speed."""

CHILD = """
import asyncio, gc, json, os, signal, sys, time
from thoughtgraph.checkpoints import sqlite_saver
import thoughtgraph as tg

def dies_after(saver, writes):
    put, written = saver.aput, []

    async def put_and_die(*given):
        began = time.monotonic()
        written.append(await put(*given))
        if len(written) == writes:
            print(began, file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return written[-1]

    saver.aput = put_and_die

async def main(model, file, method, context, writes, durability):
    config = {"configurable": {"thread_id": "1"}}
    async with sqlite_saver(file) as saver:
        dies_after(saver, int(writes))
        graph = tg.build(method, task="game24", model=model, checkpointer=saver)
        # Else Python looks through all that was imported in mid-search, which takes it 130 ms on a
        # slow machine: longer than an answer may take to the disk.
        gc.freeze()
        kept = await graph.aget_state(config)
        given = None if kept.created_at else {"problem": "1 2 4 7"}
        # Until the first node has run, the settings are nowhere but with the caller.
        context = None if kept.values.get("settings") else json.loads(context)
        out = await graph.ainvoke(given, config, context=context, durability=durability)
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


def start(
    model: str, file: Path, method: str, writes: int = 0, durability: str = "async"
) -> subprocess.Popen[str]:
    """Runs or resumes a search; it kills itself once it has written so many checkpoints, if any."""
    told = [method, json.dumps(METHODS[method]), str(writes), durability]
    arguments = [sys.executable, "-c", CHILD, model, str(file), *told]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[Any, list[str]]:
    """What the search ended with, and what its checkpoints had before them, in order."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    (tree, *rest), nexts = json.loads(out)
    return [{key: untimed(thought) for key, thought in tree.items()}, *rest], nexts


class Answer(NamedTuple):
    """One request as the endpoint saw it; times are its own monotonic clock's."""

    prompt: str
    asked: float
    answered: float


def paid(file: Path) -> int:
    """Returns how many answered requests a search has written down."""
    db = sqlite3.connect(file, timeout=PATIENCE)
    rows = db.execute("SELECT type, value FROM writes WHERE channel = 'usage'").fetchall()
    db.close()
    spent = [CompressingSerializer().loads_typed(row) for row in rows]
    return sum(usage.get("requests", 0) for usage in spent if isinstance(usage, dict))


class Log:
    """What the endpoint answered, and when; kills a process while it answers a given request.

    Args:
        file: Where the search writes its answers down; the kill waits for all of them, while
            nothing more is answered. None: it does not wait.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.answers: list[Answer] = []
        self.file = file
        self.waited = 0.0
        """Seconds until the last answer was on the disk."""
        self.kill_at = -1
        self._turn = threading.Lock()
        self.victim: Callable[[], int] = lambda: -1
        self.killed = float("inf")
        self.resumed = float("inf")

    def __call__(self, seen: Seen) -> str:
        # One at a time: an answer that went out between the wait and the kill would be lost.
        with self._turn:
            if len(self.answers) + 1 == self.kill_at:
                self._wait()
                os.kill(self.victim(), signal.SIGKILL)
                self.killed = time.monotonic()
            self.answers.append(Answer(seen.prompt, seen.arrived, time.monotonic()))
        return play(seen)

    def _wait(self) -> None:
        began = time.monotonic()
        while self.file and self.answers and paid(self.file) < len(self.answers):
            if time.monotonic() > began + PATIENCE:
                return  # the test then fails, for the answer is asked for again
            time.sleep(0.005)
        self.waited = time.monotonic() - began

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


def run_killed_at(k: int, method: str, folder: Path, *, settled: bool) -> tuple[Any, Log]:
    """Runs a search, kills it at its k-th request, resumes it; returns what came of it.

    Args:
        k: The request, counted from 1.
        method: What is run.
        folder: Where its checkpoints go.
        settled: Whether it is killed only after what was answered is written down.
    """
    file = folder / "runs.sqlite"
    log = Log(file if settled else None)
    with slow(log) as server:
        process = start(server.specifier, file, method)
        log.victim, log.kill_at = lambda: process.pid, k
        process.communicate(timeout=120)
        return resumed(server, log, method, folder), log


def run_killed_after(k: int, method: str, folder: Path, durability: str) -> tuple[Any, Log]:
    """Runs a search that kills itself when its k-th checkpoint is written, resumes it."""
    log = Log()
    with slow(log) as server:
        process = start(server.specifier, folder / "runs.sqlite", method, k, durability)
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
    unanswered = repeated & log.lost(0.0)
    late = repeated - unanswered
    told = (
        f"{what}: {repeated.total()} requests repeated, {unanswered.total()} of them unanswered, "
        f"{(late & log.lost(GRACE)).total()} answered less than {1000 * GRACE:.0f} ms before"
    )
    assert not late - log.lost(grace), f"{told}; an answer that had been paid for was asked for"
    # Shown with `pytest -s`: figures that a reader wants, and none that fails on a slow machine.
    sys.stderr.write(f"{told}; the last one was on the disk after {1000 * log.waited:.0f} ms\n")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 9])
def test_a_killed_search_resumes_where_it_was(
    k: int, method: str, undisturbed: dict[str, Whole], tmp_path: Path
) -> None:
    killed = run_killed_at(k, method, tmp_path, settled=True)
    check(f"{method}, killed at request {k}", undisturbed[method], killed, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", range(1, REQUESTS + 1, 2))
def test_at_every_point(k: int, method: str, undisturbed: dict[str, Whole], tmp_path: Path) -> None:
    killed = run_killed_at(k, method, tmp_path, settled=False)
    check(f"{method}, killed at request {k}", undisturbed[method], killed, GRACE)


@pytest.mark.parametrize(
    ("method", "node"),
    [
        ("tot_bfs", "register"),
        ("tot_bfs", "select"),
        ("tot_bfs", ""),
        ("tot_dfs", "select"),
        ("tot_dfs", "backtrack"),
        ("tot_dfs", "answer"),
    ],
)
def test_a_search_killed_between_its_requests_resumes_where_it_was(
    method: str, node: str, undisturbed: dict[str, Whole], tmp_path: Path
) -> None:
    """Before a node that asks for nothing, amid the search; after everything where none is left."""
    writes = [k for k, before in enumerate(undisturbed[method].nexts, 1) if before == node]
    killed = run_killed_after(writes[len(writes) // 2], method, tmp_path, "sync")
    check(f"{method}, killed before {node!r}", undisturbed[method], killed, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_after_every_checkpoint(method: str, undisturbed: dict[str, Whole], tmp_path: Path) -> None:
    for k, node in enumerate(undisturbed[method].nexts, 1):
        folder = tmp_path / str(k)
        folder.mkdir()
        killed = run_killed_after(k, method, folder, "async")
        what = f"{method}, killed after checkpoint {k} before {node!r}"
        check(what, undisturbed[method], killed, GRACE)
