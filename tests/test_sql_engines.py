"""The same question on SQLite and PostgreSQL: one tree, also where the search is killed."""

import asyncio
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.scripted import Call, ScriptedChat
from support.searches import THREAD, untimed
from support.serving import database_of, no_database

import thoughtgraph as tg
from thoughtgraph.tasks.sql.sql import Sql

TABLES = """
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author (id), pages INTEGER);
INSERT INTO author VALUES (1, 'Ann'), (2, 'Bo'), (3, 'O''Hara');
INSERT INTO book VALUES (1, 1, 300), (2, 1, 120), (3, 2, 80), (4, 3, 410);
"""
QUESTION = "How many books has each author written?"
PART = "written = SELECT author_id, count(*) AS n FROM book GROUP BY author_id"
NONE = "written = SELECT author_id, count(*) AS n FROM book WHERE pages > 900 GROUP BY author_id"
BROKEN = "written = SELECT author_id, count( AS n FROM book"
WRONG = "written = SELECT writer AS author_id, 1 AS n FROM book"
PREVIOUS = {PART: NONE, NONE: WRONG, WRONG: BROKEN, BROKEN: ""}
"""What each part is written after, once it went wrong."""
SAID = ("no such column: writer", 'column \\"writer\\" does not exist')
LAST = "SELECT name, n FROM author JOIN written ON author.id = author_id ORDER BY name"
METHODS: Mapping[str, dict[str, Any]] = {
    "tot_dfs": {"outputs": 2},
    "rollback": {"solutions": 4, "ensemble": "majority", "incoming": 4, "parallel": False},
}


def reply(method: str, call: Call) -> str:
    """Goes from parts that fail, or return nothing, to one that returns rows."""
    if call.role == "value":
        return "sure"
    if call.role == "analyse":
        return f"Bad step index: {'1' if 'pages > 900' in call.prompt else 'none'}"
    if "(none yet)" not in call.prompt:
        return LAST
    if method == "tot_dfs":
        return "\n".join([BROKEN, WRONG, NONE, PART])
    return next(each for each in (PART, NONE, WRONG, BROKEN) if PREVIOUS[each] in call.prompt)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The same tables in both."""
    if reason := no_database():
        pytest.skip(reason)
    driver: Any = pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    file = tmp_path_factory.mktemp("sql") / "books.sqlite"
    with closing(sqlite3.connect(file)) as made:
        made.executescript(TABLES)
    with database_of(f"books_{os.getpid()}") as address:
        with driver.connect(address, autocommit=True) as opened:
            opened.execute(TABLES)
        yield {"sqlite": str(file), "postgres": address}


async def lived(method: str, place: str, saver: Any, die: int = 0) -> tuple[Any, int]:
    """One process, which dies at a request: what came of the search, and how often it asked."""
    asked = 0

    def said(call: Call) -> str:
        nonlocal asked
        asked += 1
        if asked == die:
            running.cancel()
        return reply(method, call)

    model = ScriptedChat(reply=said)
    graph = tg.build(method, task=Sql(), model=model, checkpointer=saver)
    kept = await graph.aget_state(THREAD)
    given = None if kept.created_at else {"problem": QUESTION}
    told = {**METHODS[method], "database": place}
    context = None if kept.values.get("settings") else told
    running = asyncio.ensure_future(graph.ainvoke(given, THREAD, context=context))
    await asyncio.wait([running])
    return (None if running.cancelled() else running.result()), asked


def story(out: Any) -> Any:
    """What is the same on both: an error is in the words of each, and so is a verdict's key."""
    kept = out["answer"], out["stop_reason"], out["votes"], untimed(out["tree"])
    tree = {key: {**each, "verdicts": None} for key, each in kept[3].items()}
    text = json.dumps([*kept[:3], tree], sort_keys=True)
    return json.loads(re.sub(rf"{'|'.join(map(re.escape, SAID))}", "no writer", text))


@pytest.mark.ci
@pytest.mark.parametrize("method", METHODS)
async def test_both_engines_give_one_tree_wherever_the_search_is_killed(
    method: str, places: dict[str, str]
) -> None:
    told = {}
    for engine, place in places.items():
        whole, requests = await lived(method, place, InMemorySaver())
        told[engine] = story(whole)
        assert "3 rows (name, n)" in json.dumps(whole["tree"]), "one answer returns rows"
        for die in sorted({2, requests // 2, requests}):
            saver = InMemorySaver()
            killed, _ = await lived(method, place, saver, die)
            assert killed is None, die
            resumed, _ = await lived(method, place, saver)
            assert story(resumed) == told[engine], f"{engine}, killed at request {die}"
    assert told["sqlite"] == told["postgres"]
