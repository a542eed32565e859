"""Checkpoints: what they take, and every method killed after any write."""

import asyncio
import os
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Durability
from support.scripted import Call
from support.searches import CASES, THREAD, built, untimed
from support.serving import database_of, no_database

from thoughtgraph.checkpoints import CompressingSerializer, sqlite_saver

Saver = BaseCheckpointSaver[Any]
Opener = Callable[[Path], AbstractAsyncContextManager[Saver]]


def langgraphs(file: Path) -> AbstractAsyncContextManager[Saver]:
    return AsyncSqliteSaver.from_conn_string(str(file))


async def search(opener: Opener, file: Path, *, until: Sequence[str] = ()) -> Any:
    """Begins or continues a search, and stops it after a node if one is named."""
    async with opener(file) as saver:
        graph, _ = built(CASES["tot_dfs"], "tot_dfs", checkpointer=saver)
        begun = (await graph.aget_state(THREAD)).created_at
        problem = None if begun else {"problem": "1 2 4 7"}
        context: Any = None if begun else {"n_evaluate": 1, "outputs": 2}
        return await graph.ainvoke(problem, THREAD, context=context, interrupt_after=until)


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
    kept = bytes.fromhex("78f90f8557e46b424d0f8cb0a4b8a41898ef00c1eb0cc1")
    read = CompressingSerializer().loads_typed(("msgpack+names1", kept))
    assert read == {"prompt_tokens": 1, "verdict": "sure"}


async def test_several_may_make_a_new_file_at_once(tmp_path: Path) -> None:
    async def kept(file: Path) -> object:
        async with sqlite_saver(file) as saver:
            return await saver.aget_tuple(THREAD)

    for at in range(10):
        file = tmp_path / f"{at}.sqlite"
        assert await asyncio.gather(*(kept(file) for _ in range(4))) == [None] * 4


LIMIT = 10
"""Thoughts of a search, so that the largest trees still end soon."""
DURABILITY: tuple[Durability, Durability] = ("async", "sync")
"""By turns: checkpoints are written while the search goes on, as is usual, or before it does."""
TASK_ID = "__pregel_task_id"
"""LangGraph's key for the task that a node is run for, by which its writes are kept."""


class Killed(BaseException):
    """What nothing outlives."""


class Life:
    """One process: what it asked, what it wrote, and when it dies.

    Args:
        writes: After how many writes it dies; None: never.
    """

    def __init__(self, writes: int | None = None) -> None:
        self.left = writes
        self.died = asyncio.get_running_loop().create_future()
        self.asked: list[tuple[str, Any]] = []
        """Each request, with the task of the graph that made it."""
        self.kept: dict[str, str] = {}
        """The tasks whose writes are kept, each with the checkpoint to which they belong."""
        self.checkpoints: set[str] = set()
        self.writes = 0
        if writes == 0:
            self.died.set_result(None)

    def check(self) -> None:
        if self.died.done():
            raise Killed

    def wrote(self) -> None:
        self.writes += 1
        if self.writes == self.left:
            self.died.set_result(None)
        self.check()

    def lost(self) -> Counter[Any]:
        """Requests of tasks whose writes are not kept: unanswered, or answered just now.

        A checkpoint may be written after the writes that belong to it; without it they are lost.
        """
        kept = {task for task, at in self.kept.items() if at in self.checkpoints}
        return Counter(request for task, request in self.asked if task not in kept)

    def live_on(self, saver: Saver) -> Saver:
        """Lets a saver write for this process as long as it lives."""
        put, put_writes = type(saver).aput, type(saver).aput_writes

        async def aput(config: Any, checkpoint: Any, *more: Any) -> Any:
            self.check()
            written = await put(saver, config, checkpoint, *more)
            self.check()
            self.checkpoints.add(checkpoint["id"])
            self.wrote()
            return written

        async def aput_writes(config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
            self.check()
            await put_writes(saver, config, writes, task_id, task_path)
            self.check()
            self.kept[task_id] = config["configurable"]["checkpoint_id"]
            self.wrote()

        saver.aput = aput  # type: ignore[method-assign]
        saver.aput_writes = aput_writes  # type: ignore[method-assign]
        return saver


async def live(
    method: str, saver: Saver, thread: str, life: Life, durability: Durability = "async"
) -> Any:
    """Begins or goes on with a search; returns its output, None if the process dies."""
    case = CASES[method]

    def reply(call: Call) -> Any:
        life.check()
        task = var_child_runnable_config.get()["configurable"][TASK_ID]  # type: ignore[index]
        life.asked.append((task, (call.role, call.prompt, call.draw, call.n)))
        return case.reply(call)

    graph, _ = built(case._replace(reply=reply), method, checkpointer=life.live_on(saver))
    config: Any = {"configurable": {"thread_id": thread}}
    kept = await graph.aget_state(config)
    given = None if kept.created_at else {"problem": case.problem}
    # Until the first node has run, the settings are nowhere but with the caller.
    told = {**case.context, "limit_thoughts": LIMIT}
    context = None if kept.values.get("settings") else told
    run = graph.ainvoke(given, config, context=context, durability=durability)
    running = asyncio.ensure_future(run)
    await asyncio.wait([running, life.died], return_when=asyncio.FIRST_COMPLETED)
    if not life.died.done():
        return running.result()
    running.cancel()
    await asyncio.wait([running])
    if not running.cancelled():
        running.exception()
    return None


def story(out: Any) -> Any:
    """What of a result is the same whenever and however often the search was killed."""
    tree = untimed(out["tree"])
    spent = {name: each for name, each in out["usage"].items() if name not in ("seconds", "mark")}
    rest = {name: out.get(name) for name in out if name not in ("tree", "usage", "run", "date")}
    return tree, spent, rest


@asynccontextmanager
async def memory(file: Path) -> AsyncIterator[Saver]:
    yield InMemorySaver(serde=CompressingSerializer())


@asynccontextmanager
async def postgres(file: Path) -> AsyncIterator[Saver]:
    if reason := no_database():
        pytest.skip(reason)
    serde = CompressingSerializer()
    with database_of(f"killed_{os.getpid()}") as address:
        async with AsyncPostgresSaver.from_conn_string(address, serde=serde) as saver:
            await saver.setup()
            yield saver


async def kill(method: str, saver: Saver, points: Callable[[int], list[int]]) -> None:
    """Kills a search after each of some writes, goes on with it, and compares."""
    whole = Life()
    expected = story(await live(method, saver, "whole", whole))
    wanted = Counter(request for _, request in whole.asked)
    for k in points(whole.writes):
        what = f"{method}, killed after write {k} of {whole.writes}"
        first, second = Life(k), Life()
        assert await live(method, saver, str(k), first, DURABILITY[k % 2]) is None, what
        assert story(await live(method, saver, str(k), second)) == expected, what
        asked = Counter(request for _, request in first.asked + second.asked)
        assert not wanted - asked, what
        assert not asked - wanted - first.lost(), f"{what}: asked again what had been paid for"


def middle(writes: int) -> list[int]:
    return [writes // 2]


def ends(writes: int) -> list[int]:
    return [min(3, writes), writes - 1]


@pytest.mark.parametrize("points", [middle, pytest.param(ends, marks=pytest.mark.ci)])
@pytest.mark.parametrize("method", CASES)
async def test_a_method_killed_and_resumed_ends_as_if_never_disturbed(method, points, tmp_path):
    async with memory(tmp_path) as saver:
        await kill(method, saver, points)


@pytest.mark.slow
@pytest.mark.parametrize("method", CASES)
@pytest.mark.parametrize("opener", [memory, sqlite_saver, postgres])
async def test_killed_after_every_write(method: str, opener: Opener, tmp_path: Path) -> None:
    async with opener(tmp_path / "runs.sqlite") as saver:
        await kill(method, saver, lambda writes: list(range(writes)))
