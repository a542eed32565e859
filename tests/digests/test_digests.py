"""No search has changed: trees, outcomes, usage and prompts, by digests that are kept.

`python -m digests` in `tests` tells the result behind one digest, and takes them all anew.
"""

import json
from pathlib import Path

import pytest
from digests import situations
from digests.searches import own
from support.pools import SEEDS

from thoughtgraph import registry

KEPT: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "digests.json").read_text())
"""By method, and by situation or task: four digits for each seed from 0 on."""
CELLS = [(method, cell) for method, cells in KEPT.items() for cell in cells if cell != "seconds"]


def kept(method: str, cell: str, seed: int) -> str:
    return KEPT[method][cell][4 * seed : 4 * seed + 4]


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize(("method", "cell"), CELLS)
async def test_a_search_is_what_it_was(method: str, cell: str, seeds: range) -> None:
    for seed in seeds:
        result = await situations.result(method, cell, seed)
        assert situations.digest(result) == kept(method, cell, seed), f"seed {seed}"


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("method", registry.METHODS)
def test_a_search_whose_time_is_up_is_what_it_was(method: str, seeds: range) -> None:
    for seed in seeds:
        result = situations.late(own(method, seed), seed)
        assert situations.digest(result) == kept(method, "seconds", seed), f"seed {seed}"


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("method", registry.METHODS)
async def test_a_search_stopped_after_every_step_is_the_same(method: str, seeds: range) -> None:
    for seed in seeds:
        result = await situations.resumed(own(method, seed))
        assert situations.digest(result) == kept(method, "whole", seed), f"seed {seed}"
