"""Takes a run that ended in an error back to before the requests that failed."""

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from thoughtgraph.building import Graph


async def rewind(graph: Graph, saver: AsyncSqliteSaver, config: RunnableConfig) -> None:
    """Undoes the end of a run whose model failed, if it ended so.

    What is left is what a killed process leaves: the step in which requests failed, with the
    answers that came beside them. LangGraph goes on from there and repeats the others alone.

    Args:
        graph: The run's graph.
        saver: Where its checkpoints are.
        config: Names the run.
    """
    if (await graph.aget_state(config)).values.get("stop_reason") != "error":
        return
    async for past in graph.aget_state_history(config):
        if not past.values.get("stop_reason"):
            await _cut_back(saver, past.config)
            return


async def _cut_back(saver: AsyncSqliteSaver, kept: RunnableConfig) -> None:
    """Drops what came after a checkpoint, and what its failed tasks wrote."""
    held = await saver.aget_tuple(kept)
    writes = [] if held is None else held.pending_writes or []
    failed = {task for task, channel, value in writes if channel == "error" and value}
    thread, at = kept["configurable"]["thread_id"], kept["configurable"]["checkpoint_id"]
    async with saver.lock:
        for table in ("checkpoints", "writes"):
            await saver.conn.execute(
                f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id > ?",
                (thread, at),
            )
        await saver.conn.executemany(
            "DELETE FROM writes WHERE thread_id = ? AND checkpoint_id = ? AND task_id = ?",
            [(thread, at, task) for task in failed],
        )
        await saver.conn.commit()
