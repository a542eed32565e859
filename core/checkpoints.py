"""Checkpoints in an SQLite file, in a fraction of the room that LangGraph's own saver takes.

    async with Checkpoints.from_conn_string("runs.sqlite") as saver:
        graph = tg.build("tot_dfs", task="crosswords", model=…, checkpointer=saver)

LangGraph keeps a checkpoint of every superstep, and a depth-first search takes three for a thought.
Most of one is names and versions of channels; these are numbered and compressed here. Files that
LangGraph's saver wrote are read and continued, and stay as they are.
"""

import zlib
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

MARK = "+zlib"
"""What the type of a compressed value ends with."""
WORTH = 64
"""Bytes from which on a value is compressed (ours)."""
_WRITES = """
CREATE TABLE IF NOT EXISTS writes (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    task_path TEXT NOT NULL DEFAULT '',
    idx INTEGER NOT NULL,
    channel TEXT NOT NULL,
    type TEXT,
    value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
) WITHOUT ROWID
"""


class Compressing(JsonPlusSerializer):
    """LangGraph's serializer, with values compressed where that makes them smaller."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Returns a value's type, marked when it is compressed, and its bytes."""
        kind, data = super().dumps_typed(obj)
        if len(data) >= WORTH and len(short := zlib.compress(data)) + len(MARK) < len(data):
            return kind + MARK, short
        return kind, data

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Returns the value, compressed or not."""
        kind, stored = data
        if kind.endswith(MARK):
            kind, stored = kind.removesuffix(MARK), zlib.decompress(stored)
        return super().loads_typed((kind, stored))


class Checkpoints(AsyncSqliteSaver):
    """LangGraph's SQLite saver, made small."""

    serde = Compressing()

    async def setup(self) -> None:
        """Creates the tables; a row's key is stored once, not also beside the row."""
        if not self.is_setup:
            async with self.lock:
                await self.conn.execute(_WRITES)
                await self.conn.commit()
        await super().setup()

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Returns the version after `current`: a number, unless the thread began with others.

        LangGraph's saver appends a random part, for stores that share values between checkpoints
        by channel and version; a checkpoint in SQLite holds its own.
        """
        if isinstance(current, str):
            return super().get_next_version(current, channel)
        return 1 if current is None else current + 1
