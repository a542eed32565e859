"""How time and checkpoint bytes grow with the tree.

    uv run python -m thoughtgraph.bench.speed.growth [--method tot_dfs] [--task crosswords] [SIZE …]

Grows trees of 1,000, 3,000 and 10,000 thoughts on an instant scripted model and an SQLite
checkpointer, and prints milliseconds and bytes a thought. The thoughts have 250 bytes: `tot_bfs`
takes ten levels and ten proposals a state, `tot_dfs` a tree that has ten children everywhere. With
`--task crosswords` `tot_dfs` tries six words for each row of a board, clue by clue, as the task
judges it.
"""

import argparse
import asyncio
import base64
import hashlib
import itertools
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import thoughtgraph as tg
from thoughtgraph.checkpoints import Checkpoints
from thoughtgraph.task import Prompt, Task, Verdict
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


class Instant(BaseChatModel):
    """Answers at once, by the prompt alone."""

    reply: Callable[[str], str]

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        text = self.reply(messages[-1].text)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

    async def _agenerate(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> ChatResult:
        return self._generate(messages)


class Bulk:
    """A task whose thoughts are long, distinct texts."""

    id = "bulk"

    def read(self, text: str) -> str:
        """Returns the problem as it is."""
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns the shape of the tree."""
        return SHAPES[method]

    def propose(self, problem: str, path: Thoughts, options: Mapping[str, Any]) -> Prompt:
        """Returns a prompt of the path's last thought."""
        return Prompt(path[-1]["text"] if path else problem)

    def proposals(
        self, problem: str, path: Thoughts, samples: Sequence[str], options: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Returns ten thoughts, whatever the model said."""
        stem = path[-1]["text"] if path else problem
        return [{"text": noise(f"{stem}.{i}"), "raw": ""} for i in range(FAN)]

    def value(self, problem: str, path: Thoughts) -> Prompt | Verdict:
        """Returns a prompt that no other state shares."""
        return Prompt(path[-1]["text"])

    def valued(self, problem: str, path: Thoughts, samples: Sequence[str]) -> Verdict:
        """Values all states alike."""
        return Verdict(1.0, "fine")

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
    told = {**SHAPES[method], **ENDLESS}
    if method == "tot_bfs":
        told["breadth"] = breadth(thoughts)
    else:
        told["limit_thoughts"] = thoughts
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "growth.sqlite"
        began = time.perf_counter()
        async with Checkpoints.from_conn_string(str(file)) as saver:
            graph = tg.build(method, task=task, model=Instant(reply=filled), checkpointer=saver)
            thread: Any = {"configurable": {"thread_id": "1"}}
            out = await graph.ainvoke({"problem": problem}, thread, context=told)
        spent = time.perf_counter() - began
        size = sum(part.stat().st_size for part in Path(folder).iterdir())
        return Grown(len(out["tree"]) - 1, spent, size)


def breadth(thoughts: int) -> int:
    """Returns the smallest breadth whose tree has at least so many thoughts."""

    def grown(breadth: int) -> int:
        return sum(FAN * min(breadth, FAN ** min(level, 5)) for level in range(LEVELS))

    return next(b for b in itertools.count(1) if grown(b) >= thoughts)


async def main(sizes: Sequence[int], method: str, name: str) -> None:
    """Measures and prints."""
    task: Task = Crosswords() if name == "crosswords" else Bulk()
    problem = "\n".join(f"clue {label}" for label in LABELS)
    print(f"{'thoughts':>9}{'seconds':>9}{'ms each':>9}{'MB':>8}{'bytes each':>12}")
    for size in sizes:
        made, seconds, stored = await grow(size, method, task, problem)
        each, share = 1000 * seconds / made, stored / made
        print(f"{made:9}{seconds:9.1f}{each:9.2f}{stored / 1e6:8.1f}{share:12.0f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[1_000, 3_000, 10_000])
    parser.add_argument("--method", choices=sorted(SHAPES), default="tot_bfs")
    parser.add_argument("--task", choices=["bulk", "crosswords"], default="bulk")
    given = parser.parse_args()
    if given.task == "crosswords" and given.method != "tot_dfs":
        parser.error("crosswords are searched depth first: add --method tot_dfs")
    asyncio.run(main(given.sizes, given.method, given.task))
