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
from support.fake_server import Seen
from support.players import play
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.checkpoints import MARK, CompressingSerializer, sqlite_saver

THREAD: Any = {"configurable": {"thread_id": "1"}}
METHODS = {
    "tot_bfs": {"breadth": 2, "n_evaluate": 1},
    "tot_dfs": {"n_evaluate": 1, "outputs": 2},
}
Opener = Callable[[Path], AbstractAsyncContextManager[BaseCheckpointSaver[Any]]]


def langgraphs(file: Path) -> AbstractAsyncContextManager[AsyncSqliteSaver]:
    return AsyncSqliteSaver.from_conn_string(str(file))


def reply(call: Call) -> str:
    return play(Seen(0, {}, {"messages": [{"content": call.prompt}]}))


async def search(
    kind: Opener, file: Path, method: str, *, until: Sequence[str] = ()
) -> dict[str, Any]:
    """Begins or continues a search, and stops it after a node if one is named."""
    async with kind(file) as saver:
        model = ScriptedChat(reply=reply)
        graph = tg.build(method, task="game24", model=model, checkpointer=saver)
        begun = (await graph.aget_state(THREAD)).created_at
        given = None if begun else {"problem": "1 2 4 7"}
        context = None if begun else METHODS[method]
        out: dict[str, Any] = await graph.ainvoke(
            given, THREAD, context=context, interrupt_after=until
        )
        return out


def story(out: Any) -> Any:
    tree = {
        key: {name: value for name, value in thought.items() if name != "usage"}
        for key, thought in out["tree"].items()
    }
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


async def test_ours_takes_two_thirds_of_the_room_at_most(tmp_path: Path) -> None:
    stored = []
    for kind in (langgraphs, sqlite_saver):
        file = tmp_path / f"{kind.__name__}.sqlite"
        await search(kind, file, "tot_dfs")
        stored.append(file.stat().st_size)
    theirs, ours = stored
    assert ours < 2 / 3 * theirs


VALUES = [
    None,
    "",
    "short",
    b"bytes " * 9,
    {"prompt_tokens": 1, "completion_tokens": 2},
    {"ä": [1.5, True, None]},
    "long " * 100_000,
]


@pytest.mark.parametrize("value", VALUES)
def test_values_come_back_as_they_were(value: Any) -> None:
    ours = CompressingSerializer()
    assert ours.loads_typed(ours.dumps_typed(value)) == value
    assert ours.loads_typed(JsonPlusSerializer().dumps_typed(value)) == value


@pytest.mark.parametrize("value", [None, "short", 7])
def test_what_compressing_would_not_shorten_is_kept_as_langgraph_keeps_it(value: Any) -> None:
    assert CompressingSerializer().dumps_typed(value) == JsonPlusSerializer().dumps_typed(value)


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


async def held(saver: BaseCheckpointSaver[Any]) -> Any:
    """Everything that a saver answers about two threads."""
    answers: list[Any] = []
    for thread in ("1", "zwölf ✓"):
        config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        everything = [kept async for kept in saver.alist({"configurable": {"thread_id": thread}})]
        history = await saver.aget_delta_channel_history(config=config, channels=["a", "b"])
        answers += [await saver.aget_tuple(config), everything, history]
        answers += [[kept async for kept in saver.alist(config, filter={"step": 3})]]
        answers += [[kept async for kept in saver.alist(config, limit=2)]]
        for at in everything[1:2]:
            answers += [await saver.aget_tuple(at.config)]
            answers += [[kept async for kept in saver.alist(config, before=at.config)]]
    return answers


async def filled(saver: BaseCheckpointSaver[Any]) -> list[Any]:
    """What a saver answers after each of the things that LangGraph and the command do with it."""
    stamped: Any = {**empty_checkpoint(), "ts": "2026"}
    step: Any = {"source": "loop", "parents": {}}
    for thread in ("1", "zwölf ✓"):
        at: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        for n in range(50):
            values = {"b": "x" * n} if n < 5 else {}
            versions: dict[str, str | int | float] = dict.fromkeys(values, n + 1)
            checkpoint: Any = {
                **stamped,
                "id": f"{n:04}",
                "channel_values": values,
                "channel_versions": versions,
            }
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


async def test_a_deleted_thread_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    await search(sqlite_saver, file, "tot_dfs")
    async with sqlite_saver(file) as saver:
        await saver.adelete_thread("1")
        assert [kept async for kept in saver.alist(None)] == []
    db = sqlite3.connect(file)
    (free,), (pages,) = (
        db.execute(f"PRAGMA {each}").fetchone() for each in ("freelist_count", "page_count")
    )
    db.close()
    assert free > pages / 2, "its room is used again"


async def test_several_may_make_a_new_file_at_once(tmp_path: Path) -> None:
    async def kept(file: Path) -> object:
        async with sqlite_saver(file) as saver:
            return await held(saver)

    for at in range(10):
        file = tmp_path / f"{at}.sqlite"
        one, *others = await asyncio.gather(*(kept(file) for _ in range(4)))
        assert others == [one] * 3
