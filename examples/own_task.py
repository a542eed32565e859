"""A task of your own for a tree search: how to ask the model, and how to read its answers.

uv run python examples/own_task.py
uv run thoughtgraph solve "the sea" --task examples/own_task.py:Haiku --method tot_bfs
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import thoughtgraph as tg
from thoughtgraph.task import Prompt, Question, Verdict
from thoughtgraph.tree import Path

LINES = 3


class Haiku:
    """Writes a poem of three lines about a subject, line by line."""

    id = "haiku"

    def read(self, text: str) -> str:
        """Returns the subject without spaces around it."""
        return text.strip()

    def published(self, method: str) -> Mapping[str, Any]:
        """Returns this task's own defaults for the settings of a method."""
        own = {"generate": "propose", "evaluate": "value", "steps": LINES, "breadth": 2}
        return own if method == "tot_bfs" else {}

    def propose(
        self, problem: str, path: Path, options: Mapping[str, Any]
    ) -> Question[list[dict[str, Any]]]:
        """Asks for next lines, each of which becomes a thought."""
        prompt = f"{_poem(problem, path)}\nWrite five different next lines, one a line."
        return Question(Prompt(prompt), _lines)

    def value(self, problem: str, path: Path, options: Mapping[str, Any]) -> Question[Verdict]:
        """Asks how good the poem is so far."""
        prompt = f"{_poem(problem, path)}\nHow good is this? A number from 1 to 10."
        return Question(Prompt(prompt), _mark)

    def output(self, problem: str, path: Path) -> str | None:
        """Returns the whole poem once it has all its lines."""
        return "\n".join(line["text"] for line in path) if len(path) == LINES else None


def _poem(problem: str, path: Path) -> str:
    return "\n".join([f"A haiku about {problem}:", *(line["text"] for line in path)])


def _lines(samples: Sequence[str]) -> list[dict[str, Any]]:
    return [{"text": line} for line in samples[0].splitlines() if line.strip()]


def _mark(samples: Sequence[str]) -> Verdict:
    marks = [int(sample) for sample in samples if sample.strip().isdigit()]
    return Verdict(sum(marks), malformed=len(samples) - len(marks))


async def main(model: Any = "openai:gpt-4o-mini") -> str:
    """Writes a haiku."""
    out = await tg.build("tot_bfs", task=Haiku(), model=model).ainvoke({"problem": "the sea"})
    print(out["answer"])
    return str(out["answer"])


if __name__ == "__main__":
    asyncio.run(main())
