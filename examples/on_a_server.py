"""A search on a LangGraph server, used like a graph of this process.

uv run langgraph dev
uv run python examples/on_a_server.py http://127.0.0.1:2024
"""

import asyncio
import sys

from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client

import thoughtgraph as tg


async def main(url: str, problem: str = "4 9 10 13") -> str:
    """Asks the server through a tool, as an agent would."""
    async with get_client(url=url) as client:
        ask = tg.tool(
            RemoteGraph("tot_bfs", client=client),
            name="reach_24",
            description="Reaches 24 with four numbers and + - * /.",
            context={"task": "game24", "breadth": 3},
        )
        answer = str(await ask.ainvoke({"problem": problem}))
    print(answer)
    return answer


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
