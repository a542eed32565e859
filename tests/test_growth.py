"""Checkpoints grow with the tree, not with its square."""

import pytest

from thoughtgraph.bench.speed.checkpoint_growth import grown_in_sqlite
from thoughtgraph.bench.speed.growing_trees import GROWTHS


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
