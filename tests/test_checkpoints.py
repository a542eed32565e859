"""LangGraph's own savers keep the same with our serializer, in less room, and are gone on with."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from support.searches import CASES, THREAD, built, untimed

from thoughtgraph.checkpoints import MARK, CompressingSerializer, sqlite_saver

METHODS = {
    "tot_bfs": {"breadth": 2, "n_evaluate": 1},
    "tot_dfs": {"n_evaluate": 1, "outputs": 2},
}
Opener = Callable[[Path], AbstractAsyncContextManager[BaseCheckpointSaver[Any]]]


def langgraphs(file: Path) -> AbstractAsyncContextManager[AsyncSqliteSaver]:
    return AsyncSqliteSaver.from_conn_string(str(file))


async def search(kind: Opener, file: Path, method: str, *, until: Sequence[str] = ()) -> Any:
    """Begins or continues a search, and stops it after a node if one is named."""
    async with kind(file) as saver:
        graph, _ = built(CASES[method], method, checkpointer=saver)
        begun = (await graph.aget_state(THREAD)).created_at
        problem = None if begun else {"problem": "1 2 4 7"}
        context: Any = None if begun else METHODS[method]
        return await graph.ainvoke(problem, THREAD, context=context, interrupt_after=until)


def story(out: Any) -> Any:
    tree = {key: untimed(thought) for key, thought in out["tree"].items()}
    return tree, out["answer"], out["stop_reason"], out["settings"], out["usage"]["requests"]


@pytest.mark.parametrize("method", METHODS)
async def test_a_search_begun_with_langgraphs_serializer_goes_on_with_ours(
    method: str, tmp_path: Path
) -> None:
    whole = await search(sqlite_saver, tmp_path / "whole.sqlite", method)
    await search(langgraphs, tmp_path / "begun.sqlite", method, until=["evaluate"])
    out = await search(sqlite_saver, tmp_path / "begun.sqlite", method)
    assert out["stop_reason"]
    assert story(out) == story(whole)


async def test_ours_takes_two_thirds_of_the_room_and_a_deleted_thread_none(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs.sqlite", tmp_path / "ours.sqlite"
    await search(langgraphs, theirs, "tot_dfs")
    await search(sqlite_saver, ours, "tot_dfs")
    assert ours.stat().st_size < 2 / 3 * theirs.stat().st_size
    async with sqlite_saver(ours) as saver:
        await saver.adelete_thread("1")
        assert [kept async for kept in saver.alist(None)] == []
    db = sqlite3.connect(ours)
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.close()
    assert free > pages / 2, "its room is used again"


VALUES = [
    None,
    "",
    "short",
    b"bytes " * 9,
    {"prompt_tokens": 1, "completion_tokens": 2},
    {"ä": [1.5, True, None]},
    "long " * 100_000,
]


def test_values_come_back_as_they_were() -> None:
    ours, theirs = CompressingSerializer(), JsonPlusSerializer()
    for value in VALUES:
        assert ours.loads_typed(ours.dumps_typed(value)) == value
        assert ours.loads_typed(theirs.dumps_typed(value)) == value
    for value in (None, "short", 7):  # compressing would not shorten it
        assert ours.dumps_typed(value) == theirs.dumps_typed(value)


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


def of(thread: str) -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}


async def held(saver: BaseCheckpointSaver[Any]) -> Any:
    """What a saver answers about two threads."""
    answers: list[Any] = []
    for thread in ("1", "zwölf ✓"):
        everything = [kept async for kept in saver.alist({"configurable": {"thread_id": thread}})]
        answers += [await saver.aget_tuple(of(thread)), everything]
        answers += [await saver.aget_delta_channel_history(config=of(thread), channels=["a", "b"])]
        for how in ({"filter": {"step": 3}}, {"limit": 2}):
            answers += [[kept async for kept in saver.alist(of(thread), **how)]]  # type: ignore[arg-type]
        for at in everything[1:2]:
            answers += [await saver.aget_tuple(at.config)]
            answers += [[kept async for kept in saver.alist(of(thread), before=at.config)]]
    return answers


async def filled(saver: BaseCheckpointSaver[Any]) -> list[Any]:
    """What a saver answers after each of the things that LangGraph and the command do with it."""
    step: Any = {"source": "loop", "parents": {}}
    for thread in ("1", "zwölf ✓"):
        at = of(thread)
        for n in range(50):
            values = {"b": "x" * n} if n < 5 else {}
            versions: dict[str, Any] = dict.fromkeys(values, n + 1)
            channels = {"channel_values": values, "channel_versions": versions}
            checkpoint: Any = {**empty_checkpoint(), "ts": "2026", "id": f"{n:04}", **channels}
            at = await saver.aput(at, checkpoint, step | {"step": n}, versions)
            await saver.aput_writes(at, [("a", n), ("b", {"n": "ö" * n})], f"task {n % 3}", "p")
            await saver.aput_writes(at, [("a", "again"), ("c", 2)], f"task {n % 3}")
            await saver.aput_writes(at, [("__error__", "first")], "task")
            await saver.aput_writes(at, [("__error__", f"last {n}")], "task")
    before = await held(saver)
    await saver.adelete_thread("1")
    return [before, await held(saver)]


@asynccontextmanager
async def sqlite(serde: SerializerProtocol | None) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    async with AsyncSqliteSaver.from_conn_string(":memory:") as saver:
        yield AsyncSqliteSaver(saver.conn, serde=serde)


@asynccontextmanager
async def memory(serde: SerializerProtocol | None) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    yield InMemorySaver(serde=serde)


@pytest.mark.parametrize("kind", [sqlite, memory])
async def test_a_saver_answers_with_ours_whatever_it_answers_with_langgraphs(kind: Any) -> None:
    async with kind(None) as theirs, kind(CompressingSerializer()) as ours:
        expected, found = await filled(theirs), await filled(ours)
    assert found == expected
    assert found[0] != found[1], "something was deleted"


async def test_several_may_make_a_new_file_at_once(tmp_path: Path) -> None:
    async def kept(file: Path) -> object:
        async with sqlite_saver(file) as saver:
            return await held(saver)

    for at in range(10):
        file = tmp_path / f"{at}.sqlite"
        one, *others = await asyncio.gather(*(kept(file) for _ in range(4)))
        assert others == [one] * 3
