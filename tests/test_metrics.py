"""Scores of answers, their statistics, and formulas that are compared in a process of their own."""

import sys

import pytest
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.bench.formulas import same_formula
from thoughtgraph.bench.metrics import (
    best_of_k,
    coherence,
    scores,
)
from thoughtgraph.bench.statistics import mean, wilson


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


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe 1998, table I: Wilson's interval without continuity correction.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson_intervals_agree_with_published_ones(successes, trials, low, high):
    interval = wilson(successes, trials)
    assert interval == pytest.approx((low, high), abs=5e-5)


async def test_coherence_is_the_mean_of_the_readable_scores():
    replies = [f"Hm. Thus the coherency score is {n}" for n in (7, 8, "high", 9)] + [""]
    model = ScriptedChat(reply=lambda call: replies)
    verdict = await coherence(tg.ChatPort(model), "It rained.")
    assert verdict == (8.0, (7, 8, 9), 2)
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
