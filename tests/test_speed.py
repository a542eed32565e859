"""The command that prints targets of speed beside what was measured; no clock decides here."""

from dataclasses import replace

import pytest
from support.pools import few

from thoughtgraph.bench.speed import __main__ as command
from thoughtgraph.bench.speed.measurement import Conditions, Figure, Measurement, Readings


async def three(under: Conditions) -> Readings:
    return {"low": 1.0, "high": 3.0, "free": under.count}


FIGURES = (Figure("low", "x", most=1.05), Figure("high", "x", most=1.05), Figure("free", "s"))
MEASUREMENT = Measurement("some", "a thing", "somehow", FIGURES, 5, 1, three)
ALL = {each.name: each for each in command.MEASUREMENTS}


@pytest.fixture(autouse=True)
def one_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MEASUREMENTS", (MEASUREMENT,))


QUICK = ("plan_checks", "settled_votes", "plan_searches", "checkpoints", "port", "many_problems")


@pytest.mark.parametrize("name", few(QUICK, 1))
def test_a_measurement_gives_every_figure_that_it_lists(name: str) -> None:
    measurement = ALL[name]
    under = command.conditions(measurement, command.options().parse_args(["--quick"]))
    readings = command.taken(measurement, replace(under, latency=0.0), None)
    assert set(readings) == {figure.name for figure in measurement.figures}
    assert len(readings) == len(measurement.figures) and measurement.quick < measurement.count
