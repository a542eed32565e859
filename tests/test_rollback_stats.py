"""The data of Thought Rollback's Figure 3."""

import json
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph.bench.papers.rollback_stats import first_steps, judge, kinds, read, spans, summary
from thoughtgraph.errors import InputError
from thoughtgraph.tree import Thought, Tree, root


def tree_of(*rows: tuple[str, str, dict[str, Any]]) -> Tree:
    tree: Tree = {"0": root()}
    for at, (parent, text, more) in enumerate(rows, 1):
        depth = tree[parent]["depth"] + 1
        base = Thought(id=str(at), parent=parent, depth=depth, text=text, status="expanded")
        tree[str(at)] = Thought(**{**base, **more})  # type: ignore[typeddict-item]
    return tree


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


def test_solutions_are_judged_exactly_or_by_the_data_set(tmp_path: Path) -> None:
    puzzle = {"task": "game24", "problem": "4 9 10 13"}
    right = judge([puzzle], None)
    assert right is not None
    assert right("4 9 10 13", "(10 - 4) * (13 - 9)")
    assert not right("4 9 10 13", None)
    asked = {"task": "gsm8k", "problem": "What is 4 + 9?"}
    assert judge([asked], None) is None, "no check, no data: nothing is said"
    data = tmp_path / "test.jsonl"
    data.write_text(json.dumps({"question": "What is 4 + 9?", "answer": "so #### 13"}))
    right = judge([asked], data)
    assert right is not None
    assert right("What is 4 + 9?", "13")
    assert not right("What is 4 + 9?", "14")
    with pytest.raises(InputError, match="lacks the problem 'What else"):
        judge([{**asked, "problem": "What else?"}], data)
    with pytest.raises(InputError, match="one of game24, gsm8k"):
        judge([asked, puzzle], data)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"task": "gsm8k"}', None])
def test_what_is_no_result_is_refused_in_one_line(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "run.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=r"cannot read|holds no result") as caught:
        read(file)
    assert "\n" not in str(caught.value)


def test_results_of_other_methods_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    result = {"task": "gsm8k", "problem": "?", "usage": {"samples": 20}, "tree": TREE}
    file.write_text(json.dumps({**result, "method": "cot"}))
    with pytest.raises(InputError, match="of 'cot'; name results of rollback, chain, level_tot"):
        read(file)
    file.write_text(json.dumps({**result, "method": "chain"}))
    assert read(file)["method"] == "chain"
