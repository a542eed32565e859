"""A run that a limit ended is resumed with a higher one: as if it had had that from the start."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.clock import set_clock
from support.command import Command
from support.drawing import PAGES, scribble, steps, walk
from support.fake_server import FakeServer, Seen
from support.players import play
from support.pools import few

from thoughtgraph.bench.questions.scene_questions import generate

FORCED = "no more can be taken"
"""What the prompt says that forces an answer of FGDIP."""


class Case(NamedTuple):
    """A search of some requests: what the command is told, and how its model answers."""

    arguments: list[str]
    reply: Callable[[Seen], Any]


PAGED = ["Is A near B?", "--task", "hotpotqa", "--set", "corpus=pages.json", "--method"]
PUZZLE = ["4 9 10 13", "--task", "game24", "--method"]
PLAN = [generate("ptr", "sum", 1, 2)[0].problem(), "--task", "ptr", "--method", "tomt_os"]
PLAN += ["--set", "max_calls=12", "--set", "branches=12"]
CASES = {
    "tot_bfs": Case([*PUZZLE, "tot_bfs", "--set", "breadth=3"], play),
    "tot_dfs": Case([*PUZZLE, "tot_dfs", "--set", "outputs=3"], play),
    "tomt_os": Case(PLAN, scribble),
    "rollback": Case(["One? Two.", "--task", "gsm8k", "--method", "rollback"], steps),
    "itot_a_star": Case([*PAGED, "itot_a_star", "--set", "rounds=6"], walk),
    "fgdip": Case([*PAGED, "fgdip", "--set", "max_depth=3"], walk),
}
BFS = CASES["tot_bfs"]


@pytest.fixture(autouse=True)
def folder(own_environment: None, tmp_path: Path) -> None:
    """Pages in the folder where the command runs."""
    (tmp_path / "pages.json").write_text(json.dumps(PAGES))


def untimed(file: str) -> dict[str, Any]:
    """A result without what differs from run to run: when, how long, which run."""
    result = json.loads(Path(file).read_text())
    result["usage"].pop("seconds")
    for name in ("settings", "run", "date", "unused"):
        result.pop(name, None)
    return dict(result)


def run_id(out: str) -> str:
    return str(re.findall(r"run (\S+):", out)[0])


def solve(command: Command, server: FakeServer, case: Case, *limit: str, file: str) -> str:
    """Begins a run, whose result goes to a file; returns the command's output."""
    limits = ["--limit", *limit] if limit else []
    told = [*case.arguments, *limits, "--model", server.specifier, "--json", file]
    return command("solve", *told)[1]


def undisturbed(command: Command, case: Case, *limit: str) -> list[str]:
    """Writes the result of a run to `one.json`; returns the prompts that were answered."""
    with FakeServer(case.reply) as server:
        solve(command, server, case, *limit, file="one.json")
    return server.answered


@pytest.mark.parametrize("low", [*few([4, 1], 1), pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", few(CASES, 1))
def test_a_raised_limit_gives_the_run_that_had_it_from_the_start(
    command: Command, method: str, low: int
) -> None:
    case = CASES[method]
    whole = undisturbed(command, case, "requests=30")
    with FakeServer(case.reply) as fake:
        out = solve(command, fake, case, f"requests={low}", file="other.json")
        assert len(fake.answered) == low
        assert json.loads(Path("other.json").read_text())["stop_reason"] == "budget"
        run = run_id(out)
        assert f"resume:   thoughtgraph solve --resume {run} --limit requests=…" in out
        code, _, err = command("solve", "--resume", run)
        assert code == 2 and "ended by its limit on requests" in err
        code, _, err = command("solve", "--resume", run, "--limit", f"requests={low}")
        assert code == 2 and "give it a higher limit on requests" in err
        Path("other.json").unlink()
        _, out, _ = command("solve", "--resume", "last", "--limit", "requests=30")
    more = Counter(fake.answered) - Counter(whole)
    assert not Counter(whole) - Counter(fake.answered)
    # FGDIP forces an answer where a limit ends it: that alone was asked for besides.
    assert all(FORCED in prompt for prompt in more), "nothing was asked twice"
    assert more.total() == int(method == "fgdip" and low > 1)
    unused = json.loads(Path("other.json").read_text()).get("unused", {})
    assert unused.get("answers", 0) == more.total()
    assert ("paid for under a lower limit and not used here" in out) == bool(more)
    assert untimed("other.json") == untimed("one.json"), "the file is written again"


RAISED = [
    ("thoughts=5", "thoughts=20000"),
    ("tokens=900", "tokens=none"),
    ("rounds=1", "rounds=1000"),
]


@pytest.mark.parametrize("limits", few(RAISED, 1), ids=" to ".join)
def test_every_limit_can_be_raised(command: Command, limits: tuple[str, str]) -> None:
    low, high = limits
    whole = undisturbed(command, BFS, high)
    with FakeServer(play) as fake:
        assert "resume: " in solve(command, fake, BFS, low, file="other.json")
        assert len(fake.answered) < len(whole)
        command("solve", "--resume", "last", "--limit", high)
    assert sorted(fake.answered) == sorted(whole)
    assert untimed("other.json") == untimed("one.json")


@pytest.mark.ci
def test_a_run_that_time_ended_goes_on_with_more_of_it(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = undisturbed(command, BFS)
    with FakeServer(play) as fake:

        def clock() -> float:
            """A second goes by with every answer, and a long time with the ninth."""
            return len(fake.answered) + 400.0 * (len(fake.answered) >= 9)

        set_clock(clock, monkeypatch)
        assert "resume: " in solve(command, fake, BFS, "seconds=300", file="other.json")
        assert len(fake.answered) < len(whole)
        spent = json.loads(Path("other.json").read_text())["usage"]["seconds"]
        assert spent >= 300.0
        command("solve", "--resume", "last", "--limit", "seconds=3000")
    assert sorted(fake.answered) == sorted(whole)
    assert json.loads(Path("other.json").read_text())["usage"]["seconds"] > spent, "it counts both"
    assert untimed("other.json") == untimed("one.json")


def test_a_limit_may_be_raised_again_and_what_can_be_resumed_is_listed(command: Command) -> None:
    assert "no run was stopped" in command("solve", "--resume", "last")[2]
    whole = undisturbed(command, BFS)
    with FakeServer(play) as fake:
        run = run_id(solve(command, fake, BFS, "requests=2", file="other.json"))
        _, listed, _ = command("runs")
        assert re.match(rf"{run}  \d{{4}}-\d\d-\d\d .*  tot_bfs on game24: 4 9 10 13\n", listed)
        assert "was ended by its limit on requests" in listed
        assert f"thoughtgraph solve --resume {run} --limit requests=…" in listed
        for limit in (5, 11):
            command("solve", "--resume", run, "--limit", f"requests={limit}")
            usage = json.loads(Path("other.json").read_text())["usage"]
            assert len(fake.answered) == usage["requests"] == limit
        assert list(Path("data/runs", run).iterdir())
        assert command("solve", "--resume", run, "--limit", "requests=none")[0] == 0
    assert sorted(fake.answered) == sorted(whole)
    assert untimed("other.json") == untimed("one.json")
    assert f"thoughtgraph view {run}" in command("runs")[1]
    kept = {each.name for each in Path("data/runs", run).iterdir()}
    assert kept == {"run.json", "result.json"}, "what a finished run is seen by is kept"
    for named in ("last", run):
        assert command("view", named)[1] == f"wrote {run}.html (1 search tree)\n"


def test_a_file_for_the_result_is_kept_by_resume(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    with FakeServer(play) as fake:
        case = Case([*BFS.arguments, "--html", "a.html"], play)
        solve(command, fake, case, "requests=2", file="a.json")
        for name in ("a.json", "a.html"):
            Path(name).unlink()
        monkeypatch.chdir("there")
        _, out, _ = command("solve", "--resume", "last", "--limit", "requests=none")
    assert json.loads((tmp_path / "a.json").read_text())["answer"]
    assert "</html>" in (tmp_path / "a.html").read_text()
    assert not list(Path().iterdir()) and "a.html" in out


def test_what_is_kept_of_a_run_can_be_dropped(command: Command) -> None:
    with FakeServer(play) as fake:
        runs = [run_id(solve(command, fake, BFS, "requests=2", file="x.json")) for _ in range(3)]
        first, second, third = runs
        assert command("runs", "rm", first)[1] == f"deleted {first}\n"
        assert first not in command("runs")[1] and second in command("runs")[1]
        assert command("solve", "--resume", first, "--limit", "requests=9")[0] == 2
        code, _, err = command("runs", "rm", first)
        assert code == 2 and "there is no run" in err
        assert command("runs", "rm", "all")[1] == f"deleted {third}, {second}\n"
    assert command("runs")[1].startswith("there are no runs")
    assert not list(Path("data/runs").iterdir())
