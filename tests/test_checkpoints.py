"""Checkpoints take little room, and files that LangGraph's own saver wrote are continued."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from support.fake_server import Seen
from support.players import play
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.checkpoints import Checkpoints, pack, unpack

THREAD: Any = {"configurable": {"thread_id": "1"}}
METHODS = {
    "tot_bfs": {"breadth": 2, "n_evaluate": 1},
    "tot_dfs": {"n_evaluate": 1, "outputs": 2},
}


def reply(call: Call) -> str:
    return play(Seen(0, {}, {"messages": [{"content": call.prompt}]}))


async def search(
    kind: type[AsyncSqliteSaver], file: Path, method: str, *, until: Sequence[str] = ()
) -> Any:
    """Begins or continues a search, and stops it after a node if one is named."""
    async with kind.from_conn_string(str(file)) as saver:
        model = ScriptedChat(reply=reply)
        graph = tg.build(method, task="game24", model=model, checkpointer=saver)
        begun = (await graph.aget_state(THREAD)).created_at
        given = None if begun else {"problem": "1 2 4 7"}
        context = None if begun else METHODS[method]
        return await graph.ainvoke(given, THREAD, context=context, interrupt_after=until)


def story(out: Any) -> Any:
    tree = {
        key: {name: value for name, value in thought.items() if name != "usage"}
        for key, thought in out["tree"].items()
    }
    return tree, out["answer"], out["stop_reason"], out["settings"], out["usage"]["requests"]


@pytest.mark.parametrize("method", METHODS)
async def test_a_search_begun_with_langgraphs_saver_goes_on_in_its_file(
    method: str, tmp_path: Path
) -> None:
    whole = await search(Checkpoints, tmp_path / "whole.sqlite", method)
    await search(AsyncSqliteSaver, tmp_path / "begun.sqlite", method, until=["evaluate"])
    out = await search(Checkpoints, tmp_path / "begun.sqlite", method)
    assert out["stop_reason"]
    assert story(out) == story(whole)


async def test_ours_takes_half_the_room(tmp_path: Path) -> None:
    stored = {}
    for kind in (AsyncSqliteSaver, Checkpoints):
        file = tmp_path / f"{kind.__name__}.sqlite"
        await search(kind, file, "tot_dfs")
        stored[kind] = file.stat().st_size
    assert stored[Checkpoints] < stored[AsyncSqliteSaver] / 2


@pytest.mark.parametrize("sample", [None, b"a sample of bytes", b"long " * 100_000])
@pytest.mark.parametrize(
    "value", [b"", b"\0", b"short", b"a sample of bytes, and more", b"long " * 9]
)
def test_values_come_back_as_they_were(value: bytes, sample: bytes | None) -> None:
    assert unpack(pack(value, sample), sample) == value


def test_what_packing_would_not_shorten_costs_one_byte() -> None:
    assert len(pack(b"abc", None)) == 4


async def told(saver: AsyncSqliteSaver) -> Any:
    """Everything that a saver answers about two threads."""
    heard: list[Any] = []
    for thread in ("1", "zwölf ✓"):
        config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        everything = [kept async for kept in saver.alist({"configurable": {"thread_id": thread}})]
        history = await saver.aget_delta_channel_history(config=config, channels=["a", "b"])
        heard += [await saver.aget_tuple(config), everything, history]
        heard += [[kept async for kept in saver.alist(config, filter={"step": 3})]]
        heard += [[kept async for kept in saver.alist(config, limit=2)]]
        for at in everything[1:2]:
            heard += [await saver.aget_tuple(at.config)]
            heard += [[kept async for kept in saver.alist(config, before=at.config)]]
    return heard


async def told_by(kind: type[AsyncSqliteSaver], file: Path) -> list[Any]:
    """What a saver answers after each of the things that LangGraph and the command do with it."""
    stamped: Any = {**empty_checkpoint(), "ts": "2026"}
    step: Any = {"source": "loop", "parents": {}}
    async with kind.from_conn_string(str(file)) as saver:
        for thread in ("1", "zwölf ✓"):
            at: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
            for n in range(50):
                values = {"b": "x" * n} if n < 5 else {}
                checkpoint: Any = {**stamped, "id": f"{n:04}", "channel_values": values}
                at = await saver.aput(at, checkpoint, step | {"step": n}, {})
                await saver.aput_writes(at, [("a", n), ("b", {"n": "ö" * n})], f"task {n % 3}", "p")
                await saver.aput_writes(at, [("a", "again"), ("c", 2)], f"task {n % 3}")
                await saver.aput_writes(at, [("__error__", "first")], "task")
                await saver.aput_writes(at, [("__error__", f"last {n}")], "task")
            again: Any = {**stamped, "id": "0049", "channel_values": {"b": 1}}
            await saver.aput(at, again, step, {})
        heard = [await told(saver)]
        async with saver.lock:
            for table in ("checkpoints", "writes"):
                await saver.conn.execute(f"DELETE FROM {table} WHERE checkpoint_id > '0040'")
            await saver.conn.commit()
        heard += [await told(saver)]
        await saver.adelete_thread("1")
        return [*heard, await told(saver)]


async def test_ours_answers_whatever_langgraphs_saver_answers(tmp_path: Path) -> None:
    ours = await told_by(Checkpoints, tmp_path / "ours.sqlite")
    assert ours == await told_by(AsyncSqliteSaver, tmp_path / "theirs.sqlite")
    assert ours[0][1][:1] != ours[1][1][:1], "something was deleted"


async def test_a_deleted_thread_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    await search(Checkpoints, file, "tot_dfs")
    async with Checkpoints.from_conn_string(str(file)) as saver:
        await saver.adelete_thread("1")
    db = sqlite3.connect(file)
    tables = ["names", "samples", "checkpoint_rows", "write_rows"]
    left = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]
    db.close()
    assert left == [0, 0, 0, 0]


async def test_a_file_in_which_langgraphs_saver_left_nothing_becomes_ours(tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
        await saver.setup()
    await search(Checkpoints, file, "tot_bfs")
    db = sqlite3.connect(file)
    kept = db.execute("SELECT count(*) FROM checkpoint_rows").fetchone()[0]
    db.close()
    assert kept > 0


async def test_two_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    file = str(tmp_path / "runs.sqlite")
    async with (
        Checkpoints.from_conn_string(file) as one,
        Checkpoints.from_conn_string(file) as other,
    ):
        await asyncio.gather(one.setup(), other.setup())
        assert await told(one) == await told(other)
