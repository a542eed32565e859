"""How answers are scored: the official scorers, which alone see gold answers."""

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
"""How far an answer may be from decimals, as a share of them (the official TheoremQA script)."""

_VERDICTS = frozenset({"yes", "no", "noanswer"})

Each = TypeVar("Each")
Scorer = Callable[[str, str, str], float]
"""From problem, answer and gold answer to a score between 0 and 1."""


def exact_match(answer: str, gold: str) -> float:
    """Returns 1 if two answers are equal once case, punctuation and articles are gone, else 0.

    An answer of which nothing is then left is compared as it is, and an empty one is wrong: the
    official script takes `the` for `a`, and no answer for either.
    """
    if ours := normalize_answer(answer):
        return float(ours == normalize_answer(gold))
    bare = answer.strip().lower()
    return float(bool(bare) and bare == gold.strip().lower())


def f1(answer: str, gold: str) -> float:
    """Returns the harmonic mean of token precision and recall.

    Where either side is yes, no or noanswer and the other is not the same, it is 0.
    """
    ours, theirs = normalize_answer(answer), normalize_answer(gold)
    if ours != theirs and not _VERDICTS.isdisjoint((ours, theirs)):
        return 0.0
    a, b = ours.split(), theirs.split()
    common = (Counter(a) & Counter(b)).total()
    return 2 * common / (len(a) + len(b)) if common else 0.0


def solved(answer: str, gold: str) -> float:
    """Returns 1 if two numbers, choices, lists or verdicts are the same in canonical form."""
    return float(canonical(answer) == canonical(gold))


def equivalent(answer: str, gold: str) -> float:
    """Returns 1 if two answers are the same in canonical form, or by math-verify.

    Neither forgives a rounded number: `0.33` is not `1/3`. Two numbers need no second look; a
    formula that math-verify cannot compare in time is not the same.

    Raises:
        InputError: A second look is needed, and the extra `math` is not installed.
    """
    ours, theirs = canonical(answer), canonical(gold)
    if ours == theirs or None not in (number(ours), number(theirs)):
        return float(ours == theirs)
    return float(same_formula(answer, gold))


def roughly(answer: str, gold: str) -> float:
    """Returns 1 if an answer is right by the rule of the official TheoremQA script.

    Where the gold answer is a whole number, the answer must round to it; where it has decimals,
    even `1.0`, it may be 4 % of it away. Numbers of a list are compared one by one in ascending
    order (where one has decimals, all may be 4 % away; ours). A formula is worked out; `true`,
    `false` and choices must be the same.

    Raises:
        InputError: A formula has to be worked out, and the extra `math` is not installed.
    """
    ours, theirs = canonical(answer), canonical(gold)
    targets = [number(part) for part in theirs.split(", ")]
    parts = ours.strip("()[]").split(", ")
    if ours == theirs or None in targets or len(parts) != len(targets):
        return float(ours == theirs)
    whole = "." not in gold and "e" not in gold
    parts_of_answer = sorted(each for part in parts if (each := _worked_out(part)) is not None)
    wanted = sorted(each for each in targets if each is not None)
    return float(
        len(parts_of_answer) == len(wanted)
        and all(
            round(one) == other if whole else abs(one - other) <= CLOSE * abs(other)
            for one, other in zip(parts_of_answer, wanted, strict=True)
        )
    )


def _worked_out(text: str) -> Fraction | None:
    exact = number(text)
    if exact is None and (rounded := value(text)) is not None:
        return Fraction(rounded)
    return exact


def same_verdict(answer: str, gold: str) -> float:
    """Returns 1 if an answer states the verdict, yes or no (StrategyQA's accuracy).

    `Yes, she could` is a yes and so is `true`. `nobody` is neither: FireAct's script, which looks
    at the first letters alone, takes it for a no.
    """
    return float(verdict(answer, "box") == gold)


def same_label(answer: str, gold: str) -> float:
    """Returns 1 if two labels are the same but for case, punctuation and form: `REFUTED`.

    The official script knows no punctuation; ReAct's, which reads what a model wrote, drops it.
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
"""The score of one answer by task. Of HotpotQA it is exact match; as `hotpotqa_f1` it is F1, which
FGDIP reports. Of crosswords it is the share of right words, the middle row of Table 3;
`bench/crossword_scores.py` has the others. Creative writing has a judge instead."""


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
    """Returns the score of each output, as `scores`; none where nobody can tell.

    Answers to a task of the user's own are checked by the task, where it can; else one is right
    that is the gold answer, letter for letter.
    """
    if isinstance(task, Scores) and gold is not None:
        return [
            0.0 if answer is None else _now(task.score(problem, answer, gold, settings or {}))
            for answer in candidates
        ]
    if task.id in SCORERS and (gold is not None or isinstance(task, Checks)):
        return scores(task.id, problem, candidates, gold)
    if isinstance(task, Checks):
        return [float(each is not None and _now(task.check(problem, each))) for each in candidates]
    return [] if gold is None else [float(each == gold) for each in candidates]


def _now(said: Awaitable[Each] | Each) -> Each:
    """Returns what a capability says, which may be `async`; nobody else waits in this thread."""
    return asyncio.run(maybe_await(said)) if isawaitable(said) else said


def vote_of_texts(candidates: Sequence[str | None]) -> str | None:
    """Returns the commonest answer, letter for letter, of equals the first; None without any."""
    votes = Counter(answer for answer in candidates if answer is not None)
    return max(votes, key=lambda answer: votes[answer], default=None)


def best_of_k(scores: Sequence[float], k: int | None = None) -> float:
    """Returns the best score among a method's first k outputs, as an oracle would choose.

    With all outputs of a breadth-first search it is success@b, which is what Table 2 of Tree of
    Thoughts reports; with k samples of chain of thought it is its "best of k".

    Args:
        scores: The scores of the outputs in their order.
        k: How many outputs count; None: all.
    """
    return max(scores[:k], default=0.0)
