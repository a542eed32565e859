"""The command as users run it: exit codes, files, one-line errors, stopping and resuming."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from support.fake_server import FakeServer, Fault, after
from support.players import play
from support.stored import small, stored

from thoughtgraph.cli.app import main
from thoughtgraph.cli.run_config import SolveOptions, configure
from thoughtgraph.errors import ProblemError
from thoughtgraph.registry import METHODS, TASKS

COMMAND = [sys.executable, "-c", "from thoughtgraph.cli.app import main; main()"]
PUZZLE = ["4 9 10 13", "--task", "game24"]
SMALL = [*PUZZLE, "--set", "breadth=2", "--set", "n_evaluate=1"]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(play) as fake:
        yield fake


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    for name in ("THOUGHTGRAPH_MODEL", "OPENAI_API_KEY", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120)


def call(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    """Runs the command in this process, which saves the seconds of its imports."""
    monkeypatch.setattr(sys, "argv", ["thoughtgraph", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out, err


def assert_one_line(err: str, *words: str) -> None:
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err


def test_solve_writes_the_result_and_exits_with_0(server: FakeServer, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    page = tmp_path / "tree.html"
    done = run(
        "solve", *SMALL, "--model", server.specifier, "--json", str(target), "--html", str(page)
    )
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(target.read_text())
    assert list(result) == [
        "method",
        "task",
        "problem",
        "answer",
        "candidates",
        "prices",
        "verified",
        "limit",
        "votes",
        "run",
        "date",
        "outcome",
        "stop_reason",
        "usage",
        "settings",
        "tree",
        "versions",
    ]
    assert (result["method"], result["task"]) == ("tot_bfs", "game24")
    assert result["problem"] == "4 9 10 13"
    assert result["stop_reason"] == "finished"
    assert (result["outcome"], result["limit"]) == ("finished with an answer", "")
    assert result["verified"] is True
    assert f"run {result['run']}: " in done.stdout
    assert datetime.fromisoformat(result["date"]).utcoffset() == timedelta(0)
    assert f"ended:    {result['outcome']}\n" in done.stdout
    assert result["outcome"] in page.read_text()
    assert result["settings"]["breadth"] == 2
    assert result["settings"]["model"] == server.specifier
    assert result["usage"]["requests"] == len(server.answered)
    assert "mark" not in result["usage"]
    assert result["tree"]["0"]["status"] == "expanded"
    assert result["versions"]["thoughtgraph"] == version("thoughtgraph")
    assert "</html>" in page.read_text()
    assert f"answer:   {result['answer']}\n" in done.stdout
    assert "verified: yes" in done.stdout


def test_plain_output_has_one_event_a_line_that_can_be_searched(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = call(monkeypatch, capfd, "solve", *SMALL, "--model", server.specifier)
    lines = out.splitlines()
    assert re.fullmatch(r"run game24-\w{4}: tot_bfs on game24 with http://\S+", lines[0])
    assert lines[1].startswith(
        "dollars   neither counted nor limited, as no price of fake is known"
    )
    assert lines[2] == "propose   from 0: 4 9 10 13"
    assert lines[3] == "thought   1: 9 + 10 = 19 (left: 4 13 19) (from 0)"
    assert any(re.fullmatch(r"value     \d+: 20 \(sure\)", line) for line in lines)
    assert any(re.fullmatch(r"select    keep [\d, ]+; prune [\d, ]+", line) for line in lines)
    assert not any("\x1b" in line for line in lines)


def test_a_search_that_finds_nothing_exits_with_1(
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    target = tmp_path / "result.json"
    options = ["--limit", "requests=3", "--json", str(target), "--model", server.specifier]
    code, out, err = call(monkeypatch, capfd, "solve", *SMALL, *options)
    assert (code, err) == (1, "")
    assert "answer:   none" in out
    assert "ended:    stopped by the limit on requests (limit_requests=3), without an answer" in out
    assert json.loads(target.read_text())["usage"]["requests"] == 3


@pytest.mark.ci
def test_an_endpoint_that_never_answered_is_an_error() -> None:
    with FakeServer(play, after(0, Fault(401))) as fake:
        done = run("solve", *SMALL, "--model", fake.specifier)
    assert done.returncode == 2
    assert_one_line(done.stderr, "fake at http://127.0.0.1", "401", "THOUGHTGRAPH_API_KEY")
    assert "resume" not in done.stdout


def test_an_endpoint_that_fails_later_leaves_its_tree(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "result.json"
    with FakeServer(play, after(4, Fault(401))) as fake:
        options = ["--model", fake.specifier, "--json", str(target)]
        code, out, err = call(monkeypatch, capfd, "solve", *SMALL, *options)
    assert code == 1
    assert_one_line(err, "fake at http://127", "HTTP 401")
    assert "ended:    stopped without an answer, as the model could not be asked" in out
    result = json.loads(target.read_text())
    assert result["stop_reason"] == "error"
    assert result["answer"] is None
    assert len(result["tree"]) > 1


@pytest.mark.parametrize(
    ("method", "answers"),
    [
        *(("tot_bfs", 4), ("tot_dfs", 2)),
        *(
            pytest.param(*each, marks=pytest.mark.ci)
            for each in (("tot_bfs", 1), ("tot_bfs", 9), ("tot_dfs", 5))
        ),
    ],
)
def test_a_run_whose_endpoint_failed_is_resumed_once_it_works_again(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    method: str,
    answers: int,
) -> None:
    target = tmp_path / "result.json"
    asked = [*(SMALL if method == "tot_bfs" else PUZZLE), "--method", method]
    with FakeServer(play) as whole:
        options = ["--model", whole.specifier, "--json", str(target)]
        assert call(monkeypatch, capfd, "solve", *asked, *options)[0] == 0
        smooth = json.loads(target.read_text())
    with FakeServer(play, after(answers, Fault(401))) as fake:
        options = ["--model", fake.specifier, "--json", str(target)]
        code, out, err = call(monkeypatch, capfd, "solve", *asked, *options)
        assert code == 1
        assert re.fullmatch(r"error: .*the key was refused.*\n", err)
        found = re.search(r"resume: +thoughtgraph (solve --resume \S+)", out)
        assert found
        again = [*found[1].split(), "--json", str(target)]
        assert call(monkeypatch, capfd, *again)[0] == 1, "it fails again, and can be resumed again"
        fake.fault = lambda seen: Fault()
        code, out, err = call(monkeypatch, capfd, *again)
        assert (code, err) == (0, "")
        assert sorted(fake.answered) == sorted(whole.answered), "nothing was asked twice"
        result = json.loads(target.read_text())
        assert {k: t["text"] for k, t in result["tree"].items()} == {
            k: t["text"] for k, t in smooth["tree"].items()
        }
        assert result["usage"]["requests"] == smooth["usage"]["requests"]
        assert result["stop_reason"] == "finished"
        code, _, err = call(monkeypatch, capfd, *again)
        assert code == 2
        assert_one_line(err, again[2], "finished")


@pytest.mark.ci
@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="this shell ignores Ctrl-C"
)
def test_ctrl_c_keeps_what_was_answered_and_resume_finishes(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "result.json"
    with FakeServer(play) as whole:
        assert call(monkeypatch, capfd, "solve", *SMALL, "--model", whole.specifier)[0] == 0
    with FakeServer(play, after(9, Fault(hang=True))) as fake:
        process = subprocess.Popen(
            [*COMMAND, "solve", *SMALL, "--model", fake.specifier, "--json", str(target)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        fake.wait_for_held()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (1, "")
        stopped = json.loads(target.read_text())
        assert stopped["stop_reason"] == "interrupted"
        assert stopped["usage"]["requests"] == 9
        resume = re.search(r"resume: +thoughtgraph (solve --resume \S+)", out)
        assert resume
        again = resume[1].split()
        fake.release()
        code, _, err = call(monkeypatch, capfd, *again, "--json", str(target))
        assert (code, err) == (0, "")
        assert sorted(fake.answered) == sorted(whole.answered)
        assert json.loads(target.read_text())["usage"]["requests"] == len(whole.answered)
        code, _, err = call(monkeypatch, capfd, *again)
        assert code == 2
        assert_one_line(err, again[-1], "finished")


@pytest.mark.ci
def test_a_terminal_shows_the_live_tree(server: FakeServer) -> None:
    code, shown = in_terminal(["solve", *SMALL, "--model", server.specifier], COLUMNS="80")
    assert code == 0
    assert "├─ " in shown
    assert "\x1b[" in shown
    assert "\nthought   1:" not in shown
    assert "verified: " in shown


@pytest.mark.ci
def test_a_terminal_without_control_codes_or_colours_is_sent_none(server: FakeServer) -> None:
    solve = ["solve", *PUZZLE, "--method", "io", "--model", server.specifier]
    for arguments in (solve, ["methods"], ["--help"]):
        assert "\x1b" not in in_terminal(arguments, TERM="dumb")[1]
        assert not COLOUR.search(in_terminal(arguments, NO_COLOR="1")[1])
    assert COLOUR.search(in_terminal(["--help"])[1])


COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")


def in_terminal(arguments: Sequence[str], **environment: str) -> tuple[int, str]:
    """Runs the command in a terminal of its own; returns its exit code and what it was sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "LINES": "24", **environment},
    )
    os.close(theirs)
    shown = b"".join(_read_all(ours)).decode()
    return process.wait(timeout=60), shown


def _read_all(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # Linux: the other side has closed
            return
        if not part:
            return
        yield part


MODEL = ["--model", "http://127.0.0.1:9/v1#none"]
BAD_INPUT: list[tuple[list[str], list[str]]] = [
    (["solve", "4 9 10", "--task", "game24", *MODEL], ["'4 9 10'", "four whole numbers"]),
    (["solve", "x", "--task", "gam24", *MODEL], ["task 'gam24'", "'game24'"]),
    (["solve", *PUZZLE, "--method", "tot_bsf", *MODEL], ["method 'tot_bsf'", "'tot_bfs'"]),
    (["solve", *PUZZLE, "--set", "bredth=3", *MODEL], ["setting 'bredth'", "'breadth'"]),
    (["solve", *PUZZLE, "--set", "breadth=0", *MODEL], ["'breadth'", "greater than or equal to 1"]),
    (["solve", *PUZZLE, "--set", "breadth=many", *MODEL], ["'breadth'", "'many'"]),
    (["solve", *PUZZLE, "--set", "breadth", *MODEL], ["'breadth'", "--set name=value"]),
    (["solve", *PUZZLE, "--set", "model=x", *MODEL], ["'model'", "--model x"]),
    (["solve", *PUZZLE, "--set", "shots=@/no/file", *MODEL], ["'/no/file'", "check the path"]),
    (["solve", *PUZZLE, "--limit", "request=3", *MODEL], ["limit 'request'", "'requests'"]),
    (["solve", *PUZZLE, "--limit", "requests=-1", *MODEL], ["'limit_requests'", "equal to 0"]),
    (["solve", *PUZZLE, "--limit", "tokens=abc", *MODEL], ["'limit_tokens'", "'abc'"]),
    (["solve", *PUZZLE, "--limit", "seconds=NaN", *MODEL], ["'limit_seconds'", "finite"]),
    (["solve", *PUZZLE, "--limit", "dollars=Infinity", *MODEL], ["'limit_dollars'", "finite"]),
    (["solve", *PUZZLE, "--set", 'prices={"m": [-1, 2]}', *MODEL], ["prices.m.0", "equal to 0"]),
    (["solve", *PUZZLE, "--set", "concurrency=0", *MODEL], ["setting 'concurrency'"]),
    (
        ["solve", *PUZZLE, "--set", "generate=sample", *MODEL],
        ["tot_bfs", "game24", 'ToT\'s "sample"'],
    ),
    (["solve", *PUZZLE, "--model", "gpt-4"], ["'gpt-4'", "openai:gpt-4"]),
    (["solve", *PUZZLE, "--model", "http://127.0.0.1:x/v1#m"], ["'http://127.0.0.1:x/v1'", "'x'"]),
    (["solve", *PUZZLE, "--model", "http://#m"], ["'http://'", "no host"]),
    (["solve", *PUZZLE, "--evaluator-model", "http://#m", *MODEL], ["'http://'", "no host"]),
    (["solve", *PUZZLE, "--model", "openai:gpt-4"], ["'openai:gpt-4'", "OPENAI_API_KEY"]),
    (["solve", *PUZZLE, "--model", "local:/no.gguf"], ["'/no.gguf'", "GGUF"]),
    (["solve", *PUZZLE, "--json", "/no/folder/x.json", *MODEL], ["'/no/folder'"]),
    (["solve", *PUZZLE, "--html", "/proc/x.html", *MODEL], ["'/proc/x.html'", "another file"]),
    (["solve", *PUZZLE, "--json", "~nobody-of-that-name/x", *MODEL], ["~nobody-of-that-name"]),
    (["solve", "--task", "game24", *MODEL], ["'game24'", "'4 9 10 13'"]),
    (["solve", "@/no/file", "--task", "game24", *MODEL], ["'/no/file'"]),
    (["solve", "--resume", "game24-none"], ["run 'game24-none'", "no run was stopped"]),
    (["solve", "--resume", "x", "--set", "breadth=1"], ["--set", "--resume"]),
    (["solve", "--colour"], ["--colour", "thoughtgraph solve --help"]),
    (["sovle"], ["'sovle'", "thoughtgraph --help"]),
    (["solve", *PUZZLE, "--method", "refine", *MODEL], ["refine", "ask the model", "--oracle"]),
    (["solve", *PUZZLE, "--method", "react", "--oracle", *MODEL], ["react", "game24", "has tools"]),
    (["solve", "x", "--method", "io", "--oracle", *MODEL], ["'io' never asks", "refine"]),
    (["solve", "--resume", "x", "--oracle"], ["--oracle", "--resume"]),
    (["solve", "--resume", ""], ["run ''", "no run was stopped"]),
    (["methods", "refine", "--task", "crosswords"], ["refine", "crosswords", "a better output"]),
    (["methods", "--task", "gam24"], ["task 'gam24'", "'game24'"]),
    (["methods", "tot_bf"], ["method 'tot_bf'", "tot_bfs"]),
    (["view", "/no/file"], ["'/no/file'", "check the path"]),
    (["view", "/proc/self/mem"], ["'/proc/self/mem'", "cannot read"]),
    (["bench", "--task", "gsm8k"], ["--data", "lines of JSON"]),
    (["data", "get", "gsm"], ["data set 'gsm'", "'gsm8k'"]),
    (["data", "get"], ["NAME", "thoughtgraph data get --help"]),
    (["report", "nowhere"], ["no finished problem", "thoughtgraph bench"]),
]


@pytest.mark.parametrize(("arguments", "words"), BAD_INPUT, ids=lambda part: " ".join(part)[:50])
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: Sequence[str],
    words: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, out, err = call(monkeypatch, capfd, *arguments)
    assert (code, out) == (2, "")
    assert_one_line(err, *words)


def test_bad_input_of_a_real_process_has_no_traceback_unless_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = run("solve", "4 9", "--task", "game24")
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_line(done.stderr, "'4 9'")
    monkeypatch.setattr(
        sys, "argv", ["thoughtgraph", "solve", "4 9", "--task", "game24", "--debug"]
    )
    with pytest.raises(ProblemError):
        main()


NO_RESULT = [
    (b"\xff\xfe", "no text file"),
    (b"SQLite format 3\x00", "a database"),
    (b"", "empty"),
    (b"{", "not JSON"),
    (b"[" * 100_000, "not JSON"),
    (b"[]", "valid dictionary"),
    (b'{"a": 1}', "method: field required"),
]


@pytest.mark.parametrize(("content", "words"), NO_RESULT)
def test_view_refuses_what_is_no_result(
    content: bytes,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "result.json"
    file.write_bytes(content)
    code, _, err = call(monkeypatch, capfd, "view", str(file))
    assert code == 2
    assert_one_line(err, str(file), words)


DAMAGE: list[tuple[str, Any, str]] = [
    ("method", 3, "method: input should be a valid string"),
    ("settings", [], "settings: input should be a valid dictionary"),
    ("answer", [1], "answer: input should be a valid string"),
    ("usage", {"requests": "many"}, "usage.requests: input should be a valid integer"),
    ("tree", {}, "the tree is empty"),
    ("tree.0", None, "tree.0: input should be a valid dictionary"),
    ("tree.1.status", "dancing", "tree.1.status: input should be 'open'"),
    ("tree.1.value", "much", "tree.1.value: input should be a valid number"),
    ("tree.1.parent", "8", "thought '1' speaks of '8', which is not there"),
    ("tree.1.parent", "2", "thought '1' cannot have the parent '2'"),
    ("tree.0.parent", "1", "thought '0' cannot have the parent '1'"),
    ("tree.1.id", "7", "thought '1' has the id '7'"),
    ("tree.2.depth", 5, "thought '2' has the depth 5, not 1"),
    ("tree.1.experiences", ["9"], "thought '1' speaks of '9', which is not there"),
]


@pytest.mark.parametrize(("place", "value", "words"), DAMAGE, ids=lambda part: str(part)[:30])
def test_view_names_what_is_wrong_with_a_damaged_result(
    place: str,
    value: Any,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    result = stored(small())
    *way, name = place.split(".")
    part = result
    for step in way:
        part = part[step]
    part[name] = value
    file = tmp_path / "result.json"
    file.write_text(json.dumps(result))
    code, _, err = call(monkeypatch, capfd, "view", str(file))
    assert code == 2
    assert_one_line(err, str(file), words)


def test_view_shows_a_hostile_result_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    script = "</script><script>alert(1)</script>"
    result = stored(small(text=script), answer=script, method=script, task=script, problem=script)
    file = tmp_path / "result.json"
    file.write_text(json.dumps(result))
    assert call(monkeypatch, capfd, "view", str(file))[0] == 0
    assert "<script>alert" not in file.with_suffix(".html").read_text()


def test_view_makes_one_page_of_a_folder(
    server: FakeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    options = ["--model", server.specifier, "--method", "io", "--json"]
    for name in ("a.json", "b.json"):
        call(monkeypatch, capfd, "solve", *PUZZLE, *options, str(tmp_path / name))
    (tmp_path / "notes.json").write_text("[]")
    code, out, _ = call(monkeypatch, capfd, "view", str(tmp_path))
    assert (code, out) == (0, f"wrote {tmp_path / 'trees.html'} (2 search trees)\n")
    assert "</html>" in (tmp_path / "trees.html").read_text()


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


def test_an_oracle_makes_refine_run_on_game24_and_labels_the_result(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tries = iter(["Answer: 4 + 9 + 10 + 13", "Answer: (10 - 4) * (13 - 9)"])
    target = tmp_path / "result.json"
    with FakeServer(lambda seen: next(tries)) as fake:
        options = ["--method", "refine", "--oracle", "--json", str(target)]
        code, out, err = call(
            monkeypatch, capfd, "solve", *PUZZLE, *options, "--model", fake.specifier
        )
    assert (code, err) == (0, "")
    assert "verified: yes" in out
    assert "oracle:   yes" in out
    assert json.loads(target.read_text())["settings"]["oracle"] is True
    assert call(monkeypatch, capfd, "view", str(target))[0] == 0


def test_the_methods_of_a_task_are_those_that_take_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = call(monkeypatch, capfd, "methods", "--task", "game24")
    listed = {line.split()[0]: line for line in out.splitlines() if line}
    assert {"io", "tot_bfs", "rollback"} <= set(listed)
    assert not {"react", "tomt_os"} & set(listed)
    assert "with --oracle" in listed["refine"]
    _, out, _ = call(monkeypatch, capfd, "methods", "reflexion")
    assert "tasks (in Python, with oracle=a function): strategyqa, hotpotqa, fever" in out


@pytest.mark.ci
def test_an_answer_that_begins_with_no_is_not_shown_as_missing() -> None:
    with FakeServer(lambda seen: "The answer is no one at all") as fake:
        arguments = ["solve", "Did anybody?", "--method", "io", "--model", fake.specifier]
        code, shown = in_terminal(arguments)
    assert code == 0
    line = next(line for line in shown.splitlines() if "answer:" in line)
    assert "no one at all" in line
    assert not COLOUR.search(line)


def test_misread_outputs_are_counted_in_words_of_their_own(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(lambda seen: "nothing of use") as fake:
        arguments = ["solve", *PUZZLE, "--method", "io", "--model", fake.specifier]
        code, out, _ = call(monkeypatch, capfd, *arguments)
    assert code == 1
    assert "misread:  model outputs that could not be read: 1 in generate\n" in out


def test_a_wrong_answer_is_said_to_be_wrong(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(lambda seen: "Answer: 4 + 9 + 10 + 13 = 24") as fake:
        arguments = ["solve", *PUZZLE, "--method", "io", "--model", fake.specifier]
        code, out, _ = call(monkeypatch, capfd, *arguments)
    assert code == 0
    assert "verified: no" in out


def test_what_a_model_writes_cannot_reach_the_terminal_or_break_the_files(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sequences = "\x1b[2J\x1b]0;pwned\x07[bold]1\u202e + \ud800 </script>\r = 24"
    hostile = f"[bold]This[/bold] took me a while, but it is right. Answer: {sequences}"
    target = tmp_path / "result.json"
    with FakeServer(lambda seen: hostile) as fake:
        options = ["--method", "io", "--model", fake.specifier, "--json", str(target)]
        code, out, err = call(monkeypatch, capfd, "solve", *PUZZLE, *options)
    assert (code, err) == (0, "")
    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(out)
    assert "[bold]This[/bold]" in out
    kept = json.loads(target.read_text())["tree"]["1"]["text"]
    assert kept == hostile.replace("\ud800", "\ufffd")


LONG = "x" * 500_000
"""A hundred of them, cot_sc's in one body, are less than the 64 MiB that are read of an answer; of
one that may have 100,000 tokens 400,000 letters are read."""


@pytest.mark.parametrize("method", ["io", "cot", "cot_sc", "tot_bfs", "tot_dfs"])
@pytest.mark.parametrize("said", ["", "I cannot help with that.", LONG, "\x00\x01{[("])
def test_a_model_that_makes_no_sense_is_one_line_of_the_result(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], said: str, method: str
) -> None:
    with FakeServer(lambda seen: said) as fake:
        arguments = ["--method", method, "--model", fake.specifier]
        arguments += ["--set", "max_completion_tokens=100000"]
        code, out, err = call(monkeypatch, capfd, "solve", *PUZZLE, *arguments)
    assert (code, err) == (1, "")
    (ended,) = [line for line in out.splitlines() if line.startswith("ended:")]
    assert "finished without an answer" in ended
    assert len(out) < 50_000


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["solutions=2"], "finished with an answer; weighted vote "),
        (["ensemble=first"], "finished with an answer that no further solution could change"),
        (["solutions=1"], "finished with an answer; weighted vote 1 of 1"),
    ],
)
def test_a_rollback_that_ends_early_says_what_for(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    settings: list[str],
    words: str,
) -> None:
    said = "The final solution is 4. Bad step index: 1"
    with FakeServer(lambda seen: said) as fake:
        options = ["--task", "gsm8k", "--method", "rollback", "--model", fake.specifier]
        chosen = [part for setting in settings for part in ("--set", setting)]
        code, out, err = call(monkeypatch, capfd, "solve", "What is 2 + 2?", *options, *chosen)
    assert (code, err) == (0, "")
    assert f"ended:    {words}" in out


def test_methods_tasks_and_models_are_listed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = call(monkeypatch, capfd, "methods")
    assert all(name in out for name in METHODS)
    _, out, _ = call(monkeypatch, capfd, "tasks")
    assert all(name in out for name in TASKS)
    _, out, _ = call(monkeypatch, capfd, "models")
    assert "default now: local" in out
    assert "http://HOST:PORT/v1#NAME" in out


def test_a_method_is_described_with_defaults_bounds_and_tasks(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _, own, _ = call(monkeypatch, capfd, "methods", "tot_bfs")
    assert re.search(r"breadth +1 +whole number 1\.\.1000 ", own)
    assert re.search(r"evaluate +vote +value \| vote ", own)
    assert own.splitlines()[2].startswith("requests per problem: 1 + breadth ")
    assert "game24" in own.splitlines()[3]
    _, published, _ = call(monkeypatch, capfd, "methods", "tot_bfs", "--task", "game24")
    assert re.search(r"breadth +5 +whole number", published)
    for name in METHODS:
        code, told, err = call(monkeypatch, capfd, "methods", name)
        assert (code, err) == (0, "")
        assert told.startswith(f"{name}: ")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["methods"], ["tasks"], ["data"], ["data", "list"], ["nope"]],
)
def test_help_lists_and_mistakes_import_neither_langgraph_nor_langchain(
    arguments: list[str],
) -> None:
    program = (
        "import sys\n"
        "from thoughtgraph.cli.app import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n"
        "    heavy = {'langgraph', 'langchain_core', 'openai'} & set(sys.modules)\n"
        "    assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.ci
def test_every_public_name_can_be_imported() -> None:
    import_all = "from thoughtgraph import *; build, ChatPort, Rates, Retry, runnable"
    done: Any = subprocess.run([sys.executable, "-c", import_all], capture_output=True)
    assert done.returncode == 0, done.stderr
