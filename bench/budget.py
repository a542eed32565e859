"""What a method would have reached with less: one run holds the answers of all smaller budgets.

Samples that vote can be cut after any of them; a search after any of its outputs, of which the best
so far would have answered. A point of a curve is thus had without another run. It is exact for the
votes of self-consistency, whose samples do not know of each other. For a search it is what had been
found by then: a search that is told a limit may choose its steps otherwise (ours).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from thoughtgraph.bench.result_files import Row, unpacked
from thoughtgraph.bench.statistics import mean

Unit = Literal["requests", "tokens", "dollars"]
SAMPLED = ("io", "cot", "cot_sc")
"""Methods whose outputs are the samples of one request."""
Judge = Callable[[Row, Sequence[str | None]], Sequence[float]]
"""Scores answers to a row's problem."""


class Point(NamedTuple):
    """What a run had reached once it had spent so much."""

    spent: Mapping[str, float]
    """Requests, tokens and dollars; dollars are left out where a price is unknown."""
    score: float


def points(row: Row, judge: Judge) -> list[Point]:
    """Returns what a run would have scored at each cost at which its answer could change.

    Args:
        row: A finished problem.
        judge: Scores answers that are not among the row's.
    """
    if row["method"] in SAMPLED:
        return list(_votes(row))
    return list(_outputs(row, judge))


def curve(
    rows: Sequence[Row], judge: Judge, unit: Unit, budgets: Sequence[float]
) -> list[float | None]:
    """Returns the mean score of runs at each budget; 0 for a run that has no answer yet.

    Args:
        rows: Finished problems of one method.
        judge: Scores answers.
        unit: What a budget counts.
        budgets: The budgets.

    Returns:
        One score a budget; None where the unit is not known of every run.
    """
    known = [points(row, judge) for row in rows]
    if not known or any(unit not in point.spent for each in known for point in each):
        return [None] * len(budgets)
    return [mean([_at(each, unit, budget) for each in known]) for budget in budgets]


def _at(reached: Sequence[Point], unit: Unit, budget: float) -> float:
    return next((p.score for p in reversed(reached) if p.spent[unit] <= budget), 0.0)


def _votes(row: Row) -> Iterator[Point]:
    """Yields the vote of the first sample, of the first two, and so on."""
    answers, scores, usage = row["candidates"], row["scores"], row["usage"]
    votes: Counter[str] = Counter()
    score_of: dict[str, float] = {}
    for size, (answer, score) in enumerate(zip(answers, scores, strict=True), 1):
        if answer is not None:
            votes[answer] += 1
            score_of.setdefault(answer, score)
        first = row["method"] != "cot_sc"
        # Both keep the order of first occurrence, so `max` finds the earliest of equals.
        best = max(votes, key=lambda each: votes[each], default=None)
        scored = scores[0] if first else 0.0 if best is None else score_of[best]
        yield Point(_sampled(usage, size / len(answers)), scored)


def _sampled(usage: Mapping[str, Any], share: float) -> dict[str, float]:
    """Returns what a share of the samples of one request costs: its prompt is read once."""
    completion = usage["completion_tokens"] * share
    spent = {"requests": 1.0, "tokens": usage["prompt_tokens"] + completion}
    if usage.get("dollars") is not None:
        total = usage["prompt_tokens"] + usage["completion_tokens"]
        spent["dollars"] = usage["dollars"] * spent["tokens"] / total if total else 0.0
    return spent


def _outputs(row: Row, judge: Judge) -> Iterator[Point]:
    """Yields what the best output so far scores, in the order in which outputs came."""
    tree = unpacked(row["tree"]) if isinstance(row["tree"], str) else row["tree"]
    best: Mapping[str, Any] | None = None
    for thought in tree.values():
        if thought["status"] != "terminal" or thought.get("answer") is None:
            continue
        if best is None or thought.get("value", 0.0) > best.get("value", 0.0):
            best = thought
            (score,) = judge(row, [thought["answer"]])
            yield Point(_until(tree, row["usage"], int(thought["id"])), score)
    yield Point(_whole(row["usage"]), float(row["score"]))


def _until(tree: Mapping[str, Any], usage: Mapping[str, Any], at: int) -> dict[str, float]:
    """Returns what was spent when a thought had been made.

    A thought keeps what its expansion and its verdict cost. Its expansion counts from its first
    child on, the rest as soon as it is there.
    """
    parents = {each["parent"] for key, each in tree.items() if int(key) <= at}
    total = Counter[str]()
    for key, thought in tree.items():
        for role, numbers in thought.get("usage", {}).items():
            counts = key in parents if role == "generate" else int(key) <= at
            total.update(numbers if counts else {})
    tokens = total["prompt_tokens"] + total["completion_tokens"]
    spent = {"requests": float(total["requests"]), "tokens": float(tokens)}
    whole = _whole(usage)
    if "dollars" in whole:
        spent["dollars"] = whole["dollars"] * tokens / whole["tokens"] if whole["tokens"] else 0.0
    return spent


def _whole(usage: Mapping[str, Any]) -> dict[str, float]:
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    spent = {"requests": float(usage["requests"]), "tokens": float(tokens)}
    if usage.get("dollars") is not None:
        spent["dollars"] = usage["dollars"]
    return spent
