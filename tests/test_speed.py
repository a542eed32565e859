"""The command that prints targets of speed beside what was measured; no clock decides here."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.pools import few

from thoughtgraph.bench.speed import __main__ as command
from thoughtgraph.bench.speed.game24_searches import PUZZLES
from thoughtgraph.bench.speed.game24_server import answer
from thoughtgraph.bench.speed.measurement import Conditions, Figure, Measurement, Readings, report
from thoughtgraph.bench.speed.plain_loop import solve
from thoughtgraph.task import Prompt
from thoughtgraph.tasks.game24.game24 import Game24


async def three(under: Conditions) -> Readings:
    return {"low": 1.0, "high": 3.0, "free": under.count}


FIGURES = (Figure("low", "x", most=1.05), Figure("high", "x", most=1.05), Figure("free", "s"))
MEASUREMENT = Measurement("some", "a thing", "somehow", FIGURES, 5, 1, three)
ALL = {each.name: each for each in command.MEASUREMENTS}


@pytest.fixture(autouse=True)
def one_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MEASUREMENTS", (MEASUREMENT,))


def test_every_target_stands_beside_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    title, head, *rows = report(MEASUREMENT, {"low": 1.0, "high": 3.0, "free": 5})
    assert title == "some: a thing"
    assert head.split() == ["figure", "unit", "target", "measured"]
    cells = [["low", "x", "≤", "1.05", "1", "kept"], ["high", "x", "≤", "1.05", "3", "missed"]]
    assert [row.split() for row in rows] == [*cells, ["free", "s", "5"]]
    assert command.main([]) == 1
    assert capsys.readouterr().out.endswith("missed: some, high\n")
    with pytest.raises(SystemExit):
        command.main(["other"])
    assert "'other' is none of some" in capsys.readouterr().err


def test_what_was_measured_is_kept_and_not_taken_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "speed.jsonl"
    command.main(["some", "--quick", "--out", str(file)])
    first = capsys.readouterr().out
    assert json.loads(file.read_text())["conditions"]["count"] == 1

    async def never(under: Conditions) -> Readings:
        raise AssertionError(under)

    monkeypatch.setattr(command, "MEASUREMENTS", (replace(MEASUREMENT, take=never),))
    file.write_text(file.read_text() + '{"name": "so')  # cut off while it was written
    command.main(["--quick", "--out", str(file)])
    assert capsys.readouterr().out == first
    with pytest.raises(AssertionError):
        command.main(["--out", str(file)])


QUICK = ("plan_checks", "settled_votes", "plan_searches", "checkpoints", "port", "many_problems")


@pytest.mark.parametrize("name", few(QUICK, 1))
def test_a_measurement_gives_every_figure_that_it_lists(name: str) -> None:
    measurement = ALL[name]
    under = command.conditions(measurement, command.options().parse_args(["--quick"]))
    readings = command.taken(measurement, replace(under, latency=0.0), None)
    assert set(readings) == {figure.name for figure in measurement.figures}
    assert len(readings) == len(measurement.figures) and measurement.quick < measurement.count


async def test_the_player_of_game24_makes_the_published_number_of_requests() -> None:
    requests = 0

    async def ask(prompt: Prompt, n: int) -> list[str]:
        nonlocal requests
        requests += 1
        return [answer(prompt.user)] * n

    task = Game24()
    for puzzle in PUZZLES:
        first, *_ = await solve(ask, puzzle)
        [read] = task.ask(puzzle, "io", {}).read([first])
        assert task.check(puzzle, read or "")
    assert requests == 75 * len(PUZZLES)
