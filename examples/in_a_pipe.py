"""A search between other steps of LangChain.

uv run python examples/in_a_pipe.py
"""

import asyncio
from operator import itemgetter
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda

import thoughtgraph as tg


def as_problem(numbers: list[int]) -> dict[str, str]:
    """Writes numbers in the form that the task reads."""
    return {"problem": " ".join(map(str, numbers))}


def pipe(model: Any) -> Runnable[Any, Any]:
    """Returns the pipe: from numbers to a formula."""
    # `runnable` lifts the limit of 25 steps that LangChain puts on a graph inside a pipe.
    search = tg.runnable(tg.build("tot_bfs", task="game24", model=model, breadth=3))
    return RunnableLambda(as_problem) | search | RunnableLambda(itemgetter("answer"))


async def main(model: Any = "openai:gpt-4o-mini") -> list[Any]:
    """Sends two problems through the pipe, side by side."""
    answers = await pipe(model).abatch([[4, 9, 10, 13], [1, 1, 4, 6]])
    print(answers)
    return answers


if __name__ == "__main__":
    asyncio.run(main())
