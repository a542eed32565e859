"""What measures speed gives every figure that it lists; no clock decides here."""

from dataclasses import replace

import pytest
from support.pools import few

from thoughtgraph.bench.speed import __main__ as command

ALL = {each.name: each for each in command.MEASUREMENTS}


QUICK = ("plan_checks", "settled_votes", "plan_searches", "checkpoints", "port", "many_problems")


@pytest.mark.parametrize("name", few(QUICK, 1))
def test_a_measurement_gives_every_figure_that_it_lists(name: str) -> None:
    measurement = ALL[name]
    under = command.conditions(measurement, command.options().parse_args(["--quick"]))
    readings = command.taken(measurement, replace(under, latency=0.0), None)
    assert set(readings) == {figure.name for figure in measurement.figures}
    assert len(readings) == len(measurement.figures) and measurement.quick < measurement.count
