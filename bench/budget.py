"""What a method would have reached with less: one run holds the answers of all smaller budgets.

Samples that vote can be cut after any of them; a search after any of its outputs, of which the best
so far would have answered. A point of a curve is thus had without another run. It is exact for the
votes of self-consistency, whose samples do not know of each other: any k of them in a row are a run
of k, and the point is the mean over all of these. For a search it is what had been found by then: a
search that is told a limit may choose its steps otherwise (ours).

What is scored is the answer, which is the best output that can be read. It need not be the first of
a row's outputs: where that cannot be read, the first output scores 0 and the answer is a later one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, Literal, NamedTuple

from thoughtgraph import registry
from thoughtgraph.bench.metrics import scores_of
from thoughtgraph.bench.report_lines import outputs_of
from thoughtgraph.bench.result_files import Row, tree_of
from thoughtgraph.bench.statistics import mean
from thoughtgraph.nodes.tally import ballots_of

Unit = Literal["requests", "tokens", "dollars"]
SAMPLED = ("io", "cot", "cot_sc")
"""Methods whose outputs are the samples of one request."""
BATCHED = "adaptive"
"""The method whose samples come in several requests."""
Sample = tuple[str | None, float]
"""An answer, and what it scores."""


class Point(NamedTuple):
    """What a run had reached once it had spent so much."""

    spent: Mapping[str, float]
    """Requests, tokens and dollars; dollars are left out where a price is unknown."""
    score: float


def points(row: Row) -> list[Point]:
    """Returns what a run would have scored at each cost at which its answer could change.

    Args:
        row: A finished problem, or a summary of one, which holds its points. Of `io`, `cot` and
            `cot_sc` there is a point for each sample.
    """
    if "points" in row:
        return [Point(*each) for each in row["points"]]
    if row["method"] in SAMPLED:
        return list(_votes(row))
    if row["method"] == BATCHED and row["settings"].get("draw") == "answers":
        return list(_batches(row))
    return list(_outputs(row))


def curve(rows: Sequence[Row], unit: Unit, budgets: Sequence[float]) -> list[float]:
    """Returns the mean score of runs at each budget; 0 for a run that has no answer yet.

    Args:
        rows: Finished problems of one method.
        unit: What a budget counts.
        budgets: The budgets.

    Returns:
        One score a budget; nothing where the unit is not known of every run.
    """
    known = [points(row) for row in rows]
    if any(unit not in point.spent for each in known for point in each):
        return []
    return [mean([_at(each, unit, budget) for each in known]) for budget in budgets]


def _at(reached: Sequence[Point], unit: Unit, budget: float) -> float:
    return next((p.score for p in reversed(reached) if p.spent[unit] <= budget), 0.0)


def _votes(row: Row) -> Iterator[Point]:
    """Yields the vote of one sample, of two, and so on: the mean over all in a row."""
    drawn = len(row.get("candidates", []))
    if not drawn:  # A limit ended it before there was any.
        yield Point(_whole(row["usage"]), float(row["score"]))
    first = row["scores"][:1] * drawn
    cast = _ballots(row)
    votes = [(cast.get(answer, answer), score) for answer, score in _samples(row)]
    scores = _mean_votes(votes) if row["method"] == "cot_sc" else first
    # An endpoint that returns fewer samples a call reads the prompt once for each call.
    calls = row["usage"].get("calls") or 1
    for size, score in enumerate(scores, 1):
        read = ceil(size * calls / drawn) / calls
        yield Point(_sampled(row["usage"], size / drawn, read), score)


def _batches(row: Row) -> Iterator[Point]:
    """Yields the vote after each request; samples of one request are not told apart by cost."""
    tree, usage = tree_of(row), row["usage"]
    order = sorted((each for each in tree.values() if each["parent"] is not None), key=_number)
    # Trees of older versions do not say it: then the end is all that is known.
    sizes = Counter(each.get("created_by", {}).get("expansion", 0) for each in order)
    batches = [sizes[request] for request in sorted(sizes)]
    # The row's candidates are in the order of their votes, and only those that are answers.
    score_of, cast, drawn = dict(_samples(row)), _ballots(row), 0
    answers = [each.get("answer") for each in order]
    scores = _voted([(cast.get(each), score_of.get(each, 0.0)) for each in answers])
    for requests, size in enumerate(batches, 1):
        drawn += size
        share, read = drawn / len(order), requests / len(batches)
        yield Point(_sampled(usage, share, read, requests), scores[drawn - 1])


def _number(thought: Mapping[str, Any]) -> int:
    return int(thought["id"])


def _ballots(row: Row) -> dict[str | None, str | None]:
    """Returns what each answer of a run's samples voted for."""
    tree = tree_of(row) if "tree" in row else {}  # recorded runs have none
    answers = {key: each for key, each in tree.items() if "answer" in each}
    return {answers[key]["answer"]: ballot for key, ballot in ballots_of(answers).items()}


def _samples(row: Row) -> list[Sample]:
    return list(zip(row.get("candidates", []), row["scores"], strict=False))


def _mean_votes(samples: Sequence[Sample]) -> list[float]:
    """Returns the mean score of the votes of each number of samples.

    Each sample begins one of them, and the last is followed by the first. The vote of all is the
    run's own: only the order of equals could change it.
    """
    if not samples:
        return []
    begun = [[*samples[at:], *samples[:at]] for at in range(len(samples))]
    means = [mean(scores) for scores in zip(*map(_voted, begun), strict=True)]
    return [*means[:-1], _voted(samples)[-1]]


def _voted(samples: Iterable[Sample]) -> list[float]:
    """Returns the score of the majority after each ballot; of equals the earliest wins."""
    votes: Counter[str] = Counter()
    score_of: dict[str, float] = {}
    scores: list[float] = []
    for answer, score in samples:
        if answer is not None:
            votes[answer] += 1
            score_of.setdefault(answer, score)
        # Both keep the order of first occurrence, so `max` finds the earliest of equals.
        best = max(votes, key=lambda each: votes[each], default=None)
        scores.append(0.0 if best is None else score_of[best])
    return scores


def _sampled(
    usage: Mapping[str, Any], share: float, read: float = 1.0, requests: float = 1.0
) -> dict[str, float]:
    """Returns what a share of the samples costs.

    Args:
        usage: What all cost.
        share: The share of the samples.
        read: The share of the calls: each reads the prompt once.
        requests: How many requests they took.
    """
    tokens = usage["prompt_tokens"] * read + usage["completion_tokens"] * share
    return _spent(usage, requests, tokens)


def _spent(usage: Mapping[str, Any], requests: float, tokens: float) -> dict[str, float]:
    """Returns a part of what was spent; a token is worth its share of the dollars."""
    spent = {"requests": float(requests), "tokens": float(tokens)}
    if usage.get("dollars") is not None:
        total = usage["prompt_tokens"] + usage["completion_tokens"]
        spent["dollars"] = usage["dollars"] * tokens / total if total else 0.0
    return spent


def _whole(usage: Mapping[str, Any]) -> dict[str, float]:
    return _sampled(usage, 1.0, requests=usage["requests"])


def _outputs(row: Row) -> Iterator[Point]:
    """Yields what the best output so far scores, in the order in which outputs came."""
    tree = tree_of(row)
    best: Mapping[str, Any] | None = None
    for thought in tree.values():
        if thought["status"] != "terminal" or thought.get("answer") is None:
            continue
        if best is None or thought.get("value", 0.0) > best.get("value", 0.0):
            best = thought
            score = _score(row, thought["answer"])
            yield Point(_until(tree, row["usage"], int(thought["id"])), score)
    yield Point(_whole(row["usage"]), float(row["score"]))


def _score(row: Row, answer: str | None) -> float:
    """Returns the score of an answer; what was said of an output, by a judge too, holds."""
    said = dict(zip(outputs_of(row), row["scores"], strict=False))
    if answer in said:
        return float(said[answer])
    task, gold = registry.task(row["task"]), row["gold"]
    return scores_of(task, row["problem"], [answer], gold, row["settings"])[0]


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
    return _spent(usage, total["requests"], tokens)
