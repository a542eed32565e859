"""Compressed checkpoints, half as large: a serializer for LangGraph's own savers.

    async with sqlite_saver("runs.sqlite") as saver:
        graph = tg.build("tot_dfs", task="crosswords", model=…, checkpointer=saver)

Every saver of LangGraph takes a serializer, for SQLite, PostgreSQL or memory:

    AsyncPostgresSaver.from_conn_string(address, serde=CompressingSerializer())
"""

import sqlite3
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_random

from thoughtgraph.errors import ThoughtgraphError

PATIENCE = 30.0
"""Seconds to wait for another process that is writing (ours)."""
MARK = "+names1"
"""Suffix of compressed values' types. Other `NAMES` need another suffix, or old values are lost."""
NAMES = """
__input__ act analyse ask branch:to:act branch:to:analyse branch:to:call_tool branch:to:check
branch:to:propagate branch:to:reflect branch:to:rollback call_tool check propagate reflect rollback
messages ensembles chosen pending reports solutions queue expanded trial lessons tried rejected
action observation tool_state failed invalid price propagation tools unread cost priority analysis
analysis_raw bad caused_by experiences alpha beta lesson shown created_by expansions analyses
rollbacks tool_calls tool_failures tool_cost tool_cost_path reasoning_steps parse_errors retries
dollars seconds levels thoughts rounds evaluated cached open pruned terminal frames thought
candidates pos keep langgraph.types Send evaluate key about question verdict value label raw usage
id parent depth text status score visit note value_raw verdicts
roles samples prompt_tokens completion_tokens requests mark step begin until
v ts channel_values channel_versions __pregel_tasks __start__ answer branch:to:answer
branch:to:backtrack branch:to:evaluate branch:to:generate branch:to:register branch:to:select
branch:to:start date drafts error findings frontier generation judged limit method oracle outcome
prices problem proposed run settings stack stop_reason tree verified visiting votes versions_seen
backtrack generate register select start updated_channels 00000000000000000000000000000
"""
"""Texts of nearly every checkpoint: names of channels, nodes and fields, and the zeros with which
LangGraph's savers begin a version. The commonest stand last, where zlib refers to them with the
fewest bits."""
DICTIONARY = b"".join(bytes([0xA0 | len(name)]) + name.encode() for name in NAMES.split())
"""The names as MessagePack encodes texts of up to 31 bytes: the length, then the text."""


class CompressingSerializer(JsonPlusSerializer):
    """LangGraph's serializer, which also deflates values where that makes them shorter.

    It reads values that LangGraph's own serializer wrote, so older threads can be resumed.
    LangGraph's serializer cannot read compressed values.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Returns the type of a value, with a suffix if it is compressed, and its bytes."""
        kind, data = super().dumps_typed(obj)
        deflater = zlib.compressobj(zlib.Z_BEST_COMPRESSION, zdict=DICTIONARY)
        compressed = deflater.compress(data) + deflater.flush()
        return (kind + MARK, compressed) if len(compressed) < len(data) else (kind, data)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Returns the value from its type and its bytes, compressed or not."""
        kind, payload = data
        if kind.endswith(MARK):
            payload = zlib.decompressobj(zdict=DICTIONARY).decompress(payload)
        return super().loads_typed((kind.removesuffix(MARK), payload))


@asynccontextmanager
async def sqlite_saver(file: Path | str) -> AsyncIterator[AsyncSqliteSaver]:
    """Opens LangGraph's SQLite saver on a file, which is created if it does not exist.

    Raises:
        ThoughtgraphError: The file is damaged, or can no longer be read or written; its contents
            are left unchanged.
    """
    try:
        async with aiosqlite.connect(file, timeout=PATIENCE) as connection:
            saver = AsyncSqliteSaver(connection, serde=CompressingSerializer())
            # SQLite does not wait for a process that creates the same file at the same moment.
            async for attempt in AsyncRetrying(
                retry=retry_if_exception(_is_busy),
                wait=wait_random(0, 0.1),
                stop=stop_after_delay(PATIENCE),
                reraise=True,
            ):
                with attempt:
                    await saver.setup()
            yield saver
    except sqlite3.Error as error:
        raise ThoughtgraphError(
            f"cannot keep checkpoints in {str(file)!r} ({error}); make room there, or move the "
            "file away if it is damaged"
        ) from error


def _is_busy(error: BaseException) -> bool:
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
