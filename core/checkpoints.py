"""Checkpoints in an SQLite file, in a fraction of the room that LangGraph's own saver takes.

    async with Checkpoints.from_conn_string("runs.sqlite") as saver:
        graph = tg.build("tot_dfs", task="crosswords", model=…, checkpointer=saver)

LangGraph keeps a checkpoint of every superstep, and a depth-first search takes two for a thought.
Most of one are names that the one before had too, and the ids of its rows. So a file has a table in
which every name and id stands once, rows that refer to it, and values compressed with an earlier
checkpoint as their dictionary. LangGraph's saver reads and writes two tables; here these are views.
"""

import zlib
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, get_checkpoint_id
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

EVERY, FIRST = 1_000, 20
"""Of so many checkpoints of a file one, the twentieth, becomes the dictionary of later ones (ours).

By then a search has been through most of its nodes, whose names a checkpoint lists.
"""
WINDOW = 32_768
"""Bytes of a dictionary that deflating can refer to."""
RAW = -zlib.MAX_WBITS
"""Deflated bytes without header and checksum; SQLite's file has none either."""
PLAIN, DEFLATED = b"\0", b"\1"
"""What a kept value begins with."""
_SCHEMA = f"""
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS names (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS samples (n INTEGER PRIMARY KEY, sample BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS checkpoint_rows (
    n INTEGER PRIMARY KEY,
    thread INTEGER, ns INTEGER, id INTEGER, parent INTEGER,
    type INTEGER, sample INTEGER, checkpoint BLOB, metadata BLOB,
    UNIQUE (thread, ns, id)
);
CREATE TABLE IF NOT EXISTS write_rows (
    thread INTEGER, ns INTEGER, id INTEGER, task INTEGER, idx INTEGER,
    path INTEGER, channel INTEGER, type INTEGER, sample INTEGER, value BLOB,
    UNIQUE (thread, ns, id, task, idx)
);

CREATE VIEW IF NOT EXISTS checkpoints AS SELECT
    threads.name AS thread_id, spaces.name AS checkpoint_ns, ids.name AS checkpoint_id,
    (SELECT name FROM names WHERE n = parent) AS parent_checkpoint_id,
    (SELECT name FROM names WHERE n = type) AS type,
    unpack(checkpoint, (SELECT sample FROM samples WHERE n = row.sample)) AS checkpoint,
    unpack(metadata, (SELECT sample FROM samples WHERE n = row.sample)) AS metadata
FROM checkpoint_rows AS row
JOIN names AS threads ON threads.n = thread
JOIN names AS spaces ON spaces.n = ns
JOIN names AS ids ON ids.n = id;

CREATE VIEW IF NOT EXISTS writes AS SELECT
    threads.name AS thread_id, spaces.name AS checkpoint_ns, ids.name AS checkpoint_id,
    (SELECT name FROM names WHERE n = task) AS task_id,
    (SELECT name FROM names WHERE n = path) AS task_path,
    idx, channels.name AS channel,
    (SELECT name FROM names WHERE n = type) AS type,
    unpack(value, (SELECT sample FROM samples WHERE n = row.sample)) AS value
FROM write_rows AS row
JOIN names AS threads ON threads.n = thread
JOIN names AS spaces ON spaces.n = ns
JOIN names AS ids ON ids.n = id
JOIN names AS channels ON channels.n = channel;

CREATE TRIGGER IF NOT EXISTS put_checkpoint INSTEAD OF INSERT ON checkpoints BEGIN
    INSERT INTO names (name) SELECT name FROM (
        SELECT new.thread_id AS name UNION SELECT new.checkpoint_ns UNION SELECT new.checkpoint_id
        UNION SELECT new.parent_checkpoint_id UNION SELECT new.type
    ) WHERE name IS NOT NULL AND name NOT IN (SELECT name FROM names);
    INSERT INTO samples (sample)
    SELECT substr(CAST(new.checkpoint || new.metadata AS BLOB), -{WINDOW})
    WHERE (SELECT max(n) FROM checkpoint_rows) % {EVERY} = {FIRST};
    INSERT INTO checkpoint_rows (thread, ns, id, parent, type, sample, checkpoint, metadata)
    SELECT
        (SELECT n FROM names WHERE name = new.thread_id),
        (SELECT n FROM names WHERE name = new.checkpoint_ns),
        (SELECT n FROM names WHERE name = new.checkpoint_id),
        (SELECT n FROM names WHERE name = new.parent_checkpoint_id),
        (SELECT n FROM names WHERE name = new.type),
        last.n, pack(new.checkpoint, last.sample), pack(new.metadata, last.sample)
    FROM (SELECT max(n) AS n, sample FROM samples) AS last;
END;

CREATE TRIGGER IF NOT EXISTS put_write INSTEAD OF INSERT ON writes BEGIN
    INSERT INTO names (name) SELECT name FROM (
        SELECT new.thread_id AS name UNION SELECT new.checkpoint_ns UNION SELECT new.checkpoint_id
        UNION SELECT new.task_id UNION SELECT new.task_path UNION SELECT new.channel
        UNION SELECT new.type
    ) WHERE name NOT IN (SELECT name FROM names);
    INSERT INTO write_rows
    SELECT
        (SELECT n FROM names WHERE name = new.thread_id),
        (SELECT n FROM names WHERE name = new.checkpoint_ns),
        (SELECT n FROM names WHERE name = new.checkpoint_id),
        (SELECT n FROM names WHERE name = new.task_id),
        new.idx,
        (SELECT n FROM names WHERE name = new.task_path),
        (SELECT n FROM names WHERE name = new.channel),
        (SELECT n FROM names WHERE name = new.type),
        last.n, pack(new.value, last.sample)
    FROM (SELECT max(n) AS n, sample FROM samples) AS last;
END;

CREATE TRIGGER IF NOT EXISTS drop_checkpoint INSTEAD OF DELETE ON checkpoints BEGIN
    DELETE FROM checkpoint_rows
    WHERE thread = (SELECT n FROM names WHERE name = old.thread_id)
    AND ns = (SELECT n FROM names WHERE name = old.checkpoint_ns)
    AND id = (SELECT n FROM names WHERE name = old.checkpoint_id);
END;
CREATE TRIGGER IF NOT EXISTS drop_write INSTEAD OF DELETE ON writes BEGIN
    DELETE FROM write_rows
    WHERE thread = (SELECT n FROM names WHERE name = old.thread_id)
    AND ns = (SELECT n FROM names WHERE name = old.checkpoint_ns)
    AND id = (SELECT n FROM names WHERE name = old.checkpoint_id)
    AND task = (SELECT n FROM names WHERE name = old.task_id)
    AND idx = old.idx;
END;
COMMIT;
"""
_NEWEST = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
_USED = "SELECT EXISTS (SELECT 1 FROM checkpoints) OR EXISTS (SELECT 1 FROM writes)"
_SWEEP = """
DELETE FROM names WHERE n NOT IN (
    SELECT thread FROM checkpoint_rows UNION SELECT ns FROM checkpoint_rows
    UNION SELECT id FROM checkpoint_rows UNION SELECT type FROM checkpoint_rows
    UNION SELECT parent FROM checkpoint_rows WHERE parent IS NOT NULL
    UNION SELECT thread FROM write_rows UNION SELECT ns FROM write_rows
    UNION SELECT id FROM write_rows UNION SELECT task FROM write_rows
    UNION SELECT path FROM write_rows UNION SELECT channel FROM write_rows
    UNION SELECT type FROM write_rows
);
DELETE FROM samples WHERE n NOT IN (
    SELECT sample FROM checkpoint_rows WHERE sample IS NOT NULL
    UNION SELECT sample FROM write_rows WHERE sample IS NOT NULL
);
"""


def pack(data: bytes, sample: bytes | None) -> bytes:
    """Returns a value as it is kept: deflated with a sample as dictionary, unless that is longer.

    Args:
        data: The value.
        sample: What values of the file look like, at most `WINDOW` bytes; None: not known yet.
    """
    deflater = zlib.compressobj(9, wbits=RAW, zdict=sample or b"")
    short = deflater.compress(data) + deflater.flush()
    return DEFLATED + short if len(short) < len(data) else PLAIN + data


def unpack(kept: bytes, sample: bytes | None) -> bytes:
    """Returns a value that was packed with this sample."""
    if kept.startswith(PLAIN):
        return kept[1:]
    return zlib.decompressobj(RAW, zdict=sample or b"").decompress(kept[1:])


class Checkpoints(AsyncSqliteSaver):
    """LangGraph's SQLite saver, made small.

    A file that holds checkpoints of LangGraph's own saver is read and continued, and stays as it
    is. Whoever reads one of ours by hand registers `unpack` as an SQL function.
    """

    _ours = False

    async def setup(self) -> None:
        """Creates the tables, and makes the SQL functions known that pack and unpack values."""
        async with self.lock:
            if not self.is_setup:
                await self.conn.create_function("pack", 2, pack, deterministic=True)
                await self.conn.create_function("unpack", 2, unpack, deterministic=True)
                kind = await self._one("SELECT type FROM sqlite_master WHERE name = 'checkpoints'")
                if kind == "table" and not await self._one(_USED):
                    await self.conn.executescript("DROP TABLE checkpoints; DROP TABLE writes")
                    kind = None
                if kind is None:
                    await self.conn.executescript(_SCHEMA)
                self.is_setup = self._ours = kind != "table"
        await super().setup()

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Returns a checkpoint, or a thread's newest, found without unpacking the others."""
        await self.setup()
        told = config["configurable"]
        if not get_checkpoint_id(config):
            thread = {
                "thread_id": told["thread_id"],
                "checkpoint_ns": told.get("checkpoint_ns", ""),
            }
            async with self.lock:
                newest = await self._one(_NEWEST, *map(str, thread.values()))
            if newest is None:
                return None
            config = {"configurable": {**thread, "checkpoint_id": newest}}
        return await super().aget_tuple(config)

    async def adelete_thread(self, thread_id: str) -> None:
        """Deletes a thread, and the names and samples that no other uses."""
        await self.setup()
        await super().adelete_thread(thread_id)
        if self._ours:
            async with self.lock:
                await self.conn.executescript(_SWEEP)

    async def _one(self, query: str, *values: str) -> Any:
        async with self.conn.execute(query, values) as cursor:
            row = await cursor.fetchone()
        return None if row is None else row[0]

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Returns the version after `current`: a number, unless the thread began with others.

        LangGraph's saver appends a random part, for stores that share values between checkpoints
        by channel and version; a checkpoint in SQLite holds its own.
        """
        if isinstance(current, str):
            return super().get_next_version(current, channel)
        return 1 if current is None else current + 1
