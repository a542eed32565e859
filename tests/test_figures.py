"""Figures of the benchmark by hand: statistics, scores, budgets."""

import sys
from collections.abc import Callable
from math import sqrt
from typing import Any

import pytest
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.bench.budget import curve, points
from thoughtgraph.bench.formulas import same_formula
from thoughtgraph.bench.judging import coherence
from thoughtgraph.bench.metrics import best_of_k, scores
from thoughtgraph.bench.result_files import packed
from thoughtgraph.bench.statistics import (
    bootstrap,
    compare,
    deviation,
    interval,
    mcnemar,
    mean,
    pearson,
    wilson,
)

CASES: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    # McNemar's test is the two-sided binomial test of the uneven pairs.
    (mcnemar, (0, 0), 1.0),
    (mcnemar, (5, 1), 2 * (1 + 6) / 2**6),
    (mcnemar, (10, 0), 2 / 2**10),
    (deviation, ([1.0, 3.0],), sqrt(2)),
    (deviation, ([1.0],), 0.0),
    # Less their means: -1, 0, 1 and -1, 1, 0.
    (pearson, ([(1, 1), (2, 3), (3, 2)],), 0.5),
    (pearson, ([],), None),
    (pearson, ([(1, 2), (1, 3)],), None),
    # Wilson's where all are right or wrong, else the bootstrap's.
    # Newcombe 1998, table I: Wilson's interval without continuity correction.
    (wilson, (81, 263), (0.2553, 0.3662)),
    (wilson, (0, 20), (0.0, 0.1611)),
    (wilson, (29, 29), (0.8830, 1.0)),
    (wilson, (0, 0), (0.0, 1.0)),
    (interval, ([0.0, 1.0] * 2,), (0.1500, 0.8500)),
    (interval, ([1.0] * 10,), (0.7225, 1.0)),
    (interval, ([0.5] * 10,), (0.5, 0.5)),
    (bootstrap, ([],), (0.0, 0.0)),
    # The mean of 400 fair coins has a standard deviation of 0.025: two of them, drawn by a seed.
    (bootstrap, ([0.0, 1.0] * 200,), (0.4525, 0.55)),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), CASES)
def test_a_statistic_by_hand(
    function: Callable[..., Any], arguments: tuple[Any, ...], expected: Any
) -> None:
    assert function(*arguments) == (expected and pytest.approx(expected, abs=5e-5))


def test_a_comparison_is_on_the_same_problems() -> None:
    found = compare([1, 1, 1, 0, 0, 1], [1, 0, 0, 0, 1, 0])
    assert found.problems == 6
    assert found.difference == pytest.approx(2 / 6)
    assert found.p == pytest.approx(2 * (1 + 4) / 2**4)
    assert found.interval.low < found.difference < found.interval.high
    same = compare([1, 0, 1], [1, 0, 1])
    assert (same.difference, same.interval, same.p) == (0.0, (0.0, 0.0), 1.0)
    assert compare([1, 0, 1, 1], [1, 0, 0, 0.5]).p == 0.5, "a half is wrong"
    with pytest.raises(ValueError):
        compare([1], [1, 0])


def test_scores_of_a_methods_outputs():
    outputs = ["4 + 9 + 10 + 13", None, "(10 - 4) * (13 - 9)"]
    each = scores("game24", "4 9 10 13", outputs, None)
    assert each == [0.0, 0.0, 1.0]
    assert [best_of_k(each, k) for k in (0, 1, 2, 3)] == [0.0, 0.0, 0.0, 1.0]
    assert best_of_k(each) == 1.0
    assert mean(each) == pytest.approx(1 / 3)
    assert best_of_k([]) == mean([]) == 0.0
    assert scores("strategyqa", "?", ["yes", "no"], "no") == [0.0, 1.0]
    assert scores("hotpotqa", "?", ["the city of Paris", None, "paris"], "Paris") == [0.0, 0.0, 1.0]
    assert scores("hotpotqa_f1", "?", ["the city of Paris", None], "Paris") == [0.5, 0.0]


async def test_of_the_scores_of_coherence_the_readable_count():
    replies = [f"Hm. Thus the coherency score is {n}" for n in (7, 8, "high", 9)] + [""]
    model = ScriptedChat(reply=lambda call: replies)
    assert await coherence(tg.ChatPort(model), "It rained.") == [7, 8, 9]
    assert [(call.role, call.n) for call in model.seen] == [("score", 5)]
    assert "It rained." in model.seen[0].prompt


FORMULAS = [
    (r"2\sqrt{3}", r"\sqrt{12}", True),
    ("0.33", "1/3", False),
    (r"\frac{1}{3}", "1/3", True),
    ("x+1", "1+x", True),
    ("3", "4", False),
    ("\\frac{", "3", False),
    ("", "3", False),
    ("3\x003", "4", False),
    ("\ud800", "4", False),
    pytest.param("9^{9^{9^{9}}}", "3", False, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("answer", "gold", "same"), FORMULAS)
@pytest.mark.ci
def test_formulas_are_compared_in_a_process_of_their_own(
    answer: str, gold: str, same: bool
) -> None:
    pytest.importorskip("math_verify", reason="the extra `math` is not installed")
    assert same_formula(answer, gold) is same


def test_without_the_extra_a_formula_is_not_silently_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "math_verify", None)
    same_formula.cache_clear()
    assert scores("math", "?", ["0.5", "0.33"], r"\frac12") == [1, 0], "numbers need no second look"
    with pytest.raises(tg.InputError, match=r"install thoughtgraph\[math\]"):
        scores("math", "?", ["1+x"], "x+1")


def right(answers: Any) -> list[float]:
    return [float(answer == "24") for answer in answers]


def sampled(method: str, answers: list[str | None]) -> dict[str, Any]:
    return {
        "key": method,
        "method": method,
        "candidates": answers,
        "scores": right(answers),
        "usage": {"prompt_tokens": 100, "completion_tokens": 40, "dollars": 0.14},
    }


def test_a_vote_is_cut_to_any_samples_in_a_row() -> None:
    """Of two, 7 and 24 is wrong, as a tie goes to the first. Of three, 7, 24 and none is."""
    found = points(sampled("cot_sc", ["7", "24", None, "24"]))
    assert [point.score for point in found] == [0.5, 0.75, 0.75, 1.0]
    assert [point.spent["tokens"] for point in found] == [110, 120, 130, 140]
    assert found[1].spent["dollars"] == pytest.approx(0.12)
    assert {point.spent["requests"] for point in found} == {1.0}
    assert [p.score for p in points(sampled("cot_sc", [None, "24"]))] == [0.5, 1.0]
    unvoted = points(sampled("cot", ["7", "24"]))
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
    assert [(p.score, p.spent["requests"], p.spent["tokens"]) for p in points(row)] == [
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
    row |= {"candidates": ["24", "7", "9"], "scores": [1.0, 0.0, 0.0]}
    found = points(row)
    assert [point.score for point in found] == [0.0, 1.0, 1.0]
    assert [point.spent["requests"] for point in found] == [3, 5, 6]
    assert [point.spent["tokens"] for point in found] == [20, 45, 50]
    assert curve([row], "requests", [2, 3, 4, 5, 100]) == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert curve([row], "dollars", [1]) == []
    votes = [sampled("cot_sc", [answer] * 2) for answer in ("24", "7")]
    assert curve(votes, "tokens", [100, 120]) == [0.0, 0.5], "the mean over problems"


def test_with_all_that_was_spent_the_answer_counts_not_an_output_that_cannot_be_read() -> None:
    tree = {
        "0": thought("0", None, {"generate": asked(10)}),
        "1": thought("1", "0", {"value": asked(5)}, status="terminal", answer=None, value=3.0),
        "2": thought("2", "0", {"value": asked(5)}, status="terminal", answer="24", value=2.0),
    }
    usage = {"requests": 3, "prompt_tokens": 20, "completion_tokens": 0, "dollars": None}
    row = {"key": "1", "method": "tot_bfs", "tree": packed(tree), "usage": usage, "score": 1.0}
    outputs = [None, "24"]
    row |= {"candidates": outputs, "scores": right(outputs)}
    assert [point.score for point in points(row)] == [1.0, 1.0]
    assert [best_of_k(right(outputs), k) for k in (1, 2)] == [0.0, 1.0]
