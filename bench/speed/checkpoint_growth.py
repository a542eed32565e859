"""Measures how time and checkpoint bytes grow with the tree, by LangGraph's own SQLite saver.

Searches on an instant scripted model grow trees of a tenth, three tenths and all of --count
thoughts. A thought is a text of 250 bytes without repetitions for a compressor. `tot_bfs` grows ten
levels with ten proposals per state, `tot_dfs` a tree with ten children at every node.
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
"""Thoughts on a path of the depth-first search: its tree then has room for 10,000 thoughts."""
PROPOSED = {"generate": "propose", "evaluate": "value", "n_evaluate": 1}
GROWTHS: Mapping[str, Mapping[str, Any]] = {
    "tot_bfs": {**PROPOSED, "steps": LEVELS},
    "tot_dfs": {
        **PROPOSED,
        **{"steps": DEEPEST, "proposal_samples": 1, "outputs": 0},
        **{"max_per_state": 100, "max_records": 100_000},
    },
}
"""The settings of the searches except limits, by method."""
ENDLESS = {"limit_requests": None, "limit_rounds": None, "limit_tokens": None}


def noise(seed: str) -> str:
    """Returns `LETTERS` bytes of pseudorandom base64 text, the same for equal seeds."""
    random_bytes = hashlib.shake_256(seed.encode()).digest(LETTERS)
    return base64.b64encode(random_bytes).decode()[:LETTERS]


class Bulk:
    """A task whose thoughts are long, distinct texts, whatever the model answers."""

    id = "bulk"

    def read(self, text: str) -> str:
        """Returns the problem as it is."""
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        """Publishes settings for `tot_bfs`, which would otherwise refuse the task."""
        return PROPOSED if method == "tot_bfs" else {}

    def propose(
        self, problem: str, path: Thoughts, options: Mapping[str, Any]
    ) -> Question[list[dict[str, Any]]]:
        """Returns a question with the path's last thought as its prompt, read as ten thoughts."""
        stem = path[-1]["text"] if path else problem
        new = [{"text": noise(f"{stem}.{i}"), "raw": ""} for i in range(FAN)]
        return Question(Prompt(stem), lambda samples: new)

    def value(self, problem: str, path: Thoughts, options: Mapping[str, Any]) -> Question[Verdict]:
        """Returns a question with a prompt of its own for each state, and one value for all."""
        return Question(Prompt(path[-1]["text"]), lambda samples: Verdict(1.0, "fine"))

    def output(self, problem: str, path: Thoughts) -> str | None:
        """Returns the last thought of a full path, else None."""
        return path[-1]["text"] if len(path) == LEVELS else None


async def grow(method: str, thoughts: int, saver: Any) -> int:
    """Grows a tree of at least so many thoughts, and few more; returns their number."""
    model = ScriptedChat(reply=lambda call: "")
    graph = tg.build(method, task=Bulk(), model=model, checkpointer=saver)
    breadth_first = method == "tot_bfs"
    size = {"breadth": breadth(thoughts)} if breadth_first else {"limit_thoughts": thoughts}
    thread: Any = {"configurable": {"thread_id": "1"}}
    settings = {**GROWTHS[method], **ENDLESS, **size}
    result = await graph.ainvoke({"problem": "How many are left?"}, thread, context=settings)
    return len(result["tree"]) - 1


def breadth(thoughts: int) -> int:
    """Returns the smallest breadth whose tree has at least so many thoughts."""

    def size(breadth: int) -> int:
        return sum(FAN * min(breadth, FAN ** min(level, 5)) for level in range(LEVELS))

    return next(b for b in itertools.count(1) if size(b) >= thoughts)


class Grown(NamedTuple):
    """The size and the cost of a tree."""

    thoughts: int
    seconds: float
    """CPU time, on which other programs have little effect."""
    size: int
    """Bytes of its checkpoints."""


async def grown_in_sqlite(method: str, thoughts: int) -> Grown:
    """Grows a tree with LangGraph's SQLite saver."""
    with tempfile.TemporaryDirectory() as folder:
        async with sqlite_saver(Path(folder) / "growth.sqlite") as saver:
            began = time.process_time()
            count = await grow(method, thoughts, saver)
            seconds = time.process_time() - began
        return Grown(count, seconds, sum(part.stat().st_size for part in Path(folder).iterdir()))


async def measured(under: Conditions) -> Sequence[Figure]:
    """Returns the cost of a thought in the largest trees, and the growth of its bytes.

    The growth is the highest ratio between the bytes per thought of a tree and those of the next
    smaller tree.
    """
    figures: list[Figure] = []
    for method in GROWTHS:
        trees = [await grown_in_sqlite(method, round(share * under.repeats)) for share in SHARES]
        bytes_per_thought = [tree.size / tree.thoughts for tree in trees]
        growth = max(large / small for small, large in itertools.pairwise(bytes_per_thought))
        last = trees[-1]
        figures += [
            Figure(f"{method}, thoughts", last.thoughts),
            Figure(f"{method}, checkpoints", bytes_per_thought[-1], "bytes/thought", most=8_000),
            Figure(f"{method}, in a tree three times as large", growth, "x", most=1.1),
            Figure(f"{method}, time", 1000 * last.seconds / last.thoughts, "CPU ms/thought"),
        ]
    return figures
