import pytest
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.bench.metrics import (
    best_of_k,
    coherence,
    exact_match,
    f1,
    game24,
    read_score,
    scores,
    solved,
)
from thoughtgraph.bench.statistics import mean, wilson


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("The Beatles!", "beatles", 1.0),
        ("a  New   York", "new york", 1.0),
        ("U.S.A.", "usa", 1.0),
        ("theatre", "atre", 0.0),
        ("42", "forty-two", 0.0),
        ("", "", 0.0),
        ("the", "a", 0.0),
        ("!", "", 0.0),
        ("", "A", 0.0),
        ("a ", "A", 1.0),
        ("The The", "the the", 1.0),
    ],
)
def test_exact_match(answer, gold, same):
    assert exact_match(answer, gold) == same


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("Paris", "paris", 1.0),
        ("the city of Paris", "Paris", 0.5),
        ("John Smith", "Smith Johnson", 0.5),
        ("red red blue", "red", 0.5),
        ("yes", "yes", 1.0),
        ("yes it is", "yes", 0.0),
        ("no", "yes", 0.0),
        ("noanswer given", "noanswer", 0.0),
        ("", "Paris", 0.0),
    ],
)
def test_token_f1(answer, gold, score):
    assert f1(answer, gold) == pytest.approx(score)


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("$18.00", "18", 1.0),
        ("1,450,000", "1450000", 1.0),
        ("0.5", "\\frac{1}{2}", 1.0),
        ("(b)", "B", 1.0),
        ("Yes", "yes", 1.0),
        ("[2, 3.0]", "2,3", 1.0),
        ("0.333", "1/3", 0.0),
        ("18 dollars", "18", 1.0),
        ("B", "C", 0.0),
        ("0.5", ".5", 1.0),
        ("5", ".5", 0.0),
        ("$.75", "3/4", 1.0),
    ],
)
def test_solve_rate(answer, gold, score):
    assert solved(answer, gold) == score


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("yes", "yes", 1.0),
        ("Yes, she could.", "yes", 1.0),
        ("**No**", "no", 1.0),
        ("true", "yes", 1.0),
        ("False", "no", 1.0),
        ("yes", "no", 0.0),
        ("nobody", "no", 0.0),
        ("not sure", "no", 0.0),
        ("Germany", "no", 0.0),
        ("", "no", 0.0),
    ],
)
def test_what_a_model_puts_between_the_brackets_of_finish_is_read_as_a_verdict(answer, gold, score):
    assert scores("strategyqa", "?", [answer], gold) == [score]


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("SUPPORTS", 1.0),
        ("supports.", 1.0),
        ('"Supports"', 1.0),
        ("SUPPORTED", 1.0),
        ("not SUPPORTED", 0.0),
        ("REFUTES", 0.0),
        ("not enough info", 0.0),
        ("", 0.0),
    ],
)
def test_a_label_is_compared_without_case_punctuation_and_form(answer, score):
    assert scores("fever", "?", [answer], "SUPPORTS") == [score]


def test_game24_is_exact():
    assert game24("3 3 8 8", "8 / (3 - 8 / 3) = 24") == 1.0
    assert game24("3 3 8 8", "8 * 3 * (8 / 8)") == 0.0
    assert game24("3 3 8 8", "__import__('os')") == 0.0


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


def test_wilson_without_trials_says_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Thus the coherency score is 7", 7),
        ("the coherency score is **10**.", 10),
        ("The coherency score is 3. No: the coherency score is 4", 4),
        ("Thus the coherency score is 7/10", 7),
        ("**Coherency score**: 7", 7),
        ("the coherency score is 7 out of 10.", 7),
        ("the coherence score \u2013 7.0", 7),
        ("Coherency score (1-10): 7", 7),
        (r"the coherency score is $\boxed{7}$", 7),
        ("### Coherency Score\n\n7", 7),
        ('{"coherency score": 7}', 7),
        ("the coherency score is a 7", 7),
        ("the coherency score is 7.5", None),
        ("the coherency score is 7,5", None),
        ("the coherency score is 7-8", None),
        ("the coherency score is 7%", None),
        ("the coherency score is 4/5", None),
        ("the coherency score is 70/100", None),
        ("the coherency score is 0", None),
        ("the coherency score is 11", None),
        ("7", None),
        ("the coherency score is " + "9" * 100_000, None),
        ("", None),
    ],
)
def test_the_score_in_a_judges_text(text, score):
    assert read_score(text) == score


async def test_coherence_is_the_mean_of_the_readable_scores():
    replies = [f"Hm. Thus the coherency score is {n}" for n in (7, 8, "high", 9)] + [""]
    model = ScriptedChat(reply=lambda call: replies)
    verdict = await coherence(tg.ChatPort(model), "It rained.")
    assert verdict == (8.0, (7, 8, 9), 2)
    assert [(call.role, call.n) for call in model.seen] == [("score", 5)]
    assert "It rained." in model.seen[0].prompt


async def test_coherence_without_a_readable_score_is_zero():
    port = tg.ChatPort(ScriptedChat(reply=lambda call: "Lovely."))
    assert await coherence(port, "It rained.") == (0.0, (), 5)


async def test_no_passage_scores_zero_unasked():
    model = ScriptedChat(reply=lambda call: "Thus the coherency score is 10")
    assert (await coherence(tg.ChatPort(model), " \n")).score == 0.0
    assert model.seen == []
