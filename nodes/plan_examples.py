"""Which worked examples a call for steps of a plan shows."""

import random
from collections.abc import Mapping
from typing import Any


def draw_shots(
    settings: Mapping[str, Any], problem: str, thought: str, index: int, library: int
) -> list[int]:
    """Returns which examples a call shows: no one twice, drawn by seed, problem and call.

    Args:
        settings: The run's settings: `seed`, `shots`, and in `redraw` whether all calls of a
            question show the same ones. They are looked up one by one: what is not looked up when
            a prompt is made is refused as a setting that changes nothing.
        thought: Id of the continued thought.
        index: Which of its continuations the call writes.
        library: How many examples there are.
    """
    call = (thought, index) if settings["redraw"] == "call" else ()
    draws = random.Random(repr((settings["seed"], problem, *call)))
    return draws.sample(range(library), min(settings["shots"], library))
