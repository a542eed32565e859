"""The command in scripts: what goes where, how much of it, and how soon a mistake is answered."""

import io
import json
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer
from support.players import add_up

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
    assert "propose" in err and "answer:" in err


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


def test_a_hundred_samples_are_told_in_a_few_lines(command: Command) -> None:
    samples = ("--method", "cot_sc", "--set", "n_generate=100")
    _, out, _ = command("solve", PUZZLE, "--task", "game24", *samples, "--json", "out.json")
    assert len(out.splitlines()) <= 20
    assert "thought   … and 97 more" in out
    assert len(json.loads(Path("out.json").read_text())["tree"]) == 101


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


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("solve --task ga", {"game24"}),
        ("solve --method tot_", {"tot_bfs", "tot_dfs"}),
        ("solve --limit re", {"requests="}),
        ("methods itot_d", {"itot_dfs", "itot_d_star_lite"}),
    ],
)
def test_the_shell_completes_names(
    command: Command, monkeypatch: pytest.MonkeyPatch, typed: str, offered: set[str]
) -> None:
    monkeypatch.setenv("COMP_WORDS", f"thoughtgraph {typed}")
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ") + 1))
    monkeypatch.setenv("_THOUGHTGRAPH_COMPLETE", "complete_bash")
    assert {*command()[1].split()} == offered


TYPED: list[tuple[list[str], int, str]] = [
    (["methods", "tot_bfs"], 0, ""),
    (["methods"], 0, ""),
    (["methods", "react", "--task", "fever"], 0, ""),
    (["methods", "--task", "ptr"], 0, ""),
    (["solve", "1 2 x", "--task", "game24"], 2, "no Game-of-24 puzzle"),
    (["solve", PUZZLE, "--task", "game25"], 2, "did you mean 'game24'"),
    (["solve", PUZZLE, "--method", "tot_bsf"], 2, "did you mean 'tot_bfs'"),
    (["solve", PUZZLE, "--limit", "reqests=3"], 2, "did you mean 'requests'"),
    (["solve", PUZZLE, "--limit", "requests=x"], 2, "'limit_requests'"),
    (["solve", PUZZLE, "--json", "/no/folder/x"], 2, "no folder '/no/folder'"),
    (["solve", PUZZLE, "--jsn", "x"], 2, "--jsn"),
    (["solve", PUZZLE, *GAME, "--model", "gpt-4o"], 2, "did you mean 'openai:gpt-4o'"),
    (["solve", PUZZLE, *GAME, "--evaluator-model", "http://h/v1"], 2, "unknown model"),
    (["solve", PUZZLE, *GAME, "--model", "local:no.gguf"], 2, "there is no file"),
    (["solve", "--task", "game24"], 2, "no problem given"),
    (["solve", PUZZLE, *GAME, "--set", "bredth=3"], 2, "did you mean 'breadth'"),
    (["solve", PUZZLE, *GAME, "--set", "steps=0"], 2, "greater than or equal to 1, not 0"),
    (
        ["solve", "3", "--task", "gsm8k", "--method", "io", "--set", "shots=20"],
        2,
        "worked examples of its",
    ),
    (["solve", "Q?", "--method", "tomt_os"], 2, "it needs one that has plans"),
    (["solve", PUZZLE, *GAME, "--oracle"], 2, "leave the oracle out"),
]
RUNS = """
import contextlib, io, json, sys
from thoughtgraph.cli.app import main
for words in json.load(sys.stdin):
    sys.argv, err = ["thoughtgraph", *words], io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        slow = {"langgraph", "langchain_openai", "openai", "xllamacpp"} & {*sys.modules}
        print(json.dumps([ended.code or 0, err.getvalue(), sorted(slow)]))
"""


def test_mistakes_and_methods_are_told_before_what_takes_seconds_to_import() -> None:
    words = json.dumps([words for words, _, _ in TYPED])
    done = subprocess.run(
        [sys.executable, "-c", RUNS], input=words, capture_output=True, text=True, check=True
    )
    ran: list[Any] = [json.loads(line) for line in done.stdout.splitlines()]
    for (typed, code, told), (ended, err, loaded) in zip(TYPED, ran, strict=True):
        assert (ended, loaded) == (code, []), (typed, err)
        assert told in err, typed
