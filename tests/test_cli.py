"""The command as users run it: exit codes, files, one-line errors, stopping and resuming."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer, Fault, after
from support.mistakes import BAD_INPUT, NO_RESULT, PUZZLE
from support.players import play
from support.pools import few
from support.stored import small, stored

from thoughtgraph.cli.guard import Terminal
from thoughtgraph.cli.options import SolveOptions
from thoughtgraph.cli.run_config import configure
from thoughtgraph.errors import ProblemError
from thoughtgraph.registry import METHODS, TASKS

PROGRAM = [sys.executable, "-c", "from thoughtgraph.cli.app import main; main()"]
SMALL = [*PUZZLE, "--set", "breadth=2", "--set", "n_evaluate=1"]
REPLY = play
pytestmark = pytest.mark.usefixtures("own_environment")


def assert_one_line(err: str, *words: str) -> None:
    assert err.startswith("error: ") and err.count("\n") == 1
    for word in words:
        assert word in err


def result() -> dict[str, Any]:
    written: dict[str, Any] = json.loads(Path("result.json").read_text())
    return written


def resumed(out: str) -> list[str]:
    """The command that goes on, as a stopped one tells it."""
    told = re.search(r"resume: +thoughtgraph (solve --resume \S+)", out)
    assert told
    return told[1].split()


FIELDS = """
method task problem answer candidates prices verified limit votes run date outcome stop_reason usage
settings tree versions prompts
"""


def test_solve_writes_the_result_and_one_event_a_line(server: FakeServer, command: Command) -> None:
    files = ["--json", "result.json", "--html", "tree.html"]
    code, out, err = command("solve", *SMALL, "--model", server.specifier, *files)
    assert (code, err) == (0, "")
    written, page = result(), Path("tree.html").read_text()
    assert list(written) == FIELDS.split()
    assert (written["method"], written["task"]) == ("tot_bfs", "game24")
    assert (written["problem"], written["stop_reason"]) == ("4 9 10 13", "finished")
    assert (written["outcome"], written["limit"]) == ("finished with an answer", "")
    assert written["verified"] is True
    assert datetime.fromisoformat(written["date"]).utcoffset() == timedelta(0)
    assert (written["settings"]["breadth"], written["settings"]["model"]) == (2, server.specifier)
    assert written["usage"]["requests"] == len(server.answered)
    assert "mark" not in written["usage"]
    assert written["tree"]["0"]["status"] == "expanded"
    assert written["versions"]["thoughtgraph"] == version("thoughtgraph")
    assert written["outcome"] in page and "</html>" in page
    lines = out.splitlines()
    assert re.fullmatch(r"run game24-\w{4}: tot_bfs on game24 with http://\S+", lines[0])
    assert lines[0].startswith(f"run {written['run']}: ")
    unknown = "dollars     neither counted nor limited, as no price of fake is known"
    assert lines[1].startswith(unknown)
    assert lines[2] == "asked       generate 0: 4 9 10 13"
    assert lines[3] == "made        1: 9 + 10 = 19 (left: 4 13 19) (from 0)"
    assert {"ended:    finished with an answer", f"answer:   {written['answer']}"} <= {*lines}
    assert "verified: yes" in out and "\x1b" not in out


def test_an_endpoint_that_never_answered_is_an_error(command: Command) -> None:
    with FakeServer(play, after(0, Fault(401))) as fake:
        code, out, err = command("solve", *SMALL, "--model", fake.specifier)
    assert code == 2 and "resume" not in out
    assert_one_line(err, "fake at http://127.0.0.1", "401", "THOUGHTGRAPH_API_KEY")


def assert_finishes(command: Command, told: str, fake: FakeServer, whole: FakeServer) -> None:
    """The command that a stopped run names goes on, asks nothing twice, and is refused then."""
    again = [*resumed(told), "--json", "result.json"]
    code, _, err = command(*again)
    assert (code, err) == (0, "")
    assert sorted(fake.answered) == sorted(whole.answered)
    assert result()["usage"]["requests"] == len(whole.answered)
    assert result()["stop_reason"] == "finished"
    code, _, err = command(*again)
    assert code == 2
    assert_one_line(err, again[2], "finished")


FAILURES = [("tot_bfs", 4), ("tot_dfs", 2), ("tot_bfs", 1), ("tot_bfs", 9), ("tot_dfs", 5)]


@pytest.mark.parametrize("failure", few(FAILURES, 2), ids=str)
def test_a_run_whose_endpoint_failed_is_resumed_once_it_works_again(
    command: Command, failure: tuple[str, int]
) -> None:
    method, answers = failure
    asked = ["solve", *(SMALL if method == "tot_bfs" else PUZZLE), "--method", method]
    asked += ["--json", "result.json", "--model"]
    with FakeServer(play) as whole:
        assert command(*asked, whole.specifier)[0] == 0
        smooth = result()
    with FakeServer(play, after(answers, Fault(401))) as fake:
        code, out, err = command(*asked, fake.specifier)
        assert code == 1
        assert_one_line(err, "fake at http://127", "HTTP 401", "the key was refused")
        assert "answer:   none" in out
        assert "ended:    stopped without an answer, as the model could not be asked" in out
        assert (result()["stop_reason"], result()["answer"]) == ("error", None)
        assert command(*resumed(out))[0] == 1, "it fails again, and can be resumed again"
        fake.fault = lambda seen: Fault()
        assert_finishes(command, out, fake, whole)
    texts = [{k: t["text"] for k, t in each["tree"].items()} for each in (result(), smooth)]
    assert texts[0] == texts[1]


@pytest.mark.ci
@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="this shell ignores Ctrl-C"
)
def test_ctrl_c_keeps_what_was_answered_and_resume_finishes(command: Command) -> None:
    asked = ["solve", *SMALL, "--json", "result.json", "--model"]
    with FakeServer(play) as whole:
        assert command(*asked, whole.specifier)[0] == 0
    with FakeServer(play, after(9, Fault(hang=True))) as fake:
        pipe = subprocess.PIPE
        told = [*PROGRAM, *asked, fake.specifier]
        process = subprocess.Popen(told, stdout=pipe, stderr=pipe, text=True)
        fake.wait_for_held(600)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        assert (process.returncode, err) == (1, "")
        assert (result()["stop_reason"], result()["usage"]["requests"]) == ("interrupted", 9)
        fake.release()
        assert_finishes(command, out, fake, whole)


COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")


@pytest.mark.ci
def test_a_terminal_shows_the_live_tree(server: FakeServer) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "solve", *SMALL, "--model", server.specifier],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "LINES": "24", "COLUMNS": "80"},
    )
    os.close(theirs)
    sent = b""
    with suppress(OSError):  # Linux: the other side has closed
        while part := os.read(ours, 65536):
            sent += part
    assert process.wait(timeout=600) == 0
    shown = sent.decode()
    assert "├─ " in shown and COLOUR.search(shown)
    assert "\nthought   1:" not in shown
    assert "verified: " in shown


def test_a_terminal_without_control_codes_or_colours_is_sent_none(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    with FakeServer(lambda seen: "The answer is no one at all") as fake:
        solve = ("solve", "Did anybody?", "--method", "io", "--model", fake.specifier)
        for arguments in (solve, ("methods",), ("--help",)):
            told = command(*arguments)[1]
            assert COLOUR.search(told) or arguments[0] != "--help"
            with monkeypatch.context() as other:
                other.setenv("TERM", "dumb")
                plain = command(*arguments)[1]
                assert "\x1b" not in plain
                assert ("\nasked " in plain) == (arguments is solve), "an event a line"
            with monkeypatch.context() as other:
                other.setenv("NO_COLOR", "1")
                drawn = command(*arguments)[1]
                assert not COLOUR.search(drawn) and "\nasked " not in drawn
        code, shown, _ = command(*solve)
    assert code == 0
    line = next(line for line in shown.splitlines() if "answer:" in line)
    assert "no one at all" in line and not COLOUR.search(line), "it is not shown as missing"


@pytest.mark.parametrize(("arguments", "words"), BAD_INPUT, ids=lambda part: " ".join(part)[-50:])
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: Sequence[str], words: Sequence[str], command: Command
) -> None:
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert_one_line(err, *words)


def test_a_traceback_is_for_those_who_want_it(command: Command) -> None:
    with pytest.raises(ProblemError):
        command("solve", "4 9", "--task", "game24", "--debug")


@pytest.mark.parametrize(("damage", "words"), NO_RESULT, ids=lambda part: str(part)[:30])
def test_view_names_what_is_wrong_with_a_file(
    damage: bytes | tuple[str, Any], words: str, command: Command
) -> None:
    file = Path("result.json")
    if isinstance(damage, bytes):
        file.write_bytes(damage)
    else:
        damaged = stored(small())
        *way, name = damage[0].split(".")
        part = damaged
        for step in way:
            part = part[step]
        part[name] = damage[1]
        file.write_text(json.dumps(damaged))
    code, _, err = command("view", str(file))
    assert code == 2
    assert_one_line(err, str(file), words)


def test_view_makes_one_page_of_a_file_or_a_folder_and_shows_hostile_text(
    command: Command,
) -> None:
    script = "</script><script>alert(1)</script>"
    bad = stored(small(text=script), answer=script, method=script, task=script, problem=script)
    for name, content in (("a", bad), ("b", stored(small())), ("notes", [])):
        Path(f"{name}.json").write_text(json.dumps(content))
    assert command("view", "a.json")[0] == 0
    assert "<script>alert" not in Path("a.html").read_text()
    code, out, _ = command("view", ".")
    assert (code, out) == (0, "wrote trees.html (2 search trees)\n")
    assert "</html>" in Path("trees.html").read_text()


def test_settings_are_json_or_text_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text('{"fake": [1, 2]}')
    wish = SolveOptions(
        problem="4 9 10 13",
        task="game24",
        settings=["breadth=3", "select=sample", f"prices=@{file}", "early-stop=true"],
        limits=["requests=7", "seconds=none"],
    )
    assert configure(wish).settings == {
        "breadth": 3,
        "select": "sample",
        "prices": {"fake": [1, 2]},
        "early_stop": True,
        "limit_requests": 7,
        "limit_seconds": None,
    }


def test_an_oracle_makes_refine_run_on_game24_and_labels_the_result(command: Command) -> None:
    tries = iter(["Answer: 4 + 9 + 10 + 13", "Answer: (10 - 4) * (13 - 9)"])
    with FakeServer(lambda seen: next(tries)) as fake:
        options = ["--method", "refine", "--oracle", "--json", "result.json"]
        code, out, err = command("solve", *PUZZLE, *options, "--model", fake.specifier)
    assert (code, err) == (0, "")
    assert "verified: yes" in out
    assert "oracle:   yes" in out
    assert result()["settings"]["oracle"] is True
    assert command("view", "result.json")[0] == 0


def test_what_a_model_writes_cannot_reach_the_terminal_or_break_the_files(
    command: Command,
) -> None:
    sequences = "\x1b[2J\x1b]0;pwned\x07[bold]1\u202e + \ud800 </script>\r = 24"
    hostile = f"[bold]This[/bold] took me a while, but it is right. Answer: {sequences}"
    with FakeServer(lambda seen: hostile) as fake:
        options = ["--method", "io", "--model", fake.specifier, "--json", "result.json"]
        code, out, err = command("solve", *PUZZLE, *options)
    assert (code, err) == (0, "")
    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(out)
    assert "[bold]This[/bold]" in out
    assert result()["tree"]["1"]["text"] == hostile.replace("\ud800", "\ufffd")


def test_methods_tasks_and_models_are_listed_and_described(command: Command) -> None:
    listed = {line.split()[0]: line for line in command("methods")[1].splitlines() if line}
    assert listed.keys() >= METHODS.keys()
    _, out, _ = command("methods", "--task", "game24")
    listed = {line.split()[0]: line for line in out.splitlines() if line}
    assert {"io", "tot_bfs", "rollback"} <= set(listed)
    assert not {"react", "tomt_os"} & set(listed)
    assert "with --oracle" in listed["refine"]
    _, out, _ = command("tasks")
    assert all(name in out for name in TASKS)
    _, out, _ = command("models")
    assert "default now: local" in out and "http://HOST:PORT/v1#NAME" in out
    for name in METHODS:
        code, told, err = command("methods", name)
        assert (code, err) == (0, "")
        assert told.startswith(f"{name}: ")
    _, out, _ = command("methods", "reflexion")
    assert "tasks (in Python, with oracle=a function): strategyqa, hotpotqa, fever" in out
    _, own, _ = command("methods", "tot_bfs")
    assert re.search(r"breadth +1 +whole number 1\.\.1000 ", own)
    assert re.search(r"evaluate +vote +value \| vote ", own)
    assert own.splitlines()[2].startswith("requests per problem: 1 + breadth ")
    assert "game24" in own.splitlines()[3]
    _, published, _ = command("methods", "tot_bfs", "--task", "game24")
    assert re.search(r"breadth +5 +whole number", published)


def test_a_reader_that_has_gone_is_an_error_and_not_the_end_of_the_process() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Terminal(file=Gone()).print("made")


LIGHT = """
import sys
from thoughtgraph.cli.app import main
for told in ("--help", "--version", "methods", "tasks", "data", "data list", "nope", "solve --x"):
    sys.argv = ["thoughtgraph", *told.split()]
    try:
        main()
    except SystemExit:
        heavy = {"langgraph", "langchain_core", "openai"} & set(sys.modules)
        assert not heavy, (told, heavy)
"""


def test_help_lists_and_mistakes_import_neither_langgraph_nor_langchain() -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert done.stdout.count(f"{version('thoughtgraph')}\n") == 1
