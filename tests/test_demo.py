"""`thoughtgraph demo` with a scripted model."""

import json
from pathlib import Path

import pytest
from support.command import Command
from support.fake_server import FakeServer, Seen

from thoughtgraph.cli import demo

pytestmark = pytest.mark.usefixtures("own_environment")
FAILS = "part1 = SELECT id FROM loan WHERE YEAR(borrowed) = 2025"
NOWHERE = "part1 = SELECT id FROM loan"
PART = "part1 = SELECT member_id, pages, borrowed FROM loan JOIN book ON book.id = book_id"
LAST = (
    "SELECT name, sum(pages) FROM part1 JOIN member ON id = member_id "
    "WHERE borrowed LIKE '2025%' GROUP BY id"
)
WHY = "no such column: part1.name; name is a column of author, member"


def _planner(seen: Seen) -> str | list[str]:
    if "sure, likely or impossible" in seen.prompt:
        return "sure"
    _, _, parts = seen.prompt.rpartition("Parts so far")
    if PART in parts:
        return LAST
    return "SELECT part1.name FROM part1" if NOWHERE in parts else [FAILS, NOWHERE, PART]


def test_it_shows_tables_a_way_back_the_query_its_rows_and_whether_they_are_right(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first part fails, the second leads nowhere, the third leads to the query."""
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)  # as `uv run pytest` sets it
    with FakeServer(_planner) as fake:
        told = ["--model", fake.specifier, "--json", "run.json", "--html", "tree.html"]
        code, out, err = command("demo", *told)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"question: {demo.QUESTION}"
    assert lines[1] == "tables:   author (id, name, country)"
    story = [line for line in lines if line.startswith(("judged", "pruned", "back", "selected"))]
    assert story == [
        "judged      1: 0 (no such function: YEAR)",
        "pruned      1",
        "judged      2: 20 (sure)",
        "selected    2",
        f"judged      4: 0 ({WHY})",
        "pruned      4",
        f"backtracked to 0: {demo.QUESTION}",
        "judged      3: 20 (sure)",
        "selected    3",
        "judged      5: 20 (sure)",
        "selected    5",
    ]
    begin = lines.index("returns:  4 rows (name, sum(pages))")
    names = [line.split()[0] for line in lines[begin + 1 : begin + 5]]
    assert sorted(names) == ["'Ana',", "'Bruno',", "'Chloe',", "'Dario',"]
    assert lines[begin + 5].startswith("right:    yes, the rows of the known answer")
    result = json.loads(Path("run.json").read_text())
    assert result["problem"] == demo.QUESTION and result["right"] is True
    assert demo.GOLD not in Path("run.json").read_text()
    assert not any(demo.GOLD in seen.prompt for seen in fake.seen)
    option = f"--model '{fake.specifier}'"
    assert lines[-2] == f"  thoughtgraph demo {option} --set seed=13   (another search)"
    page = Path("tree.html").read_text()
    assert f"\\u2190 {WHY}" in page and "4 rows (name, sum(pages))" in page


@pytest.mark.parametrize(
    ("said", "code", "outcome"),
    [
        ("SELECT name, 1 FROM member", 0, "finished with an answer that runs"),
        ("no", 1, "finished without an answer, as no thought was left"),
    ],
)
def test_a_wrong_answer_or_none_is_told_beside_a_right_one(
    command: Command, said: str, code: int, outcome: str
) -> None:
    with FakeServer(lambda seen: said) as fake:
        ended, out, _ = command("demo", "--model", fake.specifier)
    assert ended == code and outcome in out
    assert f"right:    no; the right rows are those of {demo.GOLD}" in out


def test_a_plan_counts_its_calls_and_says_why_each_was_refused(command: Command) -> None:
    replies = iter([NOWHERE, *3 * ["SELECT part1.name FROM part1"], PART, LAST])
    told = ["solve", demo.QUESTION, "--task", "sql", "--method", "tomt_os"]
    with FakeServer(lambda seen: next(replies)) as fake:
        code, out, _ = command(*told, "--model", fake.specifier)
    lines = out.splitlines()
    assert code == 0
    assert sum(line.startswith("pruned") and WHY in line for line in lines) == 3
    assert any(line.startswith("backtracked") for line in lines)
    assert "tried:    6 calls for steps, 3 refused (E_QUERY 3)" in lines
