"""The command in scripts: what goes where, how much of it, and how soon a mistake is answered."""

import io
import json
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command import Command
from support.fake_server import FakeServer
from support.players import add_up

from thoughtgraph.cli import view
from thoughtgraph.cli.viewer.page import payload

PUZZLE = "3 5 7 9"
GAME = ("--task", "game24", "--set", "breadth=1")


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The model of the environment adds up."""
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    with FakeServer(add_up) as server:
        monkeypatch.setenv("THOUGHTGRAPH_MODEL", server.specifier)
        yield


def test_json_goes_to_standard_output_alone(command: Command) -> None:
    code, out, err = command("solve", PUZZLE, *GAME, "--json", "-")
    assert code == 0
    assert json.loads(out)["answer"] == "3 + 5 + 7 + 9"
    assert "asked" in err and "answer:" in err


def test_quiet_prints_the_answer_alone(command: Command) -> None:
    assert command("solve", PUZZLE, *GAME, "--quiet") == (0, "3 + 5 + 7 + 9\n", "")
    _, out, err = command("solve", PUZZLE, *GAME, "-q", "--json", "-")
    assert json.loads(out)["problem"] == PUZZLE and not err
    code, out, _ = command("solve", PUZZLE, *GAME, "--quiet", "--limit", "requests=0")
    assert (code, out) == (1, "")


def test_the_problem_may_come_from_standard_input(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{PUZZLE}\n".encode())))
    assert command("solve", "-", *GAME, "--quiet")[1] == "3 + 5 + 7 + 9\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe")))
    code, _, err = command("solve", "-", *GAME)
    assert code == 2 and err == "error: standard input is no text; it must be UTF-8\n"


def test_a_page_is_opened_where_it_is_asked_for(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    command("solve", PUZZLE, *GAME, "--json", "run.json")
    assert command("view", "run.json")[0] == 0 and not opened
    assert command("view", "run.json", "--open")[0] == 0
    assert opened == [Path("run.html").resolve().as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert "open file://" in command("view", "run.json", "--open")[1]


def test_the_page_of_a_benchmark_shows_what_was_asked(command: Command) -> None:
    told = ["-t", "game24", "-m", "io", "--problems", "1:1", "-o", "r"]
    assert command("bench", *told)[0] == 0
    [run] = payload(view.read("r"))["runs"]
    assert run["promptless"] is None and run["thoughts"][1]["prompts"]
