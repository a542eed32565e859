"""Processes that are killed outright in the middle of a search, and what they leave on the disk."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from support.fake_server import FakeServer, Fault, after

from thoughtgraph.checkpoints import CompressingSerializer
from thoughtgraph.cli.app import main as command

PATIENCE = 60.0
"""Seconds in which an answer must be on the disk: a bound on hanging, not on speed."""
KEPT = """
SELECT writes.checkpoint_id, writes.channel, writes.type, writes.value
FROM writes JOIN checkpoints USING (thread_id, checkpoint_ns, checkpoint_id)
WHERE writes.channel IN ('spent', '__return__')
"""
"""What nodes and the tasks in them wrote, once the checkpoint is there to which it belongs."""


def main(writes: str, *arguments: str) -> None:
    """Runs the command; dies once it has written so many checkpoints, if any."""
    if writes:
        _doom(int(writes))
    sys.argv = ["thoughtgraph", *arguments]
    command()


def _doom(most: int) -> None:
    put, written = AsyncSqliteSaver.aput, []

    async def put_and_die(*given: Any) -> Any:
        if most:
            written.append(await put(*given))
        if len(written) == most:
            os.kill(os.getpid(), signal.SIGKILL)
        return written[-1]

    AsyncSqliteSaver.aput = put_and_die  # type: ignore[method-assign]


def start(*arguments: str, writes: str = "") -> subprocess.Popen[str]:
    code = "import sys; from support.killed import main; main(*sys.argv[1:])"
    path = {"PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-c", code, writes, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **path},
    )


def killed_after(writes: int, *arguments: str) -> str:
    """Runs a process that dies once it has written so many checkpoints; returns its run's id."""
    return _died(start(*arguments, writes=str(writes)))


def killed_at(request: int, server: FakeServer, runs: Path, *arguments: str) -> str:
    """Kills a process once so many requests are answered and on the disk; returns its run's id."""
    server.fault = after(request, Fault(hang=True))
    process = start(*arguments)
    try:
        server.wait_for_held(5 * PATIENCE)
        until = time.monotonic() + PATIENCE
        [file] = runs.glob("*/checkpoints.sqlite")
        while kept(file) < request:
            assert time.monotonic() < until, "an answer is not on the disk"
            time.sleep(0.005)
    finally:
        process.kill()
        run = _died(process)
    server.release()
    return run


def _died(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=5 * PATIENCE)
    assert process.returncode == -signal.SIGKILL, err
    return out.split()[1].removesuffix(":")


def kept(file: Path) -> int:
    """Returns how many answered requests a search has on the disk."""
    db = sqlite3.connect(file, timeout=PATIENCE)
    rows = db.execute(KEPT).fetchall()
    db.close()
    counts: dict[str, Counter[str]] = {}
    for checkpoint, channel, kind, value in rows:
        written = CompressingSerializer().loads_typed((kind, value))
        usage = written.get("usage", written) if isinstance(written, dict) else {}
        counts.setdefault(checkpoint, Counter())[channel] += usage.get("requests", 0)
    # A node that has ended writes what its tasks had written before.
    return sum(max(each.values()) for each in counts.values())
