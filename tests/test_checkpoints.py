"""LangGraph's own savers keep the same with our serializer, in less room, and are gone on with."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from support.searches import CASES, THREAD, built, untimed

from thoughtgraph.checkpoints import MARK, CompressingSerializer, sqlite_saver

CONTEXT: Any = {"n_evaluate": 1, "outputs": 2}
Opener = Callable[[Path], AbstractAsyncContextManager[BaseCheckpointSaver[Any]]]


def langgraphs(file: Path) -> AbstractAsyncContextManager[AsyncSqliteSaver]:
    return AsyncSqliteSaver.from_conn_string(str(file))


async def search(kind: Opener, file: Path, *, until: Sequence[str] = ()) -> Any:
    """Begins or continues a search, and stops it after a node if one is named."""
    async with kind(file) as saver:
        graph, _ = built(CASES["tot_dfs"], "tot_dfs", checkpointer=saver)
        begun = (await graph.aget_state(THREAD)).created_at
        problem = None if begun else {"problem": "1 2 4 7"}
        context = None if begun else CONTEXT
        return await graph.ainvoke(problem, THREAD, context=context, interrupt_after=until)


def story(out: Any) -> Any:
    tree = untimed(out["tree"])
    return tree, out["answer"], out["stop_reason"], out["settings"], out["usage"]["requests"]


async def test_a_search_begun_with_langgraphs_serializer_goes_on_with_ours(tmp_path: Path) -> None:
    whole = await search(sqlite_saver, tmp_path / "whole.sqlite")
    await search(langgraphs, tmp_path / "begun.sqlite", until=["evaluate"])
    out = await search(sqlite_saver, tmp_path / "begun.sqlite")
    assert out["stop_reason"]
    assert story(out) == story(whole)


async def test_ours_takes_two_thirds_of_the_room_and_a_deleted_thread_none(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs.sqlite", tmp_path / "ours.sqlite"
    await search(langgraphs, theirs)
    await search(sqlite_saver, ours)
    assert ours.stat().st_size < 2 / 3 * theirs.stat().st_size
    async with sqlite_saver(ours) as saver:
        await saver.adelete_thread("1")
        assert [kept async for kept in saver.alist(None)] == []
    db = sqlite3.connect(ours)
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.close()
    assert free > pages / 2, "its room is used again"


def test_what_this_version_writes_is_read_by_the_next_one() -> None:
    """The mark names the dictionary: another dictionary needs another mark, or files are lost."""
    kept = (
        f"msgpack{MARK}",
        bytes.fromhex("78f90f8557e46b424d0f8cb0a4b8a41898ef00c1eb0cc1"),
    )
    assert MARK == "+names1"
    assert CompressingSerializer().loads_typed(kept) == {"prompt_tokens": 1, "verdict": "sure"}


def test_langgraphs_list_of_allowed_types_reaches_it() -> None:
    """With `LANGGRAPH_STRICT_MSGPACK` it is extended by the types of the state when compiled."""
    saver = InMemorySaver(serde=CompressingSerializer())
    extended = saver.with_allowlist({("somewhere", "Something")})
    assert isinstance(extended.serde, CompressingSerializer)


async def test_several_may_make_a_new_file_at_once(tmp_path: Path) -> None:
    async def kept(file: Path) -> object:
        async with sqlite_saver(file) as saver:
            return await saver.aget_tuple(THREAD)

    for at in range(10):
        file = tmp_path / f"{at}.sqlite"
        assert await asyncio.gather(*(kept(file) for _ in range(4))) == [None] * 4
