"""The measurements of speed run and end as they should; no clock decides here."""

import asyncio
from math import isfinite

import pytest

from thoughtgraph.bench.speed import __main__ as command
from thoughtgraph.bench.speed.checkpoint_growth import GROWTHS, grown_in_sqlite
from thoughtgraph.bench.speed.figures import Conditions, Figure


@pytest.mark.parametrize(
    ("name", "count"),
    [
        pytest.param("throughput", 1, marks=pytest.mark.ci),
        pytest.param("latency", 1, marks=pytest.mark.slow),
    ],
)
def test_a_measurement_gives_figures_of_different_names(name: str, count: int) -> None:
    taken = command.MEASUREMENTS[name].take(Conditions(count, latency=0.001))
    figures = asyncio.run(taken)
    assert len({figure.name for figure in figures}) == len(figures) > 0
    # A share of time may be nothing, or less, on a busy machine.
    assert all(isfinite(figure.value) for figure in figures)


def test_what_is_above_or_below_its_bound_is_missed() -> None:
    assert Figure("x", 2.0, most=1.0).missed() and Figure("x", 2.0, least=3.0).missed()
    assert not Figure("x", 2.0).missed() and not Figure("x", 2.0, most=2.0, least=2.0).missed()
    with pytest.raises(SystemExit):
        command.main(["latencies"])


@pytest.mark.slow
@pytest.mark.parametrize("label", GROWTHS)
async def test_a_thought_costs_the_same_in_a_tree_three_times_as_large(label: str) -> None:
    small, large = [await grown_in_sqlite(label, size) for size in (400, 1_200)]
    assert small.thoughts >= 400 and large.thoughts >= 1_200
    assert large.size / large.thoughts < 1.1 * small.size / small.thoughts


@pytest.mark.ci
@pytest.mark.parametrize(("label", "most"), [("tot_bfs", 3_000), ("tot_dfs", 8_000)])
async def test_a_thought_of_250_bytes_takes_eight_kilobytes_at_most(label: str, most: int) -> None:
    grown = await grown_in_sqlite(label, 300)
    assert grown.size < most * grown.thoughts
