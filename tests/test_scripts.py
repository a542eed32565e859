"""The command in scripts: what goes where, how much of it, and how soon a mistake is answered."""

import io
import json
import os
import subprocess
import sys
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support.fake_server import FakeServer
from support.players import add_up
from support.pools import few

from thoughtgraph.cli.app import main

PUZZLE = "3 5 7 9"
GAME = ("--task", "game24", "--set", "breadth=1")


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Ran]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Call]:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    with FakeServer(add_up) as server:
        monkeypatch.setenv("THOUGHTGRAPH_MODEL", server.specifier)

        def ran(*words: str) -> Ran:
            monkeypatch.setattr(sys, "argv", ["thoughtgraph", *words])
            with pytest.raises(SystemExit) as ended:
                main()
            shown = capfd.readouterr()
            return Ran(int(ended.value.code or 0), shown.out, shown.err)

        yield ran


def test_json_goes_to_standard_output_alone(call: Call) -> None:
    ran = call("solve", PUZZLE, *GAME, "--json", "-")
    assert ran.code == 0
    assert json.loads(ran.out)["answer"] == "3 + 5 + 7 + 9"
    assert "propose" in ran.err and "answer:" in ran.err


def test_quiet_prints_the_answer_alone(call: Call) -> None:
    assert call("solve", PUZZLE, *GAME, "--quiet") == (0, "3 + 5 + 7 + 9\n", "")
    ran = call("solve", PUZZLE, *GAME, "-q", "--json", "-")
    assert json.loads(ran.out)["problem"] == PUZZLE and not ran.err
    ran = call("solve", PUZZLE, *GAME, "--quiet", "--limit", "requests=0")
    assert (ran.code, ran.out) == (1, "")


def test_the_problem_may_come_from_standard_input(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{PUZZLE}\n".encode())))
    assert call("solve", "-", *GAME, "--quiet").out == "3 + 5 + 7 + 9\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe")))
    ran = call("solve", "-", *GAME)
    assert ran.code == 2 and ran.err == "error: standard input is no text; it must be UTF-8\n"


def test_a_hundred_samples_are_told_in_a_few_lines(call: Call) -> None:
    samples = ("--method", "cot_sc", "--set", "n_generate=100")
    ran = call("solve", PUZZLE, "--task", "game24", *samples, "--json", "out.json")
    assert len(ran.out.splitlines()) <= 20
    assert "thought   … and 97 more" in ran.out
    assert len(json.loads(Path("out.json").read_text())["tree"]) == 101


def test_a_page_is_opened_where_it_is_asked_for(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    call("solve", PUZZLE, *GAME, "--json", "run.json")
    assert call("view", "run.json").code == 0 and not opened
    assert call("view", "run.json", "--open").code == 0
    assert opened == [Path("run.html").resolve().as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert "open file://" in call("view", "run.json", "--open").out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("thoughtgraph solve --task ga", {"game24"}),
        ("thoughtgraph solve --method tot_", {"tot_bfs", "tot_dfs"}),
        ("thoughtgraph solve --limit re", {"requests="}),
        ("thoughtgraph methods itot_d", {"itot_dfs", "itot_d_star_lite"}),
    ],
)
def test_the_shell_completes_names(typed: str, offered: set[str]) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", "from thoughtgraph.cli.app import main; main()"],
        env={**os.environ, **words, "_THOUGHTGRAPH_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
    )
    assert set(done.stdout.split()) == offered


SLOW_MODULES = ("langgraph", "langchain_openai", "openai", "xllamacpp")
CHECKS = """
import sys
from thoughtgraph.cli.app import main
sys.argv = ["thoughtgraph", *sys.argv[1:]]
try:
    main()
finally:
    print(*(name for name in {names} if name in sys.modules))
"""
TYPED = {
    "puzzle": (["solve", "1 2 x", "--task", "game24"], "no Game-of-24 puzzle"),
    "task": (["solve", PUZZLE, "--task", "game25"], "did you mean 'game24'"),
    "method": (["solve", PUZZLE, "--method", "tot_bsf"], "did you mean 'tot_bfs'"),
    "limit": (["solve", PUZZLE, "--limit", "reqests=3"], "did you mean 'requests'"),
    "number": (["solve", PUZZLE, "--limit", "requests=x"], "'limit_requests'"),
    "file": (["solve", PUZZLE, "--json", "/no/folder/x"], "no folder '/no/folder'"),
    "option": (["solve", PUZZLE, "--jsn", "x"], "--jsn"),
    "model": (["solve", PUZZLE, *GAME, "--model", "gpt-4o"], "did you mean 'openai:gpt-4o'"),
    "judge": (["solve", PUZZLE, *GAME, "--evaluator-model", "http://h/v1"], "unknown model"),
    "weights": (["solve", PUZZLE, *GAME, "--model", "local:no.gguf"], "there is no file"),
    "nothing": (["solve", "--task", "game24"], "no problem given"),
    "setting": (["solve", PUZZLE, *GAME, "--set", "bredth=3"], "did you mean 'breadth'"),
    "bound": (["solve", PUZZLE, *GAME, "--set", "steps=0"], "greater than or equal to 1, not 0"),
    "examples": (
        ["solve", "3", "--task", "gsm8k", "--method", "io", "--set", "shots=20"],
        "worked examples of its",
    ),
    "capability": (["solve", "Q?", "--method", "tomt_os"], "it needs one that has plans"),
    "oracle": (["solve", PUZZLE, *GAME, "--oracle"], "leave the oracle out"),
}


@pytest.mark.parametrize("kind", few(TYPED, 4))
def test_a_mistake_is_answered_before_what_takes_seconds_to_import(kind: str) -> None:
    words, told = TYPED[kind]
    done = loading(*words)
    assert done.returncode == 2 and told in done.stderr
    assert not done.stdout.split()


@pytest.mark.parametrize(
    "words", few([("tot_bfs",), (), ("react", "--task", "fever"), ("--task", "ptr")], 1)
)
def test_what_methods_take_is_told_before_what_takes_seconds_to_import(
    words: tuple[str, ...],
) -> None:
    done = loading("methods", *words)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == ""


def loading(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command; the last line it writes names the slow modules that it has imported."""
    code = CHECKS.format(names=SLOW_MODULES)
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
