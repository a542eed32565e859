"""The task `sql`: searches solved by hand, a query that fails in each, and who may ask what."""

import json
import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.fake_server import FakeServer, Seen
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench.data import load
from thoughtgraph.policy import Policy
from thoughtgraph.tasks.sql.chains import Part, chained, part_of, parts_in, query_in

QUESTION = "How many books has each author written?"
RIGHT = "SELECT name, count(*) FROM author JOIN book ON author.id = author_id GROUP BY author.id"
ALIKE = "SELECT count(*) AS n, a.name FROM book b JOIN author a ON b.author_id = a.id GROUP BY 2"
WRONG = "SELECT name, 1 FROM author"
EMPTY = "SELECT name, count(*) FROM author WHERE 1 = 0 GROUP BY name"
FAILS = "SELECT name, count(*) FROM autor GROUP BY name"
WHY = "no such table: autor; there is author"
PART = "written = SELECT author_id, count(*) AS n FROM book GROUP BY author_id"
BAD_PART = "written = SELECT author, count(*) AS n FROM book GROUP BY author"
WHY_PART = "no such column: author; there is book.author_id"
LAST = "SELECT name, n FROM author JOIN written ON author.id = author_id"
CHAIN = f"WITH written AS ({PART.removeprefix('written = ')}) {LAST}"
BAD_LAST = "SELECT name, m FROM author JOIN written ON author.id = author_id"
WHY_LAST = "no such column: m"
COUNTS = ["'Aiko Tanabe', 1", "'Mara Lindqvist', 2", "'Niamh O''Dwyer', 1", "'Tomas Ferreira', 2"]


def block(query: str) -> str:
    return f"It needs two tables.\n```sql\n{query};\n```"


async def solved(
    method: str, reply: Any, **settings: Any
) -> tuple[dict[str, Any], list[Call], list[dict[str, Any]]]:
    """A search: what came of it, what was asked, and its thoughts by age without the root."""
    model = ScriptedChat(reply=reply)
    out = await tg.build(method, task="sql", model=model).ainvoke(
        {"problem": QUESTION}, context=settings
    )
    thoughts = [out["tree"][key] for key in sorted(out["tree"], key=int)][1:]
    return out, model.seen, thoughts


def drawn(**replies: Sequence[str]) -> Any:
    """Answers each role by its texts in turn."""
    left = {role: iter(texts) for role, texts in replies.items()}
    return lambda call: [next(left[call.role]) for _ in range(call.n)]


def part_or_last(call: Call, part: str, last: str) -> str:
    """Says one text where there is no part yet, and another one after it."""
    return part if "(none yet)" in call.prompt else last


async def test_io_gives_the_query_and_shows_its_rows_or_why_it_fails() -> None:
    out, seen, _ = await solved("io", block(RIGHT))
    assert out["answer"] == RIGHT and out["verified"] is None
    assert out["outcome"] == "finished with an answer that runs"
    heading, *rows = out["tree"]["1"]["returned"].splitlines()
    assert (heading, sorted(rows)) == ("4 rows (name, count(*))", COUNTS)
    assert "CREATE TABLE author (\n  id INTEGER,\n" in seen[0].prompt and "SQLite" in seen[0].prompt
    out, _, _ = await solved("io", block(FAILS))
    assert out["answer"] == FAILS and out["tree"]["1"]["returned"] == f"fails: {WHY}"
    assert out["outcome"] == "finished with an answer that does not run or returns nothing"
    out, seen, _ = await solved("io", "I cannot say.", sample_values=1)
    assert out["answer"] is None and "name TEXT, -- 'Mara Lindqvist'" in seen[0].prompt


@pytest.mark.parametrize("method", ["cot_sc", "adaptive"])
async def test_votes_are_on_rows_without_queries_that_fail_or_return_nothing(method: str) -> None:
    texts = [FAILS, FAILS, FAILS, EMPTY, EMPTY, WRONG, ALIKE, RIGHT]
    out, seen, thoughts = await solved(method, drawn(generate=[*map(block, texts)]))
    assert len(thoughts) == 8 and sum(call.n for call in seen) == 8
    assert out["answer"] == ALIKE, "the first of the two that return the same rows"
    assert [each["value"] for each in thoughts] == [0, 0, 0, 0, 0, 1, 2, 2]
    [vote] = out["votes"]
    assert (vote["got"], vote["of"], vote["unread"], vote["tied"]) == (2, 3, 5, [])
    out, _, _ = await solved(method, drawn(generate=[*map(block, [FAILS] * 5 + [EMPTY] * 3)]))
    assert out["answer"] == EMPTY, "where none returns rows, those that run count"
    texts = [FAILS, "DELETE FROM loan"] * 4
    out, _, thoughts = await solved(method, drawn(generate=[*map(block, texts)]))
    assert out["answer"] is None
    assert out["outcome"] == f"finished without an answer, as none of 8 had a vote: fails: {WHY}"
    refused = "fails: only a SELECT is run here, and this begins with 'DELETE'"
    assert [each["note"] for each in thoughts[:2]] == [f"fails: {WHY}", refused]


async def test_refine_is_told_by_the_database_and_stops_once_a_query_returns_rows() -> None:
    reply = drawn(generate=[block(FAILS)], refine=[block(EMPTY), block(RIGHT)])
    out, seen, thoughts = await solved("refine", reply)
    assert [call.role for call in seen] == ["generate", "refine", "refine"], "no judge is asked"
    notes = [each["note"] for each in thoughts[:2]]
    assert notes == [f"fails: {WHY}", "0 rows (name, count(*))"]
    assert f"{FAILS}\n-- fails: {WHY}" in seen[1].prompt
    assert f"{EMPTY}\n-- 0 rows (name, count(*))" in seen[2].prompt
    assert (out["answer"], out["stop_reason"], out["verified"]) == (RIGHT, "finished", None)


async def test_tot_bfs_gives_nothing_for_a_part_that_fails_and_asks_about_the_others() -> None:
    def reply(call: Call) -> Any:
        if call.role == "value":
            counts = "count" in call.prompt.rpartition("Parts so far")[2]
            return "It counts.\nsure" if counts else "?"
        return part_or_last(call, f"{BAD_PART}\n{PART}\n{PART}", f"{BAD_LAST}\n{LAST}")

    out, seen, thoughts = await solved("tot_bfs", reply, breadth=1)
    assert [(each["text"], each["value"], each["status"]) for each in thoughts] == [
        (BAD_PART, 0.0, "pruned"),
        (PART, 20.0, "expanded"),
        (BAD_LAST, 0.0, "pruned"),
        (LAST, 20.0, "terminal"),
    ]
    assert (thoughts[0]["note"], thoughts[2]["note"]) == (WHY_PART, WHY_LAST)
    assert [call.role for call in seen] == ["generate", "value", "generate", "value"]
    assert "4 rows (author_id, n)" in seen[1].prompt
    assert out["answer"] == CHAIN and out["tree"]["4"]["plausible"] is True


async def test_tot_dfs_goes_back_from_a_part_below_which_every_query_fails() -> None:
    other = "few = SELECT id FROM author"

    def reply(call: Call) -> Any:
        if call.role == "value":
            return "sure"
        last = BAD_LAST if "few = " in call.prompt else LAST
        return part_or_last(call, f"{other}\n{PART}", last)

    out, seen, thoughts = await solved("tot_dfs", reply)
    assert [(each["text"], each["status"], each["parent"]) for each in thoughts] == [
        (other, "expanded", "0"),
        (PART, "expanded", "0"),
        (BAD_LAST, "pruned", "1"),
        (LAST, "terminal", "2"),
    ]
    assert thoughts[2]["value"] == 0.0 and "no such table: written" in thoughts[2]["note"]
    assert out["answer"] == CHAIN
    assert sum(call.role == "value" for call in seen) == 3, "one that fails is not asked about"


async def test_rollback_knows_the_bad_step_without_a_model_and_warns_of_it() -> None:
    def reply(call: Call) -> Any:
        if call.role == "analyse":
            return "All is well.\nBad step index: None"
        if "These chains went wrong" in call.prompt:
            return part_or_last(call, PART, LAST)
        return part_or_last(call, BAD_PART, BAD_LAST if BAD_PART in call.prompt else LAST)

    settings = {"parallel": False, "solutions": 2, "ensemble": "last"}
    _, seen, thoughts = await solved("rollback", reply, **settings)
    first = thoughts[0]
    assert (first["text"], first["bad"]) == (BAD_PART, [1])
    assert first["analysis"] == f"Step 1 fails: {WHY_PART}"
    assert first["rollback"] == {"to": "0", "step": 1}
    better = next(each for each in thoughts if each["text"] == PART)
    assert better["caused_by"] == "1" and better["bad"] == []
    warned = next(call.prompt for call in seen if "These chains went wrong" in call.prompt)
    assert f"Step 1. {BAD_PART}\nWhat was wrong: Step 1 fails: {WHY_PART}" in warned
    asked = [call.prompt for call in seen if call.role == "analyse"]
    assert asked and all(BAD_PART not in prompt for prompt in asked), "only of what runs"
    assert CHAIN in [each.get("answer") for each in thoughts]


async def test_react_looks_runs_is_told_and_ends_with_a_query_that_runs() -> None:
    steps = [
        *("list_tables[]", "describe_table[book]", f"run_query[{FAILS}]"),
        *(f"Finish[{FAILS}]", f"Finish[{RIGHT}]"),
    ]
    turns = [f"I go on.\nAction {at}: {step}" for at, step in enumerate(steps, 1)]
    out, seen, thoughts = await solved("react", drawn(generate=turns))
    assert [each["observation"] for each in thoughts] == [
        "author, book, member, loan",
        "CREATE TABLE book ( id INTEGER, title TEXT, year INTEGER, pages INTEGER, author_id "
        "INTEGER, PRIMARY KEY (id), FOREIGN KEY (author_id) REFERENCES author (id) );",
        *(WHY, WHY, RIGHT),
    ]
    assert [each["failed"] for each in thoughts] == [False, False, True, True, False]
    assert [each["price"] for each in thoughts] == [0.1, 0.2, 1.0, 0.0, 0.0]
    assert out["answer"] == RIGHT and out["usage"]["tool_calls"]["run_query"] == 1
    assert f"Action 3: run_query[{FAILS}]\nObservation 3: {WHY}\n" in seen[3].prompt
    _, _, priced = await solved("react", drawn(generate=turns), tool_costs="list_tables=3")
    assert priced[0]["price"] == 3.0


@pytest.mark.parametrize("method", ["tomt_tot", "tomt_one_stop", "tomt_os", "tomt_block"])
async def test_a_plan_is_run_part_by_part(method: str) -> None:
    texts = iter([BAD_PART, f"{PART}\n{LAST}", LAST])
    out, seen, thoughts = await solved(
        method, lambda call: next(texts), max_calls=5, branches=3, redraw="question"
    )
    assert thoughts[0]["note"] == f"E_QUERY: {WHY_PART}" and thoughts[0]["status"] == "pruned"
    assert out["answer"] == CHAIN and len(seen) == (3 if method in ("tomt_tot", "tomt_os") else 2)
    assert "4 rows (author_id, n); 1, 2; 2, 2" in thoughts[1]["observation"]
    out, _, thoughts = await solved(method, EMPTY, max_calls=1)
    assert thoughts[0]["note"] == "E_EMPTY: it returns no rows" and out["answer"] is None
    out, _, _ = await solved(method, EMPTY, max_calls=1, empty="lazy")
    assert out["answer"] == EMPTY


async def test_rollback_votes_on_rows() -> None:
    def reply(call: Call) -> Any:
        if call.role == "analyse":
            return "Bad step index: 1"
        tried = sum(each in call.prompt for each in (WRONG, RIGHT, FAILS))
        return (WRONG, RIGHT, FAILS, ALIKE)[tried]

    settings = {"parallel": False, "solutions": 4, "incoming": 4, "ensemble": "majority"}
    out, _, thoughts = await solved("rollback", reply, **settings)
    assert [each["text"] for each in thoughts] == [WRONG, RIGHT, FAILS, ALIKE]
    forms = [each["ballot"] for each in thoughts]
    assert forms[1] == forms[3] != forms[0] and forms[2] is None
    [vote] = out["votes"]
    assert (vote["got"], vote["of"], vote["unread"]) == (2, 3, 1) and out["answer"] == RIGHT
    assert out["ensembles"].items() >= {"first": WRONG, "last": ALIKE, "majority": RIGHT}.items()


async def test_a_chain_goes_on_from_a_part_that_fails_and_level_tot_does_not() -> None:
    def reply(call: Call) -> Any:
        if call.role == "score":
            return "Evaluation Score: 0.9"
        first = "(none yet)" in call.prompt
        return [BAD_PART if first else BAD_LAST, *[PART if first else LAST] * 4][: call.n]

    out, seen, thoughts = await solved("level_tot", reply, n_generate=2)
    assert [(each["text"], each["value"], each["status"]) for each in thoughts] == [
        (BAD_PART, 0.0, "pruned"),
        (PART, 0.9, "expanded"),
        (BAD_LAST, 0.0, "pruned"),
        (LAST, 0.9, "terminal"),
    ]
    assert [thoughts[at]["note"] for at in (0, 2)] == [WHY_PART, WHY_LAST]
    assert out["answer"] == CHAIN and sum(call.role == "score" for call in seen) == 2
    out, _, thoughts = await solved("chain", reply)
    above = [(each["text"], each["parent"]) for each in thoughts]
    assert above == [(BAD_PART, "0"), (BAD_LAST, "1")]
    assert out["tree"]["2"]["returned"] == f"fails: {WHY_PART}"
    assert out["outcome"].endswith("that does not run or returns nothing")
    out, _, _ = await solved("cot", block(FAILS))
    assert (out["answer"], out["tree"]["1"]["returned"]) == (FAILS, f"fails: {WHY}")


STEPS = [("0", "expanded", WHY), ("1", "terminal", RIGHT)]
ACTING = {
    "reflexion": (STEPS, [None, 1.0]),
    "itot_a_star": (STEPS, [8.0, 8.0]),
    "itot_best_first": (STEPS, [8.0, 8.0]),
    "itot_dfs": (STEPS, [None, None]),
    "itot_d_star_lite": (STEPS, [8.0, 8.0]),
    "fgdip": (
        [
            ("0", "expanded", "CREATE TABLE book ( id INTEGER, title TEXT, year INTEGER, pages"),
            ("1", "expanded", WHY),
            ("1", "terminal", RIGHT),
            ("2", "terminal", RIGHT),
        ],
        [2.0, 2.0, 2.0, 2.0],
    ),
}
"""What becomes of a query that fails and of one that runs: parent, status, observation; values."""


@pytest.mark.parametrize("method", ACTING)
async def test_methods_that_act_are_told_what_fails_and_end_with_what_runs(method: str) -> None:
    judged = {
        **{"value": "Score: 8", "step_eval": "Reply: sure", "extract": '["book", "no_table"]'},
        **{"answer_eval": "THOUGHT: yes.\nJUDGMENT: YES"},
    }

    def reply(call: Call) -> Any:
        if call.role in judged:
            return judged[call.role]
        step = call.prompt.rpartition("Thought ")[2].partition(":")[0]
        action = f"Finish[{RIGHT}]" if FAILS in call.prompt else f"run_query[{FAILS}]"
        return f"I go on.\nAction {step}: {action}"

    out, _, thoughts = await solved(method, reply)
    kept = [each for each in thoughts if each["status"] != "pruned"]
    tree, values = ACTING[method]
    seen = [(each["parent"], each["status"], each["observation"][:63]) for each in kept]
    assert seen == [(parent, status, text[:63]) for parent, status, text in tree]
    assert [each.get("value") for each in kept] == values
    assert [each["failed"] for each in kept] == [text == WHY for _, _, text in tree]
    assert out["answer"] == RIGHT and out["outcome"].endswith("that runs")
    assert all("the same action" in each["note"] for each in thoughts if each not in kept)


def test_queries_are_read_as_models_write_them() -> None:
    assert query_in("Sure!\n```sql\n-- hi\nWITH a AS (\n SELECT 1\n)\nSELECT 1;\n```\nx") == (
        "WITH a AS (\n SELECT 1\n)\nSELECT 1"
    )
    assert query_in("The query is\nSELECT a\nFROM b;\nThis selects a.") == "SELECT a\nFROM b"
    assert query_in("With this query\nwe delete:\n```\nDROP TABLE x\n```") == "DROP TABLE x"
    assert query_in("Delete nothing, and drop it.") is None
    text = "1. top = SELECT a, -- x\n  b FROM c WHERE d = '--no';\nStep 2: `few` := (SELECT 1)\n"
    assert parts_in(f"{text}SELECT 2\nUNION ALL\nSELECT 3\n\nbye\nz = WITH q AS (\nSELECT 4)") == [
        Part("top", "SELECT a, b FROM c WHERE d = '--no'"),
        Part("few", "SELECT 1"),
        Part("", "SELECT 2 UNION ALL SELECT 3"),
        Part("z", "WITH q AS ( SELECT 4)"),
    ]
    parts = [Part("a", "SELECT 1"), Part("", "WITH RECURSIVE b AS (SELECT 1) SELECT * FROM b")]
    assert [part_of(part.text) for part in parts] == parts
    assert chained(parts) == "WITH RECURSIVE a AS (SELECT 1), b AS (SELECT 1) SELECT * FROM b"


# Who may ask what


def shop(folder: Path) -> Path:
    file = folder / "shop.sqlite"
    with closing(sqlite3.connect(file)) as database:
        database.executescript("CREATE TABLE sale (n); INSERT INTO sale VALUES (1), (2), (3)")
    return file


async def test_a_client_asks_databases_by_the_operators_names_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = shop(tmp_path)
    offered = {"shop": str(secret), "gone": str(tmp_path / "gone.db"), "all": str(tmp_path)}
    sums = "SELECT sum(n) FROM sale"
    with FakeServer(lambda seen: f"```\n{sums}\n```") as server:
        policy = Policy(models={"small": server.specifier}, databases=offered)
        graph = tg.build("io", policy=policy)
        form: Any = graph.get_context_jsonschema()
        assert form["properties"]["database"]["enum"] == ["", *offered]

        async def ask(problem: str = "How many?", **chosen: Any) -> Any:
            context = {"task": "sql", **chosen}
            return await graph.ainvoke({"problem": problem}, context=context)

        for chosen in ({"database": "shop"}, {}):
            assert (await ask(**chosen))["answer"] == sums
        folder = json.dumps({"question": "How many?", "database": "shop"})
        assert (await ask(folder, database="all"))["answer"] == sums
        sent = len(server.seen)
        for place in (str(secret), "postgresql://root@127.0.0.1/test", "SHOP", f"{tmp_path}/x"):
            out = await ask(database=place)
            assert out["stop_reason"] == "refused" and "'shop'" in out["error"], place
        for name in ("../shop", "/etc/passwd", "a b"):
            out = await ask(json.dumps({"question": "?", "database": name}), database="all")
            assert "write its name alone" in out["error"], name
        with caplog.at_level(logging.ERROR):
            out = await ask(database="gone")
        assert out["error"] == "the database cannot be used; the server's log says why"
        assert "gone.db" in caplog.text and str(tmp_path) not in str(out)
        assert len(server.seen) == sent
        graph = tg.build("io", policy=Policy(models={"small": server.specifier}))
        out = await graph.ainvoke({"problem": "?"}, context={"task": "sql"})
        assert out["tree"]["1"]["returned"] == "fails: no such table: sale"


def test_no_other_task_takes_a_database() -> None:
    model = ScriptedChat(reply=lambda call: "")
    with pytest.raises(tg.SettingError, match="'database' would change nothing"):
        tg.solve("1 2 3 4", task="game24", method="io", model=model, database="x")


def sales(seen: Seen) -> str:
    return "```sql\nSELECT n FROM sale ORDER BY n\n```"


REPLY = sales


@pytest.mark.usefixtures("own_environment")
def test_the_command_asks_a_file(command: Command, server: FakeServer, tmp_path: Path) -> None:
    shop(tmp_path)
    asked = ("solve", "How many sales?", "--task", "sql", "--model", server.specifier)
    files = ("--json", "a.json", "--html", "a.html")
    code, out, _ = command(*asked, "--database", "shop.sqlite", *files)
    assert code == 0
    assert "answer:   SELECT n FROM sale ORDER BY n\n" in out
    assert "returns:  3 rows (n)\n          1\n          2\n          3\n" in out
    assert "that runs" in out and "method" not in out
    stored = json.loads(Path("a.json").read_text())
    assert stored["method"] == "adaptive"
    assert stored["settings"]["database"].endswith("/shop.sqlite")
    [chosen] = [each for each in stored["tree"].values() if each.get("chosen")]
    assert chosen["returned"] == "3 rows (n)\n1\n2\n3"
    assert "CREATE TABLE sale" in Path("a.html").read_text()
    code, _, err = command(*asked, "--database", "no.sqlite")
    assert code == 2 and err.count("\n") == 1 and "there is no database" in err
    assert command("view", "a.json")[0] == 0, "which opens no database"


def test_a_benchmark_reads_own_lines_spider_and_bird(tmp_path: Path) -> None:
    shop(tmp_path)
    task: Any = registry.task("sql")
    public = {"db_id": "shop", "question": "How many?"}
    entries = {
        "own.jsonl": {"database": "shop", "problem": "How many?", "gold": ["SELECT 3"]},
        "dev.json": [{**public, "query": "SELECT 3"}],
        "mini.json": [{**public, "SQL": "SELECT 3", "evidence": "all of them"}],
    }
    for name, content in entries.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
        [record] = load(task, tmp_path / name)
        options = {"database": str(tmp_path), "sample_values": 0}
        wider = "SELECT 'all', 3"
        answers = {"SELECT count(*) FROM sale": 1.0, "SELECT 4": 0.0, "SELECT x": 0.0, wider: 0.0}
        for answer, score in answers.items():
            assert task.score(record.problem, answer, record.gold, options) == score, answer
        assert task.score(record.problem, wider, record.gold, options, subset=True) == 1.0
        assert ("\nHint: all of them" in task.question_of(record.problem)) is (name == "mini.json")
