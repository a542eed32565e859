"""A run that a limit ended is resumed with a higher one: as if it had had that from the start."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.drawing import PAGES, scribble, steps, walk
from support.fake_server import FakeServer, Fault, Seen, after
from support.players import play
from support.pools import few

from thoughtgraph.cli import app

FORCED = "no more can be taken"
"""What the prompt says that forces an answer of FGDIP."""


class Case(NamedTuple):
    """A search of some requests: what the command is told, and how its model answers."""

    arguments: list[str]
    reply: Callable[[Seen], Any]


PAGED = ["Is A near B?", "--task", "hotpotqa", "--set", "corpus={corpus}", "--method"]
PUZZLE = ["4 9 10 13", "--task", "game24", "--method"]
CASES = {
    "tot_bfs": Case([*PUZZLE, "tot_bfs", "--set", "breadth=3"], play),
    "tot_dfs": Case([*PUZZLE, "tot_dfs", "--set", "outputs=3"], play),
    "tomt_os": Case(
        ["--method", "tomt_os", "--set", "max_calls=12", "--set", "branches=12"], scribble
    ),
    "rollback": Case(["One? Two.", "--task", "gsm8k", "--method", "rollback"], steps),
    "itot_a_star": Case([*PAGED, "itot_a_star", "--set", "rounds=6"], walk),
    "fgdip": Case([*PAGED, "fgdip", "--set", "max_depth=3"], walk),
}


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    corpus = tmp_path / "pages.json"
    corpus.write_text(json.dumps(PAGES))

    def run(*arguments: str) -> tuple[int, str, str]:
        given = [argument.format(corpus=corpus) for argument in arguments]
        monkeypatch.setattr("sys.argv", ["thoughtgraph", *given])
        with pytest.raises(SystemExit) as ended:
            app.main()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def untimed(file: Path) -> dict[str, Any]:
    """A result without what differs from run to run: when, how long, which run."""
    result = json.loads(file.read_text())
    result["usage"].pop("seconds")
    return {
        name: value
        for name, value in result.items()
        if name not in ("settings", "run", "date", "unused")
    }


def run_id(out: str) -> str:
    found = re.search(r"run (\S+):", out)
    assert found
    return found[1]


@pytest.mark.parametrize("low", [1, 4, 7])
@pytest.mark.parametrize("method", few(CASES, 1))
def test_a_raised_limit_gives_the_run_that_had_it_from_the_start(
    command: Any, tmp_path: Path, method: str, low: int
) -> None:
    case, one, other = CASES[method], tmp_path / "one.json", tmp_path / "other.json"
    high = ["--limit", "requests=30"]
    with FakeServer(case.reply) as whole:
        command("solve", *case.arguments, *high, "--model", whole.specifier, "--json", str(one))
    with FakeServer(case.reply) as fake:
        told = ["--limit", f"requests={low}", "--model", fake.specifier, "--json", str(other)]
        _, out, _ = command("solve", *case.arguments, *told)
        assert len(fake.answered) == low
        assert json.loads(other.read_text())["stop_reason"] == "budget"
        run = run_id(out)
        assert f"resume:   thoughtgraph solve --resume {run} --limit requests=…" in out
        code, _, err = command("solve", "--resume", run)
        assert code == 2 and "ended by its limit on requests" in err
        code, _, err = command("solve", "--resume", run, "--limit", f"requests={low}")
        assert code == 2 and "give it a higher limit on requests" in err
        other.unlink()
        _, out, _ = command("solve", "--resume", "last", *high)
        more = Counter(fake.answered) - Counter(whole.answered)
        assert not Counter(whole.answered) - Counter(fake.answered)
        # FGDIP forces an answer where a limit ends it: that alone was asked for besides.
        assert all(FORCED in prompt for prompt in more), "nothing was asked twice"
        assert more.total() == int(method == "fgdip" and low > 1)
        assert json.loads(other.read_text()).get("unused", {}).get("answers", 0) == more.total()
        assert ("paid for under a lower limit and not used here" in out) == bool(more)
    assert untimed(other) == untimed(one), "the file it was given is written again"


BFS = CASES["tot_bfs"].arguments


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("tokens=900", "tokens=none"),
        ("thoughts=5", "thoughts=20000"),
        ("rounds=1", "rounds=1000"),
    ],
)
def test_every_limit_can_be_raised(command: Any, tmp_path: Path, low: str, high: str) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    with FakeServer(play) as whole:
        command("solve", *BFS, "--limit", high, "--model", whole.specifier, "--json", str(one))
    with FakeServer(play) as fake:
        told = ["--limit", low, "--model", fake.specifier, "--json", str(other)]
        assert "resume: " in command("solve", *BFS, *told)[1]
        assert len(fake.answered) < len(whole.answered)
        command("solve", "--resume", "last", "--limit", high)
        assert sorted(fake.answered) == sorted(whole.answered)
    assert untimed(other) == untimed(one)


@pytest.mark.ci
def test_a_run_that_time_ended_goes_on_with_more_of_it(command: Any, tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    with FakeServer(play) as whole:
        command("solve", *BFS, "--model", whole.specifier, "--json", str(one))
    with FakeServer(play, after(9, Fault(hang=True))) as fake:
        told = ["--limit", "seconds=4", "--model", fake.specifier, "--json", str(other)]
        assert "resume: " in command("solve", *BFS, *told)[1]
        spent = json.loads(other.read_text())["usage"]["seconds"]
        assert 4.0 <= spent < 4.0 + 5.0, "no longer than Ctrl-C waits"
        fake.release()
        command("solve", "--resume", "last", "--limit", "seconds=300")
        assert sorted(fake.answered) == sorted(whole.answered)
        assert json.loads(other.read_text())["usage"]["seconds"] >= spent, "it counts both"
    assert untimed(other) == untimed(one)


def test_a_limit_may_be_raised_again_and_what_can_be_resumed_is_listed(
    command: Any, tmp_path: Path
) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    answers = tmp_path / "data" / "answers"
    assert command("runs")[1].startswith("no run can be resumed")
    assert "no run was stopped" in command("solve", "--resume", "last")[2]
    with FakeServer(play) as whole:
        command("solve", *BFS, "--model", whole.specifier, "--json", str(one))
    with FakeServer(play) as fake:
        _, out, _ = command(
            "solve", *BFS, "--limit", "requests=2", "--model", fake.specifier, "--json", str(other)
        )
        run = run_id(out)
        _, listed, _ = command("runs")
        assert re.match(rf"{run}  \d{{4}}-\d\d-\d\d .*  tot_bfs on game24: 4 9 10 13\n", listed)
        assert "was ended by its limit on requests" in listed
        assert f"thoughtgraph solve --resume {run} --limit requests=…" in listed
        for limit in ("5", "11"):
            command("solve", "--resume", run, "--limit", f"requests={limit}")
            assert len(fake.answered) == int(limit)
            assert json.loads(other.read_text())["usage"]["requests"] == int(limit)
        assert list(answers.iterdir())
        code, _, _ = command("solve", "--resume", run, "--limit", "requests=none")
        assert code == 0
        assert sorted(fake.answered) == sorted(whole.answered)
    result = untimed(other)
    assert result == untimed(one)
    assert command("runs")[1].startswith("no run can be resumed")
    assert not list(answers.iterdir()), "nothing of a finished run is kept"


def test_a_run_whose_model_failed_can_be_given_another_limit(command: Any, tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    with FakeServer(play) as whole:
        command("solve", *BFS, "--model", whole.specifier, "--json", str(one))
    with FakeServer(play, after(7, Fault(401))) as fake:
        told = ["--limit", "requests=8", "--model", fake.specifier, "--json", str(other)]
        assert command("solve", *BFS, *told)[0] == 1
        fake.fault = lambda seen: Fault()
        command("solve", "--resume", "last", "--limit", "requests=2000")
        assert sorted(fake.answered) == sorted(whole.answered)
    assert untimed(other) == untimed(one)


def test_a_file_for_the_result_is_kept_by_resume(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    monkeypatch.chdir(here)
    with FakeServer(play) as fake:
        command(
            "solve", *BFS, "--limit", "requests=2", "--model", fake.specifier,
            "--json", "a.json", "--html", "a.html",
        )  # fmt: skip
        (here / "a.json").unlink()
        (here / "a.html").unlink()
        monkeypatch.chdir(there)
        _, out, _ = command("solve", "--resume", "last", "--limit", "requests=none")
    assert json.loads((here / "a.json").read_text())["answer"]
    assert "</html>" in (here / "a.html").read_text()
    assert not list(there.iterdir()) and "a.html" in out


def test_what_is_kept_of_a_run_can_be_dropped(command: Any, tmp_path: Path) -> None:
    with FakeServer(play) as fake:
        told = ["solve", *BFS, "--limit", "requests=2", "--model", fake.specifier]
        first, second, third = (run_id(command(*told)[1]) for _ in range(3))
        assert command("runs", "--forget", first)[1] == f"dropped {first}\n"
        assert first not in command("runs")[1] and second in command("runs")[1]
        assert command("solve", "--resume", first, "--limit", "requests=9")[0] == 2
        code, _, err = command("runs", "--forget", first)
        assert code == 2 and "unknown run" in err
        assert command("runs", "--forget", "all")[1] == f"dropped {third}, {second}\n"
    assert command("runs")[1].startswith("no run can be resumed")
    assert not list((tmp_path / "data" / "answers").iterdir())
    with closing(sqlite3.connect(tmp_path / "data" / "checkpoints.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)
