"""The data of Thought Rollback's Figure 3."""

from typing import Any

from support.rows import tree_of

from thoughtgraph.bench.method_tables import method_tables
from thoughtgraph.bench.papers.rollback_stats import first_steps, kinds, spans, summary
from thoughtgraph.bench.report_lines import entries
from thoughtgraph.bench.result_files import packed

BACK: dict[str, Any] = {"rollback": {"to": "0", "step": 1}}
SOLVED: dict[str, Any] = {"status": "terminal", "answer": "1"}
TREE = tree_of(
    ("0", "4 - 9 = -5", {}),
    ("1", "b", BACK),
    ("2", "c", SOLVED | BACK),
    ("0", "10 - 4 = 6", {"caused_by": "2"}),
    ("4", "e", {"caused_by": "3"}),
    ("5", "f", SOLVED),
    ("0", "nothing", {"caused_by": "3"}),
)


def test_the_kinds_of_paths() -> None:
    assert kinds(TREE, "3") == (False, False, False), "two rollbacks leave it: neither kind"
    assert kinds(TREE, "6") == (True, False, False), "two of three thoughts come from rollbacks"
    assert kinds(TREE, "1") == (False, False, True)
    out = tree_of(("0", "a", BACK), ("1", "b", BACK), ("2", "c", BACK))
    assert kinds(out, "3") == (False, True, False)


def test_spans_and_first_steps() -> None:
    assert spans(TREE) == [2, 3]
    failed = first_steps("4 9 10 13", TREE)
    assert failed == [(0, 0, True), (1, 2, False), (2, 3, True)]


def test_the_summary() -> None:
    usage = {"requests": 9, "samples": 11}
    puzzle = {"task": "game24", "problem": "4 9 10 13", "usage": usage, "tree": TREE}
    result = {**puzzle, "method": "rollback"}
    others = [{**puzzle, "method": name} for name in ("chain", "level_tot")]
    told = summary([result, *others, result], right=lambda problem, answer: answer == "1")
    assert told["paths"]["into"] == {"paths": 2, "right": 2}
    assert told["paths"]["none"] == {"paths": 0, "right": 0}
    assert told["first_steps_by_rollbacks"]["1"] == {"steps": 2, "failed": 0}
    assert told["first_steps_by_span"] == {
        "0": {"steps": 2, "failed": 2},
        "2": {"steps": 2, "failed": 0},
        "3": {"steps": 2, "failed": 2},
    }
    assert told["spans"] == {"2": 2, "3": 2}
    assert told["interactions"] == {"rollback": [11, 11], "chain": [11], "level_tot": [11]}
    assert told["results"] == 4


def test_of_runs_without_a_solution_no_path_is_of_any_kind() -> None:
    told = {"task": "gsm8k", "problem": "x", "usage": {"samples": 1}, "method": "rollback"}
    paths = summary([{**told, "tree": tree_of(("0", "a", {}))}], lambda *_: True)["paths"]
    assert list(paths.values()) == [{"paths": 0, "right": 0}] * 3


def test_the_report_has_figure_3() -> None:
    known = {"id": "1", "seed": 0, "problem": "4 9 10 13", "task": "game24", "model": "m"}
    counted = {
        "requests": 9,
        "samples": 11,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "seconds": 0,
    }
    row = {
        **known,
        "method": "rollback",
        "evaluator_model": "",
        "given": {},
        "settings": {},
        "answer": "1",
        "candidates": ["1", "1"],
        "score": 1.0,
        "scores": [1.0, 1.0],
        "usage": counted,
        "tree": packed(TREE),
    }
    rollbacks, first, best = method_tables(entries([row, {**row, "method": "chain"}]))
    assert rollbacks.rows == [
        ["rollback", "11.0", "2.00", "2.5", "1 of 1 right", "0 of 0 right", "0 of 0 right"],
        ["chain", "11.0", "", "", "", "", ""],
    ]
    assert first.rows[1] == ["rollback", "1", "1", "0"]
    assert best.rows == [["rollback", "100.0%", "100.0%"], ["chain", "100.0%", "100.0%"]]
