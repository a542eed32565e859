"""The critical path of a log, and the logs that the latency figures read it off."""

import asyncio

import pytest

from thoughtgraph.bench.speed import rollback_waits
from thoughtgraph.bench.speed.critical_path import Exchange, critical_path


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
