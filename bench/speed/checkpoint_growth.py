"""How time and checkpoint bytes grow with the tree, with LangGraph's own savers.

Grows trees of a tenth, three tenths and all of --count thoughts; `growing_trees` says which.
"""

import itertools
import os
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from thoughtgraph.bench.speed.growing_trees import GROWTHS, Growth
from thoughtgraph.bench.speed.measurement import (
    Conditions,
    Figure,
    Measurement,
    Readings,
    Unavailable,
)
from thoughtgraph.checkpoints import CompressingSerializer, sqlite_saver

SHARES = (0.1, 0.3, 1.0)


class Grown(NamedTuple):
    """A tree, and what it took."""

    thoughts: int
    seconds: float
    """Of the CPU: another program that works meanwhile counts little."""
    size: int
    """Bytes of its checkpoints."""
    checkpoints: int


async def grow(growth: Growth, thoughts: int, saver: Any) -> tuple[int, float]:
    """Grows a tree of about so many thoughts; returns how many it has, and its CPU seconds."""
    graph = growth.graph(saver)
    thread: Any = {"configurable": {"thread_id": "1"}}
    began = time.process_time()
    given = {"problem": growth.problem}
    out = await graph.ainvoke(given, thread, context=growth.context(thoughts))
    return len(out["tree"]) - 1, time.process_time() - began


async def grown_in_sqlite(growth: Growth, thoughts: int) -> Grown:
    """Grows a tree with LangGraph's SQLite saver."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "growth.sqlite"
        async with sqlite_saver(file) as saver:
            many, seconds = await grow(growth, thoughts, saver)
        with sqlite3.connect(file) as db:
            (checkpoints,) = db.execute("SELECT count(*) FROM checkpoints").fetchone()
        db.close()
        size = sum(part.stat().st_size for part in Path(folder).iterdir())
        return Grown(many, seconds, size, checkpoints)


async def measured(under: Conditions) -> Readings:
    """Returns what a thought and a checkpoint take in the largest trees, and how the bytes grow.

    The last is what a thought takes at most in a tree, in times what it takes in the next smaller.
    """
    readings: dict[str, float] = {}
    for label, growth in GROWTHS.items():
        trees = [
            await grown_in_sqlite(growth, min(round(share * under.count), growth.most))
            for share in SHARES
        ]
        bytes_each = [tree.size / tree.thoughts for tree in trees]
        largest = trees[-1]
        readings |= {
            f"{label}, thoughts": largest.thoughts,
            f"{label}, checkpoints": bytes_each[-1],
            f"{label}, checkpoints in a tree three times as large": max(
                large / small for small, large in itertools.pairwise(bytes_each)
            ),
            f"{label}, time": 1000 * largest.seconds / largest.thoughts,
            f"{label}, time a checkpoint": 1000 * largest.seconds / largest.checkpoints,
        }
    return readings


def _figures(label: str) -> tuple[Figure, ...]:
    return (
        Figure(f"{label}, thoughts", ""),
        Figure(f"{label}, checkpoints", "bytes/thought", most=8_000),
        Figure(f"{label}, checkpoints in a tree three times as large", "x", most=1.1),
        Figure(f"{label}, time", "CPU ms/thought"),
        Figure(f"{label}, time a checkpoint", "CPU ms"),
    )


async def measured_in_postgres(under: Conditions) -> Readings:
    """Returns what a depth-first thought takes in PostgreSQL.

    Raises:
        Unavailable: There is no server, or no driver for it.
    """
    if not under.database or find_spec("langgraph.checkpoint.postgres") is None:
        raise Unavailable("it needs --database postgresql://… and the extra `postgres`")
    async with _database(under.database) as address:
        saver_type = import_module("langgraph.checkpoint.postgres.aio").AsyncPostgresSaver
        opened: AbstractAsyncContextManager[Any] = saver_type.from_conn_string(
            address, serde=CompressingSerializer()
        )
        async with opened as saver:
            await saver.setup()
            thoughts, seconds = await grow(GROWTHS["tot_dfs"], under.count, saver)
            async with saver.conn.cursor() as cursor:
                tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
                size = 0
                for table in tables:
                    await cursor.execute("SELECT pg_total_relation_size(%s)", (table,))
                    size += next(iter((await cursor.fetchone()).values()))
    return {
        "tot_dfs, checkpoints": size / thoughts,
        "tot_dfs, time": 1000 * seconds / thoughts,
    }


@asynccontextmanager
async def _database(server: str) -> AsyncIterator[str]:
    """Yields the address of a new database, which is dropped in the end."""
    name = f"thoughtgraph_speed_{os.getpid()}"
    connect = import_module("psycopg").AsyncConnection.connect
    async with await connect(f"{server}/postgres", autocommit=True) as connection:
        await connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server}/{name}"
        finally:
            await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


CHECKPOINTS = Measurement(
    "checkpoints",
    "bytes of SQLite and CPU milliseconds that a thought of 250 bytes takes, as the tree grows",
    "trees of 1,000, 3,000 and 10,000 thoughts (--count), crosswords of 3,000 at most",
    tuple(figure for label in GROWTHS for figure in _figures(label)),
    count=10_000,
    quick=300,
    take=measured,
)
POSTGRES_CHECKPOINTS = Measurement(
    "checkpoints_postgres",
    "bytes of PostgreSQL, indexes included, and CPU milliseconds that a depth-first thought takes",
    "a tree of 1,000 thoughts (--count) on the server of --database",
    (
        Figure("tot_dfs, checkpoints", "bytes/thought", most=8_000),
        Figure("tot_dfs, time", "CPU ms/thought"),
    ),
    count=1_000,
    quick=100,
    take=measured_in_postgres,
)
