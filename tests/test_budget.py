"""Budget curves, against trees small enough to count by hand."""

from typing import Any

import pytest

from thoughtgraph.bench.budget import curve, points
from thoughtgraph.bench.metrics import best_of_k
from thoughtgraph.bench.result_files import packed


def right(row: Any, answers: Any) -> list[float]:
    return [float(answer == "24") for answer in answers]


def sampled(method: str, answers: list[str | None]) -> dict[str, Any]:
    return {
        "key": method,
        "method": method,
        "candidates": answers,
        "scores": right(None, answers),
        "usage": {"prompt_tokens": 100, "completion_tokens": 40, "dollars": 0.14},
    }


def test_a_vote_is_cut_to_any_samples_in_a_row() -> None:
    """Of two, 7 and 24 is wrong, as a tie goes to the first. Of three, 7, 24 and none is."""
    found = points(sampled("cot_sc", ["7", "24", None, "24"]), right)
    assert [point.score for point in found] == [0.5, 0.75, 0.75, 1.0]
    assert [point.spent["tokens"] for point in found] == [110, 120, 130, 140]
    assert found[1].spent["dollars"] == pytest.approx(0.12)
    assert {point.spent["requests"] for point in found} == {1.0}
    assert [p.score for p in points(sampled("cot_sc", [None, "24"]), right)] == [0.5, 1.0]
    unvoted = points(sampled("cot", ["7", "24"]), right)
    assert [p.score for p in unvoted] == [0.0, 0.0], "the first answers"


def test_samples_in_batches_are_cut_after_each_request() -> None:
    # Two requests: four samples, then one. Each reads the prompt of 50 and writes 8 a sample.
    tree = {"0": thought("0", None, {"generate": asked(140)})}
    for at, answer in enumerate(["7", None, "24", "7", "24"], 1):
        made = {"node": "generate", "expansion": int(at == 5)}
        tree[str(at)] = thought(str(at), "0", created_by=made, answer=answer)
    # Its candidates are the answers alone, those of most votes first.
    row = {**sampled("adaptive", ["24", "24", "7", "7"]), "tree": packed(tree)}
    row["settings"] = {"draw": "answers"}
    assert [(p.score, p.spent["requests"], p.spent["tokens"]) for p in points(row, right)] == [
        (0.0, 1, 50 + 32),
        (0.0, 2, 100 + 40),
    ], "7 and 24 are equal in the end, and 7 came first"


def thought(
    key: str, parent: str | None, usage: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    depth = 0 if parent is None else 1 if parent == "0" else 2
    known = {"id": key, "parent": parent, "depth": depth, "status": "expanded", "text": ""}
    return {**known, "usage": usage or {}, **more}


def asked(tokens: int) -> dict[str, int]:
    return {"requests": 1, "prompt_tokens": tokens, "completion_tokens": 0}


def test_a_search_is_cut_after_each_better_output() -> None:
    # The root is expanded for 10 tokens, its first child judged for 5 and expanded for 20; its
    # second child is judged for 5 and answers.
    tree = {
        "0": thought("0", None, {"generate": asked(10)}),
        "1": thought("1", "0", {"generate": asked(20), "value": asked(5)}),
        "2": thought("2", "0", {"value": asked(5)}, status="terminal", answer="7", value=1.0),
        "3": thought("3", "1", {"value": asked(5)}, status="terminal", answer="24", value=2.0),
        "4": thought("4", "1", {"value": asked(5)}, status="terminal", answer="9", value=1.0),
    }
    usage = {"requests": 6, "prompt_tokens": 50, "completion_tokens": 0, "dollars": None}
    row = {"key": "1", "method": "tot_dfs", "tree": packed(tree), "usage": usage, "score": 1.0}
    found = points(row, right)
    assert [point.score for point in found] == [0.0, 1.0, 1.0]
    assert [point.spent["requests"] for point in found] == [3, 5, 6]
    assert [point.spent["tokens"] for point in found] == [20, 45, 50]
    assert curve([row], right, "requests", [2, 3, 4, 5, 100]) == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert curve([row], right, "dollars", [1]) == [None]
    votes = [sampled("cot_sc", [answer] * 2) for answer in ("24", "7")]
    assert curve(votes, right, "tokens", [100, 120]) == [0.0, 0.5], "the mean over problems"


def test_with_all_that_was_spent_the_answer_counts_not_an_output_that_cannot_be_read() -> None:
    tree = {
        "0": thought("0", None, {"generate": asked(10)}),
        "1": thought("1", "0", {"value": asked(5)}, status="terminal", answer=None, value=3.0),
        "2": thought("2", "0", {"value": asked(5)}, status="terminal", answer="24", value=2.0),
    }
    usage = {"requests": 3, "prompt_tokens": 20, "completion_tokens": 0, "dollars": None}
    row = {"key": "1", "method": "tot_bfs", "tree": packed(tree), "usage": usage, "score": 1.0}
    outputs = [None, "24"]
    assert [point.score for point in points(row, right)] == [1.0, 1.0]
    assert [best_of_k(right(row, outputs), k) for k in (1, 2)] == [0.0, 1.0]
