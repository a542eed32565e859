"""The command killed outright: `--resume` ends with the undisturbed tree, and pays once."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.fake_server import FakeServer, Fault, after
from support.players import play

pytestmark = pytest.mark.ci

COMMAND = [sys.executable, "-c", "from thoughtgraph.cli.app import main; main()"]
SMALL = ["4 9 10 13", "--task", "game24", "--set", "breadth=2", "--set", "n_evaluate=1"]
DOOMED = """
import os, signal
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from thoughtgraph.cli.app import main

written, put = [], AsyncSqliteSaver.aput

async def put_or_die(*given):
    if len(written) == {written}:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(given)
    return await put(*given)

AsyncSqliteSaver.aput = put_or_die
main()
"""
"""The command, killed when it is about to write a checkpoint."""
HELD = 9
"""Requests answered before the first one that hangs: amid the first evaluations."""
WRITTEN = 0.2
"""Seconds in which what was answered reaches the disk; 0.1 are promised."""


def begin(*arguments: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*COMMAND, *arguments], stdout=pipe, stderr=pipe, text=True)


def solve(*arguments: str) -> None:
    process = begin(*arguments)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")


def tree(file: Path) -> Any:
    thoughts = json.loads(file.read_text())["tree"]
    for thought in thoughts.values():
        thought.pop("usage", None)  # seconds differ
    return thoughts


def test_a_command_killed_outright_is_resumed_by_the_id_on_its_first_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    with FakeServer(play) as whole:
        solve("solve", *SMALL, "--model", whole.specifier, "--json", str(one))
    with FakeServer(play, after(HELD, Fault(hang=True))) as fake:
        process = begin("solve", *SMALL, "--model", fake.specifier)
        fake.wait_for_held()
        time.sleep(WRITTEN)
        process.kill()
        out, _ = process.communicate(timeout=60)
        fake.release()
        run = out.splitlines()[0].split()[1].removesuffix(":")
        solve("solve", "--resume", run, "--json", str(other))
        assert tree(other) == tree(one)
        assert sorted(fake.answered) == sorted(whole.answered)


@pytest.mark.parametrize("written", [0, 1], ids=["nothing", "the input alone"])
def test_a_command_killed_before_its_settings_are_in_a_checkpoint_keeps_them(
    written: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    code, result = DOOMED.format(written=written), tmp_path / "result.json"
    with FakeServer(play) as fake:
        told = ["solve", *SMALL, "--limit", "requests=3", "--model", fake.specifier]
        killed = subprocess.run([sys.executable, "-c", code, *told], capture_output=True, text=True)
        assert killed.returncode == -signal.SIGKILL
        run = killed.stdout.splitlines()[0].split()[1].removesuffix(":")
        process = begin("solve", "--resume", run, "--json", str(result))
        process.communicate(timeout=120)
        kept = json.loads(result.read_text())
        names = ("breadth", "n_evaluate", "limit_requests")
        assert [kept["settings"][name] for name in names] == [2, 1, 3]
        assert kept["stop_reason"] == "budget"
