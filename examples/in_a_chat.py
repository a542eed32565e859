"""A search in a chat app: it reads the last human message and appends its answer.

uv run python examples/in_a_chat.py
"""

import asyncio
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

import thoughtgraph as tg


async def main(model: Any = "openai:gpt-4o-mini") -> list[str]:
    """Has a conversation of two questions; the checkpointer remembers the first."""
    chat = tg.build("tot_bfs", task="game24", model=model, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "conversation-1"}}
    out: dict[str, Any] = {}
    for question in ("4 9 10 13", "1 1 4 6"):
        out = await chat.ainvoke({"messages": [HumanMessage(question)]}, thread)
    texts = [message.text for message in out["messages"]]
    print("\n".join(texts))
    return texts


if __name__ == "__main__":
    asyncio.run(main())
