"""Checkpoints take little room, and files that LangGraph's own saver wrote are continued."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_server import Seen
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from players import play
from scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.checkpoints import MARK, Checkpoints, Compressing

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


@pytest.mark.parametrize("value", [None, 1, "short", b"bytes" * 100, "long " * 100, {"a": [1, 2]}])
def test_values_come_back_as_they_were(value: Any) -> None:
    serde = Compressing()
    assert serde.loads_typed(serde.dumps_typed(value)) == value


def test_what_compression_would_not_shorten_is_kept_as_it_is() -> None:
    kind, _ = Compressing().dumps_typed({"a": 1})
    assert not kind.endswith(MARK)


async def test_the_table_of_writes_is_the_one_that_langgraph_makes(tmp_path: Path) -> None:
    columns = {}
    for kind in (AsyncSqliteSaver, Checkpoints):
        file = tmp_path / f"{kind.__name__}.sqlite"
        async with kind.from_conn_string(str(file)) as saver:
            await saver.setup()
        db = sqlite3.connect(file)
        columns[kind] = db.execute("PRAGMA table_info(writes)").fetchall()
        db.close()
    assert columns[Checkpoints] == columns[AsyncSqliteSaver]
