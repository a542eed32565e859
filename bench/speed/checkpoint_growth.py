"""How time and checkpoint bytes grow with the tree, with LangGraph's own SQLite saver.

Searches on an instant scripted model grow trees of a tenth, three tenths and all of --count
thoughts. A thought is a text of 250 bytes in which no compressor finds anything. `tot_bfs` takes
ten levels and ten proposals a state, `tot_dfs` a tree that has ten children everywhere.
"""

import base64
import hashlib
import itertools
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import thoughtgraph as tg
from thoughtgraph.bench.speed.figures import Conditions, Figure
from thoughtgraph.checkpoints import sqlite_saver
from thoughtgraph.llm.scripted import ScriptedChat
from thoughtgraph.task import Prompt, Question, Verdict
from thoughtgraph.tree import Path as Thoughts

SHARES = (0.1, 0.3, 1.0)
LEVELS = 10
FAN = 10
LETTERS = 250
DEEPEST = 5
"""Thoughts on a path of the depth-first search: the widest tree has room for 10,000."""
PROPOSED = {"generate": "propose", "evaluate": "value", "n_evaluate": 1}
GROWTHS: Mapping[str, Mapping[str, Any]] = {
    "tot_bfs": {**PROPOSED, "steps": LEVELS},
    "tot_dfs": {
        **PROPOSED,
        **{"steps": DEEPEST, "proposal_samples": 1, "outputs": 0},
        **{"max_per_state": 100, "max_records": 100_000},
    },
}
"""The settings of the searches, limits apart, by their methods."""
ENDLESS = {"limit_requests": None, "limit_rounds": None, "limit_tokens": None}


def noise(seed: str) -> str:
    """Returns a text of `LETTERS` bytes in which no compressor finds anything."""
    drawn = hashlib.shake_256(seed.encode()).digest(LETTERS)
    return base64.b64encode(drawn).decode()[:LETTERS]


class Bulk:
    """A task whose thoughts are long, distinct texts, whatever the model says."""

    id = "bulk"

    def read(self, text: str) -> str:
        """Returns the problem as it is."""
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        """Publishes how `tot_bfs` is to ask, or it would refuse the task."""
        return PROPOSED if method == "tot_bfs" else {}

    def propose(
        self, problem: str, path: Thoughts, options: Mapping[str, Any]
    ) -> Question[list[dict[str, Any]]]:
        """Returns a prompt of the path's last thought; ten follow."""
        stem = path[-1]["text"] if path else problem
        new = [{"text": noise(f"{stem}.{i}"), "raw": ""} for i in range(FAN)]
        return Question(Prompt(stem), lambda samples: new)

    def value(self, problem: str, path: Thoughts, options: Mapping[str, Any]) -> Question[Verdict]:
        """Returns a prompt that no other state shares; all are valued alike."""
        return Question(Prompt(path[-1]["text"]), lambda samples: Verdict(1.0, "fine"))

    def output(self, problem: str, path: Thoughts) -> str | None:
        """Returns the last thought."""
        return path[-1]["text"] if len(path) == LEVELS else None


async def grow(method: str, thoughts: int, saver: Any) -> int:
    """Grows a tree of at least so many thoughts, and few more; returns how many it has."""
    model = ScriptedChat(reply=lambda call: "")
    graph = tg.build(method, task=Bulk(), model=model, checkpointer=saver)
    level = method == "tot_bfs"
    size = {"breadth": breadth(thoughts)} if level else {"limit_thoughts": thoughts}
    thread: Any = {"configurable": {"thread_id": "1"}}
    settings = {**GROWTHS[method], **ENDLESS, **size}
    out = await graph.ainvoke({"problem": "How many are left?"}, thread, context=settings)
    return len(out["tree"]) - 1


def breadth(thoughts: int) -> int:
    """Returns the smallest breadth whose tree has at least so many thoughts."""

    def grown(breadth: int) -> int:
        return sum(FAN * min(breadth, FAN ** min(level, 5)) for level in range(LEVELS))

    return next(b for b in itertools.count(1) if grown(b) >= thoughts)


class Grown(NamedTuple):
    """A tree, and what it took."""

    thoughts: int
    seconds: float
    """Of the CPU: another program that works meanwhile counts little."""
    size: int
    """Bytes of its checkpoints."""


async def grown_in_sqlite(method: str, thoughts: int) -> Grown:
    """Grows a tree with LangGraph's SQLite saver."""
    with tempfile.TemporaryDirectory() as folder:
        async with sqlite_saver(Path(folder) / "growth.sqlite") as saver:
            began = time.process_time()
            many = await grow(method, thoughts, saver)
            seconds = time.process_time() - began
        return Grown(many, seconds, sum(part.stat().st_size for part in Path(folder).iterdir()))


async def measured(under: Conditions) -> Sequence[Figure]:
    """Returns what a thought takes in the largest trees, and how its bytes grow.

    The latter is what a thought takes at most in a tree, in times what it takes in the next
    smaller.
    """
    figures: list[Figure] = []
    for label in GROWTHS:
        trees = [await grown_in_sqlite(label, round(share * under.repeats)) for share in SHARES]
        each = [tree.size / tree.thoughts for tree in trees]
        growing = max(large / small for small, large in itertools.pairwise(each))
        last = trees[-1]
        figures += [
            Figure(f"{label}, thoughts", last.thoughts),
            Figure(f"{label}, checkpoints", each[-1], "bytes/thought", most=8_000),
            Figure(f"{label}, in a tree three times as large", growing, "x", most=1.1),
            Figure(f"{label}, time", 1000 * last.seconds / last.thoughts, "CPU ms/thought"),
        ]
    return figures
