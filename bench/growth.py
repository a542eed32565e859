"""How time and checkpoint bytes grow with the tree.

    uv run python -m thoughtgraph.bench.growth

Grows trees of 1,000, 3,000 and 10,000 thoughts of 250 bytes with `tot_bfs` (ten levels, ten
proposals a state) on an instant scripted model and an SQLite checkpointer, and prints seconds and
bytes a thought.
"""

import argparse
import asyncio
import itertools
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import thoughtgraph as tg
from thoughtgraph.task import Prompt, Verdict
from thoughtgraph.tree import Path as Thoughts

LEVELS = 10
FAN = 10
LETTERS = 250


class Instant(BaseChatModel):
    """Answers at once, always the same."""

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("ok"))])

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate()


class Bulk:
    """A task whose thoughts are long, distinct texts."""

    id = "bulk"

    def read(self, text: str) -> str:
        """Returns the problem as it is."""
        return text

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns the shape of the tree."""
        return {
            "steps": LEVELS,
            "generate": "propose",
            "evaluate": "value",
            "n_evaluate": 1,
            "limit_requests": None,
        }

    def propose(self, problem: str, path: Thoughts, options: Mapping[str, Any]) -> Prompt:
        """Returns a prompt of the path's last thought."""
        return Prompt(path[-1]["text"] if path else problem)

    def proposals(
        self, problem: str, path: Thoughts, samples: Sequence[str], options: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Returns ten thoughts, whatever the model said."""
        stem = path[-1]["text"].rstrip("x") if path else "t"
        return [{"text": f"{stem}.{i}".ljust(LETTERS, "x"), "raw": ""} for i in range(FAN)]

    def value(self, problem: str, path: Thoughts) -> Prompt | Verdict:
        """Returns a prompt that no other state shares."""
        return Prompt(path[-1]["text"])

    def valued(self, problem: str, path: Thoughts, samples: Sequence[str]) -> Verdict:
        """Values all states alike."""
        return Verdict(1.0, "fine")

    def output(self, problem: str, path: Thoughts) -> str | None:
        """Returns the last thought."""
        return path[-1]["text"] if len(path) == LEVELS else None


async def grow(thoughts: int) -> tuple[int, float, float]:
    """Returns thoughts made, seconds and checkpoint bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "growth.sqlite"
        began = time.perf_counter()
        async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
            graph = tg.build("tot_bfs", task=Bulk(), model=Instant(), checkpointer=saver)
            context = {"breadth": breadth(thoughts)}
            thread: Any = {"configurable": {"thread_id": "1"}}
            out = await graph.ainvoke({"problem": "p"}, thread, context=context)
        spent = time.perf_counter() - began
        size = sum(part.stat().st_size for part in Path(folder).iterdir())
        return len(out["tree"]) - 1, spent, size


def breadth(thoughts: int) -> int:
    """Returns the smallest breadth whose tree has at least so many thoughts."""

    def grown(breadth: int) -> int:
        return sum(FAN * min(breadth, FAN ** min(level, 5)) for level in range(LEVELS))

    return next(b for b in itertools.count(1) if grown(b) >= thoughts)


async def main(sizes: Sequence[int]) -> None:
    """Measures and prints."""
    print(f"{'thoughts':>9}{'seconds':>9}{'ms each':>9}{'MB':>8}{'kB each':>9}")
    for size in sizes:
        made, seconds, stored = await grow(size)
        each, kilobytes = 1000 * seconds / made, stored / made / 1000
        print(f"{made:9}{seconds:9.1f}{each:9.2f}{stored / 1e6:8.1f}{kilobytes:9.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[1_000, 3_000, 10_000])
    asyncio.run(main(parser.parse_args().sizes))
