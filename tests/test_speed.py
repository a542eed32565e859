"""What measures speed gives every figure that it lists; no clock decides here."""

import asyncio
from dataclasses import replace

import pytest
from support.pools import few

from thoughtgraph.bench.speed import __main__ as command
from thoughtgraph.bench.speed import rollback_waits
from thoughtgraph.bench.speed.checkpoint_growth import grown_in_sqlite
from thoughtgraph.bench.speed.critical_path import Exchange, critical_path
from thoughtgraph.bench.speed.growing_trees import GROWTHS

ALL = {each.name: each for each in command.MEASUREMENTS}


QUICK = ("plan_checks", "settled_votes", "plan_searches", "checkpoints", "port", "many_problems")


@pytest.mark.parametrize("name", few(QUICK, 1))
def test_a_measurement_gives_every_figure_that_it_lists(name: str) -> None:
    measurement = ALL[name]
    under = command.conditions(measurement, command.options().parse_args(["--quick"]))
    readings = command.taken(measurement, replace(under, latency=0.0), None)
    assert set(readings) == {figure.name for figure in measurement.figures}
    assert len(readings) == len(measurement.figures) and measurement.quick < measurement.count


@pytest.mark.slow
@pytest.mark.parametrize("label", GROWTHS)
async def test_a_thought_costs_the_same_in_a_tree_three_times_as_large(label: str) -> None:
    most = min(1_200, GROWTHS[label].most)
    small, large = [await grown_in_sqlite(GROWTHS[label], size) for size in (most // 3, most)]
    assert small.thoughts >= most // 3 and large.thoughts >= most
    assert large.size / large.thoughts < 1.1 * small.size / small.thoughts


@pytest.mark.ci
@pytest.mark.parametrize(("label", "most"), [("tot_bfs", 3_000), ("tot_dfs", 8_000)])
async def test_a_thought_of_250_bytes_takes_eight_kilobytes_at_most(label: str, most: int) -> None:
    grown = await grown_in_sqlite(GROWTHS[label], 300)
    assert grown.size < most * grown.thoughts


def test_the_critical_path_follows_answers_into_prompts() -> None:
    log = [
        Exchange(0, 1, "question", ("alpha",)),
        Exchange(1, 2, "after alpha", ("beta", "zeta")),
        Exchange(1, 2, "also after alpha", ("gamma",), "tool", 0.5),
        Exchange(2, 3, "unrelated", ("delta",)),
        Exchange(2, 3, "gamma leads on", ("epsilon",)),
        Exchange(2, 3, "zeta leads on", ("eta",)),
    ]
    assert critical_path(log[:5]) == 2.5
    assert critical_path(log) == 3
    assert critical_path([]) == 0


@pytest.mark.ci
@pytest.mark.parametrize("protocol", ["two_call", "single_call"])
def test_a_search_waits_as_often_as_its_critical_path_is_long(protocol: str) -> None:
    long = 0
    for seed in range(4):
        search = asyncio.run(rollback_waits.searched(seed, 0.01, parallel=True, protocol=protocol))
        assert search.levels * 0.01 == pytest.approx(search.path(decisions=True))
        assert search.path() <= search.path(decisions=True) < 1.5 * search.path()
        if protocol == "single_call":
            assert search.path() == search.path(decisions=True), "an analysis names its own steps"
        long += len(search.log) >= 10
    assert long
