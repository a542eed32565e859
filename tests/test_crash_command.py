"""The command killed outright: `--resume` ends with the undisturbed tree, and pays once."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer, Fault, after
from players import play

COMMAND = [sys.executable, "-c", "from thoughtgraph.cli.app import main; main()"]
SMALL = ["4 9 10 13", "--task", "game24", "--set", "breadth=2", "--set", "n_evaluate=1"]
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
