"""The counts and scores of Tree-of-Mixed-Thought, on trees and runs one can count by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

import thoughtgraph
from thoughtgraph.bench.papers import mixed_thought_runs
from thoughtgraph.bench.papers.mixed_metrics import counts, saving, score
from thoughtgraph.bench.papers.mixed_thought_runs import TRUNCATED, read, table
from thoughtgraph.context import assignments
from thoughtgraph.errors import InputError
from thoughtgraph.tree import Thought, Tree


def thought(key: str, parent: str, status: Any, text: str = "a", depth: int = 1) -> Thought:
    return {"id": key, "parent": parent, "depth": depth, "text": text, "status": status}


TREE: Tree = {
    "0": {"id": "0", "parent": None, "depth": 0, "text": "", "status": "expanded"},
    "1": thought("1", "0", "pruned"),
    "2": thought("2", "0", "expanded"),
    "3": thought("3", "2", "pruned", depth=2),
    "4": thought("4", "2", "terminal", "b\nc\nd", depth=2),
}


def test_counts_are_read_off_the_tree() -> None:
    assert counts(TREE, 6) == (4, 2, 4, 2), "4 calls, 2 refused, 1 + 3 steps, 2 ahead of need"
    unfinished: Tree = {key: t for key, t in TREE.items() if key != "4"}
    assert counts(unfinished, 3) == (3, 2, 0, 0)


def run(answer: str | None, calls: int, rejected: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "answer": answer,
        "gold": "yes",
        "calls": calls,
        "rejected": rejected,
        "ahead": 0,
        "seconds": float(calls),
        **more,
    }


RUNS = [run("yes", 4, ahead=2), run("yes", 12, 3), run("no", 2), run(None, 30, 30)]


def test_scores_by_hand() -> None:
    of = score(RUNS)
    assert (of.correct, of.inconsistent, of.unfinished, of.no_back) == (0.5, 0.25, 0.25, 0.25)
    assert of.correct + of.inconsistent + of.unfinished == 1
    assert of.calls == 8, "over the questions answered right"
    assert (of.calls_all, of.ahead, of.seconds) == (12, 0.5, 12)
    assert of.interval.low < 0.5 < of.interval.high


def test_one_long_run_holds_the_shorter_ones() -> None:
    shares = [score(RUNS, calls).correct for calls in TRUNCATED]
    assert shares == [0.25, 0.5, 0.5]
    assert shares == sorted(shares), "more calls never lose an answer"
    ten = score(RUNS, 10)
    assert (ten.inconsistent, ten.unfinished) == (0.25, 0.5)
    assert ten.calls_all == (4 + 10 + 2 + 10) / 4


def test_scores_of_nothing_are_zero() -> None:
    of = score([])
    assert (of.questions, of.correct, of.calls) == (0, 0.0, 0.0)
    assert saving(of, score(RUNS)) is None


def test_the_saving_compares_each_methods_own_solved_questions() -> None:
    assert saving(score(RUNS), score([run("yes", 2), run("no", 90)])) == 4


ROWS = [
    run("yes", 1, style="ptr", type="sum", profile="-", method="tomt_one_stop"),
    run("yes", 8, style="ptr", type="sum", profile="grounded", method="tomt_tot"),
    run("yes", 2, style="ptr", type="sum", profile="grounded", method="tomt_os"),
]


def test_the_table_has_a_line_for_each_method_with_its_saving() -> None:
    lines = table(ROWS).split("\n")
    assert [line.split(" | ")[3] for line in lines[2:]] == [
        "`tomt_one_stop`",
        "`tomt_tot`",
        "`tomt_os`",
    ]
    assert lines[-1].split(" | ")[11] == "4.00"
    assert len({line.count("|") for line in lines}) == 1


@pytest.mark.parametrize("text", ["", '{"a": 1}\n{"cut', '{"a": 1}\n'])
def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path, text: str) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(text)
    assert read(file) == ([{"a": 1}] if text else [])
    assert read(tmp_path / "none.jsonl") == []


def test_settings_are_json_or_text() -> None:
    found = assignments(["redraw=question", "shots=2", "max-calls=null"])
    assert found == {"redraw": "question", "shots": 2, "max_calls": None}
    with pytest.raises(InputError, match="--limit 'shots' is not NAME=VALUE"):
        assignments(["shots"], "--limit")


async def test_a_benchmark_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.jsonl"
    options = mixed_thought_runs.parser().parse_args(
        ["--model", "m", "--types", "sum,exist", "--questions", "2", "--out", str(file)]
    )
    asked: list[str] = []

    async def searched(graph: Any, question: Any, settings: Any) -> dict[str, Any]:
        if len(asked) == 5:
            raise RuntimeError("the machine stops here")
        asked.append(question.id)
        return run(question.answer, 3)

    monkeypatch.setattr(mixed_thought_runs, "searched", searched)
    monkeypatch.setattr(thoughtgraph, "build", lambda *_, **__: None, raising=False)
    with pytest.raises(RuntimeError, match="stops here"):
        await mixed_thought_runs.record(options)
    assert len(read(file)) == 5
    monkeypatch.setattr(mixed_thought_runs, "searched", ready)
    await mixed_thought_runs.record(options)
    rows = read(file)
    assert len(rows) == 2 * 2 * 4, "types, questions, methods"
    assert len({json.dumps([r["question"], r["type"], r["method"]]) for r in rows}) == 16
    assert "tomt_block" in table(rows)
    assert len(capsys.readouterr().out.splitlines()) == 16


async def ready(graph: Any, question: Any, settings: Any) -> dict[str, Any]:
    return run(question.answer, 3)
