"""What `thoughtgraph demo` shows: a real search, small enough for a laptop."""

import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

TASK = "ptr"
METHOD = "tomt_os"
SETTINGS: Mapping[str, Any] = {
    "seed": 2,
    "evaluator": "grounded",
    "branches": 3,
    "shots": 3,
    "redraw": "question",
    "layout": "turns",
    "temperature": 1.3,
    "max_completion_tokens": 300,
}
"""Ours, for a small model on two cores: three examples, which a server need not read again for
each call, an evaluator that refuses what the model made up, and varied tries, because a weak model
repeats its mistakes. The rest of the search is the paper's: b = 3, T = 30, sn = 2. The seed is one
whose search goes back; the embedded model's sampling follows it, so the command shows that again.
More examples or an easier question make the first plan right more often, and leave less to see;
fewer make the search end without an answer."""


class Demonstration(NamedTuple):
    """A problem and its gold answer, which only the command sees."""

    problem: str
    gold: str


def demonstration(seed: int) -> Demonstration:
    """Returns the question about a scene that a seed shows; there are 32."""
    known = _demonstrations()
    return known[seed % len(known)]


@cache
def _demonstrations() -> list[Demonstration]:
    """Reads the questions, made by `python -m thoughtgraph.bench.questions.packaged_questions`."""
    text = files("thoughtgraph.cli").joinpath("demo.json").read_text(encoding="utf-8")
    return [
        Demonstration(json.dumps(entry["problem"]), entry["gold"]) for entry in json.loads(text)
    ]


def next_steps() -> tuple[str, ...]:
    """Returns lines on what to try after the demonstration, as commands that work as they are.

    Under `uv run` the commands begin with it: nothing else may know where `thoughtgraph` is.
    """
    command = "uv run thoughtgraph" if "UV_RUN_RECURSION_DEPTH" in os.environ else "thoughtgraph"
    return (
        f"{command} view last --open   (the page of this search)",
        f"{command} demo --set seed=7   (another of 32 scenes)",
        f'{command} solve "Was Aristotle born before the first computer?" --task strategyqa',
    )
