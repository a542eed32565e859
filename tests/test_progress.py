"""How far the model is: what llama.cpp reports, and what is shown of it or of any other model."""

from typing import Any

import pytest
from support.frames import frame, watching

from thoughtgraph.cli.screen import progress
from thoughtgraph.cli.screen.progress import Slot, slots_of
from thoughtgraph.tree import ROOT, root


def slot(prompt: int, cached: int, read: int, written: int, left: int) -> dict[str, Any]:
    """One slot of `/slots`, as llama.cpp reports it."""
    return {
        "id": 0,
        "is_processing": True,
        "n_prompt_tokens": prompt + written,
        "n_prompt_tokens_cache": cached,
        "n_prompt_tokens_processed": read,
        "next_token": [{"has_next_token": True, "n_decoded": written, "n_remain": left}],
    }


def test_the_servers_report_is_read() -> None:
    idle = {"id": 1, "is_processing": False}
    slots = [slot(464, 100, 128, 0, 300), slot(464, 0, 464, 9, 3), idle]
    assert slots_of(slots) == [Slot(228, 0, 300), Slot(464, 9, 12)]


@pytest.mark.parametrize("odd", [None, {}, "x", [None], [{"is_processing": True}], [[1]]])
def test_a_report_that_is_none_is_no_work(odd: object) -> None:
    assert slots_of(odd) == []


def test_the_bar_says_what_is_known_and_no_more() -> None:
    reading = progress.line([Slot(232, 0, 300), Slot(8, 0, 300)], 4.0)
    assert reading.endswith(" 240 prompt tokens read, 4 s")
    writing = progress.line([Slot(9, 25, 100), Slot(9, 25, 100), Slot(5, 0, 9)], 7.2)
    assert writing.endswith(" 50 tokens written, 200 at most, 7 s")
    unknown = [progress.line([], waited) for waited in (0.0, 2.0, 4.0, 9.5, 11.0)]
    assert all("%" not in each and "waiting for the model" in each for each in unknown)
    assert len({each[: progress.WIDTH] for each in unknown}) == len(unknown), "it moves"
    assert progress.line([], 0.0, fancy=False).isascii()


def test_a_frame_shows_the_bar_while_a_node_is_at_work() -> None:
    watch = watching({ROOT: root()})
    watch.apply("tasks", {"id": "1", "name": "generate", "input": {"thought": ROOT}})
    assert not any("prompt tokens" in line for line in frame(watch))
    watch.slots = [Slot(232, 0, 300)]
    assert any("232 prompt tokens read" in line for line in frame(watch))
