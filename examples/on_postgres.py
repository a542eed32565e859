"""A search that outlives its process: PostgreSQL stores every step.

Run it, kill it, run it again: it continues where it stopped and repeats no answered request.

    uv add langgraph-checkpoint-postgres "psycopg[binary]"
    uv run python examples/on_postgres.py postgresql://localhost/searches
"""

import asyncio
import sys
from typing import Any

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

import thoughtgraph as tg


async def main(database: str, model: Any = "openai:gpt-4o-mini") -> dict[str, Any]:
    """Resumes the search of this thread, or starts it."""
    thread: Any = {"configurable": {"thread_id": "puzzle-4-9-10-13"}}
    async with AsyncPostgresSaver.from_conn_string(database) as saver:
        await saver.setup()
        graph = tg.build("tot_bfs", task="game24", model=model, checkpointer=saver)
        pending = (await graph.aget_state(thread)).next
        start = None if pending else {"problem": "4 9 10 13"}
        out: dict[str, Any] = await graph.ainvoke(start, thread)
    print(out["answer"], out["usage"])
    return out


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
