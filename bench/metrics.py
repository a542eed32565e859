"""The official scorers of answers, which alone see gold answers."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from fractions import Fraction
from inspect import isawaitable
from typing import Any, TypeVar

from thoughtgraph.answers import Scores
from thoughtgraph.bench import crossword_scores
from thoughtgraph.bench.formulas import same_formula, value
from thoughtgraph.task import Checks, Task, maybe_await
from thoughtgraph.tasks.answer_text import normalize_answer
from thoughtgraph.tasks.fever import label
from thoughtgraph.tasks.game24.game24 import Game24
from thoughtgraph.tasks.numbers import canonical, number
from thoughtgraph.tasks.strategyqa import verdict

CLOSE = Fraction(4, 100)
"""Largest relative error if the gold answer has decimals (the official TheoremQA script)."""

_VERDICTS = frozenset({"yes", "no", "noanswer"})

Each = TypeVar("Each")
Scorer = Callable[[str, str, str], float]
"""From problem, answer and gold answer to a score between 0 and 1."""


def exact_match(answer: str, gold: str) -> float:
    """Returns 1 if two answers are equal without case, punctuation and articles, else 0.

    An answer that consists of nothing else is compared in lower case, and an empty one is wrong.
    The official script would take `the` for `a`, and an empty answer for either.
    """
    if predicted := normalize_answer(answer):
        return float(predicted == normalize_answer(gold))
    bare = answer.strip().lower()
    return float(bool(bare) and bare == gold.strip().lower())


def f1(answer: str, gold: str) -> float:
    """Returns the harmonic mean of token precision and recall.

    It is 0 if either side is yes, no or noanswer and the other side differs.
    """
    predicted, expected = normalize_answer(answer), normalize_answer(gold)
    if predicted != expected and not _VERDICTS.isdisjoint((predicted, expected)):
        return 0.0
    predicted_tokens, expected_tokens = predicted.split(), expected.split()
    common = (Counter(predicted_tokens) & Counter(expected_tokens)).total()
    return 2 * common / (len(predicted_tokens) + len(expected_tokens)) if common else 0.0


def solved(answer: str, gold: str) -> float:
    """Returns 1 if two numbers, choices, lists or verdicts are the same in canonical form."""
    return float(canonical(answer) == canonical(gold))


def equivalent(answer: str, gold: str) -> float:
    """Returns 1 if two answers are the same in canonical form, or by math-verify.

    Neither accepts a rounded number: `0.33` is not `1/3`. Two numbers need no math-verify. Formulas
    that math-verify cannot compare in time count as different.

    Raises:
        InputError: math-verify is needed, and the extra `math` is not installed.
    """
    predicted, expected = canonical(answer), canonical(gold)
    if predicted == expected or None not in (number(predicted), number(expected)):
        return float(predicted == expected)
    return float(same_formula(answer, gold))


def roughly(answer: str, gold: str) -> float:
    """Returns 1 if an answer is right by the rule of the official TheoremQA script.

    If the gold answer is a whole number, the answer must round to it. If the gold answer has
    decimals, even `1.0`, the answer may differ by 4 % of it. Lists are compared number by number in
    ascending order (if one gold number has decimals, all may differ by 4 %; ours). Formulas are
    evaluated; `true`, `false` and choices must be the same.

    Raises:
        InputError: A formula must be evaluated, and the extra `math` is not installed.
    """
    predicted, expected = canonical(answer), canonical(gold)
    targets = [number(part) for part in expected.split(", ")]
    parts = predicted.strip("()[]").split(", ")
    if predicted == expected or None in targets or len(parts) != len(targets):
        return float(predicted == expected)
    whole = "." not in gold and "e" not in gold
    values = sorted(each for part in parts if (each := _evaluated(part)) is not None)
    wanted = sorted(each for each in targets if each is not None)
    return float(
        len(values) == len(wanted)
        and all(
            round(actual) == target if whole else abs(actual - target) <= CLOSE * abs(target)
            for actual, target in zip(values, wanted, strict=True)
        )
    )


def _evaluated(text: str) -> Fraction | None:
    exact = number(text)
    if exact is None and (rounded := value(text)) is not None:
        return Fraction(rounded)
    return exact


def same_verdict(answer: str, gold: str) -> float:
    """Returns 1 if an answer states the gold verdict, yes or no (StrategyQA's accuracy).

    `Yes, she could` and `true` are a yes. `nobody` is neither: FireAct's script, which compares the
    first letters alone, takes it for a no.
    """
    return float(verdict(answer, "box") == gold)


def same_label(answer: str, gold: str) -> float:
    """Returns 1 if two labels are the same up to case, punctuation and form, such as `REFUTED`.

    The official script keeps punctuation; ReAct's, which reads completions, drops it.
    """
    return float(label(answer, "box") == gold)


def game24(problem: str, answer: str) -> float:
    """Returns 1 if an expression uses each of the puzzle's numbers once and equals 24 exactly."""
    return float(Game24().check(problem, answer))


SCORERS: Mapping[str, Scorer] = {
    "game24": lambda problem, answer, gold: game24(problem, answer),
    **dict.fromkeys(
        ("gsm8k", "svamp", "aqua", "mmlu", "ptr", "clevr"),
        lambda problem, answer, gold: solved(answer, gold),
    ),
    "math": lambda problem, answer, gold: equivalent(answer, gold),
    "theoremqa": lambda problem, answer, gold: roughly(answer, gold),
    "strategyqa": lambda problem, answer, gold: same_verdict(answer, gold),
    "hotpotqa": lambda problem, answer, gold: exact_match(answer, gold),
    "hotpotqa_f1": lambda problem, answer, gold: f1(answer, gold),
    "crosswords": lambda problem, answer, gold: crossword_scores.score(answer, gold).words,
    "fever": lambda problem, answer, gold: same_label(answer, gold),
}
"""The scorer of one answer, by task. HotpotQA's is exact match; `hotpotqa_f1` is F1, which FGDIP
reports. That of crosswords is the share of right words, the middle row of Table 3;
`bench/crossword_scores.py` has the other rows. Creative writing has a judge instead."""


def scores(
    task: str, problem: str, candidates: Sequence[str | None], gold: str | None
) -> list[float]:
    """Returns the score of each output of a method; one without an answer scores 0.

    Args:
        task: The task's id, or another key of `SCORERS`.
        problem: The problem in canonical form.
        candidates: The answers of the outputs in their order.
        gold: The gold answer; None where the task checks answers exactly.
    """
    score = SCORERS[task]
    return [0.0 if answer is None else score(problem, answer, gold or "") for answer in candidates]


def scores_of(
    task: Task,
    problem: str,
    candidates: Sequence[str | None],
    gold: str | None,
    settings: Mapping[str, Any] | None = None,
) -> list[float]:
    """Returns the score of each output, like `scores`; empty if there is no way to score.

    A user's own task scores or checks its answers itself if it can. Otherwise an answer is right if
    it equals the gold answer letter for letter.
    """
    if isinstance(task, Scores) and gold is not None:
        return [
            0.0 if answer is None else _sync(task.score(problem, answer, gold, settings or {}))
            for answer in candidates
        ]
    if task.id in SCORERS and (gold is not None or isinstance(task, Checks)):
        return scores(task.id, problem, candidates, gold)
    if isinstance(task, Checks):
        return [float(each is not None and _sync(task.check(problem, each))) for each in candidates]
    return [] if gold is None else [float(each == gold) for each in candidates]


def _sync(result: Awaitable[Each] | Each) -> Each:
    """Returns the value of a capability, which may be `async`; this thread has no other loop."""
    return asyncio.run(maybe_await(result)) if isawaitable(result) else result


def vote_of_texts(candidates: Sequence[str | None]) -> str | None:
    """Returns the most frequent answer, letter for letter, the first of a tie; None without any."""
    votes = Counter(answer for answer in candidates if answer is not None)
    return max(votes, key=lambda answer: votes[answer], default=None)


def best_of_k(scores: Sequence[float], k: int | None = None) -> float:
    """Returns the best score among a method's first k outputs, as an oracle would choose.

    Of all outputs of a breadth-first search, it is success@b, which Table 2 of Tree of Thoughts
    reports. Of k samples of chain of thought, it is that paper's "best of k".

    Args:
        scores: The scores of the outputs in their order.
        k: How many outputs count; None: all.
    """
    return max(scores[:k], default=0.0)
