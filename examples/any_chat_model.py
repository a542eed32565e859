"""Any chat model of LangChain: one proposes, and another on your own server judges.

Every `BaseChatModel` works, such as `ChatAnthropic`.

    uv run python examples/any_chat_model.py http://localhost:8000/v1
"""

import asyncio
import sys
from typing import Any

from langchain_openai import ChatOpenAI

import thoughtgraph as tg

PRICES = {"gpt-4o-mini": [0.15, 0.6], "small-judge": [0.05, 0.2]}
"""Dollars per million tokens of prompts and of completions, for models without a known price."""


async def main(judge_at: str = "", proposes: Any = None, judges: Any = None) -> dict[str, Any]:
    """Builds the graph around two model objects."""
    graph = tg.build(
        "tot_bfs",
        task="game24",
        model=proposes or ChatOpenAI(model="gpt-4o-mini"),
        evaluator_model=judges or ChatOpenAI(model="small-judge", base_url=judge_at),
    )
    out: dict[str, Any] = await graph.ainvoke({"problem": "4 9 10 13"}, context={"prices": PRICES})
    print(out["answer"], out["usage"])
    return out


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
