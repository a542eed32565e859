"""How time and checkpoint bytes grow with the tree.

Grows trees of a tenth, three tenths and all of --count thoughts on an instant scripted model and an
SQLite checkpointer. The thoughts have 250 bytes: `tot_bfs` takes ten levels and ten proposals a
state, `tot_dfs` a tree that has ten children everywhere. On crosswords `tot_dfs` tries six words
for each row of a board, clue by clue, as the task judges it.
"""

import base64
import hashlib
import itertools
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import thoughtgraph as tg
from thoughtgraph.bench.speed.critical_path import DelayedModel, Reply
from thoughtgraph.bench.speed.measurement import Conditions, Figure, Measurement, Readings
from thoughtgraph.checkpoints import opened
from thoughtgraph.task import Prompt, Question, Task, Verdict
from thoughtgraph.tasks.board import LABELS, SIZE
from thoughtgraph.tasks.crosswords import Crosswords
from thoughtgraph.tree import Path as Thoughts

LEVELS = 10
FAN = 10
LETTERS = 250
DEEPEST = 5
"""Thoughts on a path of the depth-first searches: the widest tree has room for 10,000."""
WORDS = ("abide", "tenor", "local", "super", "organ", "mirth")

SHAPES: Mapping[str, Mapping[str, Any]] = {
    "tot_bfs": {"steps": LEVELS, "generate": "propose", "evaluate": "value", "n_evaluate": 1},
    "tot_dfs": {
        "steps": DEEPEST,
        "proposal_samples": 1,
        "n_evaluate": 1,
        "outputs": 0,
        "max_per_state": 100,
        "max_records": 100_000,
    },
}
"""The settings of each method that the trees grow under, whatever the task publishes."""
ENDLESS = {"limit_requests": None, "limit_rounds": None, "limit_tokens": None}


class Bulk:
    """A task whose thoughts are long, distinct texts."""

    id = "bulk"

    def read(self, text: str) -> str:
        """Returns the problem as it is."""
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns the shape of the tree."""
        return SHAPES[method]

    def propose(
        self, problem: str, path: Thoughts, options: Mapping[str, Any]
    ) -> Question[list[dict[str, Any]]]:
        """Returns a prompt of the path's last thought; ten follow, whatever the model says."""
        stem = path[-1]["text"] if path else problem
        new = [{"text": noise(f"{stem}.{i}"), "raw": ""} for i in range(FAN)]
        return Question(Prompt(stem), lambda samples: new)

    def value(self, problem: str, path: Thoughts, options: Mapping[str, Any]) -> Question[Verdict]:
        """Returns a prompt that no other state shares; all are valued alike."""
        return Question(Prompt(path[-1]["text"]), lambda samples: Verdict(1.0, "fine"))

    def output(self, problem: str, path: Thoughts) -> str | None:
        """Returns the last thought."""
        return path[-1]["text"] if len(path) == LEVELS else None


def noise(seed: str) -> str:
    """Returns a text of `LETTERS` bytes in which no compressor finds anything, as in a good one."""
    drawn = hashlib.shake_256(seed.encode()).digest(LETTERS)
    return base64.b64encode(drawn).decode()[:LETTERS]


def filled(prompt: str) -> str:
    """Plays crosswords: six words for each row that has none yet, and no clue is impossible."""
    if "Unfilled:" not in prompt:
        return "maybe"
    still = prompt.rpartition("Unfilled:")[2].partition("Filled:")[0]
    rows = [label for label in LABELS[:SIZE] if f"{label}. " in still]
    return "\n".join(f"{row}. {word} (low)" for row in rows for word in WORDS)


class Grown(NamedTuple):
    """A tree, and what it took."""

    thoughts: int
    seconds: float
    stored: int
    """Bytes of checkpoints."""


async def grow(thoughts: int, method: str, task: Task, problem: str) -> Grown:
    """Grows a tree of at least so many thoughts, or of exactly so many depth first."""
    context = {**SHAPES[method], **ENDLESS}
    model = DelayedModel(answer=lambda asked: Reply(filled(asked.prompt)))
    if method == "tot_bfs":
        context["breadth"] = breadth(thoughts)
    else:
        context["limit_thoughts"] = thoughts
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "growth.sqlite"
        began = time.perf_counter()
        async with opened(file) as saver:
            graph = tg.build(method, task=task, model=model, checkpointer=saver)
            thread: Any = {"configurable": {"thread_id": "1"}}
            out = await graph.ainvoke({"problem": problem}, thread, context=context)
        spent = time.perf_counter() - began
        size = sum(part.stat().st_size for part in Path(folder).iterdir())
        return Grown(len(out["tree"]) - 1, spent, size)


def breadth(thoughts: int) -> int:
    """Returns the smallest breadth whose tree has at least so many thoughts."""

    def grown(breadth: int) -> int:
        return sum(FAN * min(breadth, FAN ** min(level, 5)) for level in range(LEVELS))

    return next(b for b in itertools.count(1) if grown(b) >= thoughts)


async def measured(under: Conditions) -> Readings:
    """Returns bytes and milliseconds a thought of the largest trees, and how much the bytes grow.

    The last is what a thought takes at most in a tree, in times what it takes in the next smaller.
    """
    readings: dict[str, float] = {}
    for label, method, task, most in SEARCHES:
        bytes_each: list[float] = []
        for share in (0.1, 0.3, 1.0):
            size = min(round(share * under.count), most)
            thoughts, seconds, stored = await grow(size, method, task, CLUES)
            bytes_each.append(stored / thoughts)
            readings[f"{label}, time"] = 1000 * seconds / thoughts
        readings[f"{label}, checkpoints"] = bytes_each[-1]
        growth = max(large / small for small, large in itertools.pairwise(bytes_each))
        readings[f"{label}, checkpoints in a tree three times as large"] = growth
    return readings


CLUES = "\n".join(f"clue {label}" for label in LABELS)
SEARCHES: tuple[tuple[str, str, Task, int], ...] = (
    ("tot_bfs", "tot_bfs", Bulk(), 100_000),
    ("tot_dfs", "tot_dfs", Bulk(), 100_000),
    ("tot_dfs on crosswords", "tot_dfs", Crosswords(), 3_000),
)
"""Label, method, task and the most thoughts of a tree."""
CHECKPOINTS = Measurement(
    "checkpoints",
    "bytes of SQLite and milliseconds that a thought of 250 bytes takes, as the tree grows",
    "trees of 1,000, 3,000 and 10,000 thoughts (--count), crosswords of 3,000 at most",
    tuple(
        figure
        for label, *_ in SEARCHES
        for figure in (
            Figure(f"{label}, checkpoints", "bytes/thought", most=8_000),
            Figure(f"{label}, checkpoints in a tree three times as large", "x", most=1.1),
            Figure(f"{label}, time", "ms/thought"),
        )
    ),
    count=10_000,
    quick=300,
    take=measured,
)
