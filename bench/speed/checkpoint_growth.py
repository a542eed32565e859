"""How time and checkpoint bytes grow with the tree, with LangGraph's own savers.

Grows trees of a tenth, three tenths and all of --count thoughts; `growing_trees` says which.
"""

import itertools
import os
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from thoughtgraph.bench.speed.figures import Conditions, Figure, Unavailable
from thoughtgraph.bench.speed.growing_trees import GROWTHS, Growth
from thoughtgraph.checkpoints import CompressingSerializer, sqlite_saver

SHARES = (0.1, 0.3, 1.0)
PROBLEM = "How many apples are left?"


class Grown(NamedTuple):
    """A tree, and what it took."""

    thoughts: int
    seconds: float
    """Of the CPU: another program that works meanwhile counts little."""
    size: int
    """Bytes of its checkpoints."""


async def grow(growth: Growth, thoughts: int, saver: Any) -> tuple[int, float]:
    """Grows a tree of about so many thoughts; returns how many it has, and its CPU seconds."""
    graph = growth.graph(saver)
    thread: Any = {"configurable": {"thread_id": "1"}}
    began = time.process_time()
    out = await graph.ainvoke({"problem": PROBLEM}, thread, context=growth.context(thoughts))
    return len(out["tree"]) - 1, time.process_time() - began


async def grown_in_sqlite(growth: Growth, thoughts: int) -> Grown:
    """Grows a tree with LangGraph's SQLite saver."""
    with tempfile.TemporaryDirectory() as folder:
        async with sqlite_saver(Path(folder) / "growth.sqlite") as saver:
            many, seconds = await grow(growth, thoughts, saver)
        size = sum(part.stat().st_size for part in Path(folder).iterdir())
        return Grown(many, seconds, size)


async def measured(under: Conditions) -> Sequence[Figure]:
    """Returns what a thought takes in the largest trees, and how its bytes grow.

    The latter is what a thought takes at most in a tree, in times what it takes in the next
    smaller.
    """
    figures: list[Figure] = []
    for label, growth in GROWTHS.items():
        sizes = [min(round(share * under.count), growth.most) for share in SHARES]
        trees = [await grown_in_sqlite(growth, size) for size in sizes]
        each = [tree.size / tree.thoughts for tree in trees]
        growing = max(large / small for small, large in itertools.pairwise(each))
        last = trees[-1]
        figures += [
            Figure(f"{label}, thoughts", last.thoughts),
            Figure(f"{label}, checkpoints", each[-1], "bytes/thought", most=8_000),
            Figure(f"{label}, in a tree three times as large", growing, "x", most=1.1),
            Figure(f"{label}, time", 1000 * last.seconds / last.thoughts, "CPU ms/thought"),
        ]
    return figures


async def measured_in_postgres(under: Conditions) -> Sequence[Figure]:
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
                size = 0
                for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
                    await cursor.execute("SELECT pg_total_relation_size(%s)", (table,))
                    size += next(iter((await cursor.fetchone()).values()))
    return (
        Figure("tot_dfs, checkpoints", size / thoughts, "bytes/thought", most=8_000),
        Figure("tot_dfs, time", 1000 * seconds / thoughts, "CPU ms/thought"),
    )


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
