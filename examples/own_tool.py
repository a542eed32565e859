"""Tools of your own with costs: the informed search calls the expensive one only when it must.

uv run python examples/own_tool.py
"""

import asyncio
from pathlib import Path
from typing import Any

from langchain_core.tools import tool

import thoughtgraph as tg
from thoughtgraph.tools.costs import Priced

PAGES = Path(__file__).with_name("pages.jsonl")
"""The pages that Search and Lookup, the task's own tools, read."""
PLANS = {"starter": "2 users, 10 GB", "team": "20 users, 500 GB"}


@tool
async def price_list(product: str) -> str:
    """Looks a product's plan up in our own price list."""
    return PLANS.get(product.strip().lower(), "There is no such product.")


@tool
async def ask_sales(question: str) -> str:
    """Asks a person of the sales team; it takes them a while."""
    return f"Sales says: {question} costs 40 dollars a month."


async def main(model: Any = "openai:gpt-4o-mini") -> dict[str, Any]:
    """Asks a question that both tools can help with."""
    graph = tg.build(
        "itot_a_star",
        task="hotpotqa",
        model=model,
        # One call of the list costs 1, a question to sales 8: the search weighs that.
        tools=[price_list, Priced(ask_sales, 8.0)],
    )
    question = "How many users does the product `team` serve?"
    out: dict[str, Any] = await graph.ainvoke({"problem": question}, context={"corpus": str(PAGES)})
    print(out["answer"], "- tools cost", out["usage"]["tool_cost"])
    return out


if __name__ == "__main__":
    asyncio.run(main())
