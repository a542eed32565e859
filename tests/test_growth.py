"""Checkpoints grow with the tree, not with its square."""

import pytest

from thoughtgraph.bench.speed.checkpoint_growth import Bulk, filled, grow
from thoughtgraph.task import Task
from thoughtgraph.tasks.board import LABELS
from thoughtgraph.tasks.crosswords import Crosswords

CLUES = "\n".join(f"clue {label}" for label in LABELS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "task"),
    [("tot_bfs", Bulk()), ("tot_dfs", Bulk()), ("tot_dfs", Crosswords())],
    ids=["bulk, breadth first", "bulk", "crosswords"],
)
async def test_a_thought_costs_the_same_in_a_tree_three_times_as_large(
    method: str, task: Task
) -> None:
    small, large = [await grow(size, method, task, CLUES) for size in (400, 1_200)]
    assert (small.thoughts, large.thoughts) >= (400, 1_200)
    assert large.stored / large.thoughts < 1.1 * small.stored / small.thoughts


@pytest.mark.parametrize(("method", "most"), [("tot_bfs", 3_000), ("tot_dfs", 8_000)])
async def test_a_thought_of_250_bytes_takes_eight_kilobytes_at_most(method: str, most: int) -> None:
    grown = await grow(300, method, Bulk(), "?")
    assert grown.stored < most * grown.thoughts


def test_the_player_of_crosswords_fills_the_rows_that_are_empty() -> None:
    board = "Unfilled:\nh2. clue: _____\nv1. clue: a____\n\nFilled:\nh1. clue: abide\n"
    assert {line.split(".")[0] for line in filled(board).splitlines()} == {"h2"}
