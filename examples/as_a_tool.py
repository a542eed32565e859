"""A search as a tool of an agent: the agent reads the answer, the program keeps the tree.

uv run python examples/as_a_tool.py
"""

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool

import thoughtgraph as tg


def puzzle_tool(model: Any) -> BaseTool:
    """Returns the search as a tool."""
    return tg.tool(
        tg.build("tot_bfs", task="game24", model=model, breadth=3, limit_requests=100),
        name="reach_24",
        description="Reaches 24 with four numbers and + - * /. Give them as `4 9 10 13`.",
    )


async def main(chat: Any = None, model: Any = "openai:gpt-4o-mini") -> Any:
    """Asks the agent, and prints its answer and the size of the tree."""
    agent = create_agent(chat or "openai:gpt-4o-mini", [puzzle_tool(model)])
    question = HumanMessage("How do I make 24 of 4, 9, 10 and 13?")
    messages: list[Any] = (await agent.ainvoke({"messages": [question]}))["messages"]
    print(messages[-1].text)
    for message in messages:
        if message.type == "tool" and message.artifact:
            tree, usage = message.artifact["tree"], message.artifact["usage"]
            print(len(tree), "thoughts,", usage["requests"], "requests")
    return messages


if __name__ == "__main__":
    asyncio.run(main())
