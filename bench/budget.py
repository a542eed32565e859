"""Scores at smaller budgets, computed from finished runs.

A vote can be cut after any sample. A search can be cut after any output: the best output so far is
then its answer. So a point of a curve needs no run of its own. The points of self-consistency are
exact, because its samples are independent: any k consecutive samples are a run of k, and a point is
the mean over all of these runs. The points of a search are its answers so far; a search that knows
its limit may choose other steps (ours).

A point scores the answer, which is the best readable output. The answer is not always the first of
a row's outputs: an unreadable first output scores 0, and the answer is then a later one.
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
"""The method that draws its samples in several requests."""
Sample = tuple[str | None, float]
"""An answer and its score."""


class Point(NamedTuple):
    """The score that a run had reached at some cost."""

    spent: Mapping[str, float]
    """Requests, tokens and dollars so far; without dollars if a price is unknown."""
    score: float


def points(row: Row) -> list[Point]:
    """Returns the score of a run at every cost at which its answer could have changed.

    Args:
        row: A finished problem, or its summary, which holds the points already. `io`, `cot` and
            `cot_sc` have one point per sample.
    """
    if "points" in row:
        return [Point(*each) for each in row["points"]]
    if row["method"] in SAMPLED:
        return list(_vote_points(row))
    if row["method"] == BATCHED and row["settings"].get("draw") == "answers":
        return list(_batch_points(row))
    return list(_output_points(row))


def curve(rows: Sequence[Row], unit: Unit, budgets: Sequence[float]) -> list[float]:
    """Returns the mean score of runs at each budget; a run without an answer yet scores 0.

    Args:
        rows: Finished problems of one method.
        unit: The unit of the budgets.
        budgets: The budgets.

    Returns:
        One score per budget; an empty list if the unit is unknown for any run.
    """
    runs = [points(row) for row in rows]
    if any(unit not in point.spent for run in runs for point in run):
        return []
    return [mean([_score_at(run, unit, budget) for run in runs]) for budget in budgets]


def _score_at(run_points: Sequence[Point], unit: Unit, budget: float) -> float:
    return next((p.score for p in reversed(run_points) if p.spent[unit] <= budget), 0.0)


def _vote_points(row: Row) -> Iterator[Point]:
    """Yields a point for each number of samples: the mean over all votes of so many in a row."""
    count = len(row.get("candidates", []))
    if not count:  # A limit ended the run before its first sample.
        yield Point(_full_cost(row["usage"]), float(row["score"]))
    first = row["scores"][:1] * count
    ballots = _ballots(row)
    votes = [(ballots.get(answer, answer), score) for answer, score in _samples(row)]
    scores = _mean_votes(votes) if row["method"] == "cot_sc" else first
    # An endpoint that returns fewer samples per call reads the prompt in every call.
    calls = row["usage"].get("calls") or 1
    for size, score in enumerate(scores, 1):
        calls_share = ceil(size * calls / count) / calls
        yield Point(_share_cost(row["usage"], size / count, calls_share), score)


def _batch_points(row: Row) -> Iterator[Point]:
    """Yields a point after each request: samples of one request have no costs of their own."""
    tree, usage = tree_of(row), row["usage"]
    samples = sorted((each for each in tree.values() if each["parent"] is not None), key=_id)
    # Trees of older versions lack `created_by`: they give one point, at the end of the run.
    sizes = Counter(each.get("created_by", {}).get("expansion", 0) for each in samples)
    batches = [sizes[number] for number in sorted(sizes)]
    # The row sorts its candidates by votes and leaves out samples without an answer.
    score_of, ballots, drawn = dict(_samples(row)), _ballots(row), 0
    answers = [each.get("answer") for each in samples]
    scores = _voted([(ballots.get(each), score_of.get(each, 0.0)) for each in answers])
    for requests, batch in enumerate(batches, 1):
        drawn += batch
        share, read = drawn / len(samples), requests / len(batches)
        yield Point(_share_cost(usage, share, read, requests), scores[drawn - 1])


def _id(thought: Mapping[str, Any]) -> int:
    return int(thought["id"])


def _ballots(row: Row) -> dict[str | None, str | None]:
    """Returns the ballot of each answer among a run's samples."""
    tree = tree_of(row) if "tree" in row else {}  # recorded runs have none
    answers = {key: each for key, each in tree.items() if "answer" in each}
    return {answers[key]["answer"]: ballot for key, ballot in ballots_of(answers).items()}


def _samples(row: Row) -> list[Sample]:
    return list(zip(row.get("candidates", []), row["scores"], strict=False))


def _mean_votes(samples: Sequence[Sample]) -> list[float]:
    """Returns the mean score of all votes of n samples in a row, for each n.

    A vote starts at each sample and wraps around from the last sample to the first. The vote of all
    samples is the run's own, because only the order of tied answers could change it.
    """
    if not samples:
        return []
    rotations = [[*samples[start:], *samples[:start]] for start in range(len(samples))]
    means = [mean(scores) for scores in zip(*map(_voted, rotations), strict=True)]
    return [*means[:-1], _voted(samples)[-1]]


def _voted(samples: Iterable[Sample]) -> list[float]:
    """Returns the score of the leading answer after each ballot; the earliest wins a tie."""
    votes: Counter[str] = Counter()
    score_of: dict[str, float] = {}
    scores: list[float] = []
    for answer, score in samples:
        if answer is not None:
            votes[answer] += 1
            score_of.setdefault(answer, score)
        # A Counter keeps the order of first occurrence, so `max` returns the earliest of a tie.
        best = max(votes, key=lambda each: votes[each], default=None)
        scores.append(0.0 if best is None else score_of[best])
    return scores


def _share_cost(
    usage: Mapping[str, Any], share: float, read: float = 1.0, requests: float = 1.0
) -> dict[str, float]:
    """Returns the cost of a share of a run's samples.

    Args:
        usage: The usage of all samples.
        share: The share of the samples.
        read: Their share of the calls, each of which reads the prompt once.
        requests: How many requests they took.
    """
    tokens = usage["prompt_tokens"] * read + usage["completion_tokens"] * share
    return _cost(usage, requests, tokens)


def _cost(usage: Mapping[str, Any], requests: float, tokens: float) -> dict[str, float]:
    """Returns a cost in each unit; every token costs an equal share of the run's dollars."""
    spent = {"requests": float(requests), "tokens": float(tokens)}
    if usage.get("dollars") is not None:
        total = usage["prompt_tokens"] + usage["completion_tokens"]
        spent["dollars"] = usage["dollars"] * tokens / total if total else 0.0
    return spent


def _full_cost(usage: Mapping[str, Any]) -> dict[str, float]:
    return _share_cost(usage, 1.0, requests=usage["requests"])


def _output_points(row: Row) -> Iterator[Point]:
    """Yields a point at each output that beats all earlier ones, and one at the end of the run."""
    tree = tree_of(row)
    best: Mapping[str, Any] | None = None
    for thought in tree.values():
        if thought["status"] != "terminal" or thought.get("answer") is None:
            continue
        if best is None or thought.get("value", 0.0) > best.get("value", 0.0):
            best = thought
            score = _score(row, thought["answer"])
            yield Point(_cost_until(tree, row["usage"], int(thought["id"])), score)
    yield Point(_full_cost(row["usage"]), float(row["score"]))


def _score(row: Row, answer: str | None) -> float:
    """Returns the score that the row has for an answer, a judge's too; else computes it."""
    score_of = dict(zip(outputs_of(row), row["scores"], strict=False))
    if answer in score_of:
        return float(score_of[answer])
    task, gold = registry.task(row["task"]), row["gold"]
    return scores_of(task, row["problem"], [answer], gold, row["settings"])[0]


def _cost_until(tree: Mapping[str, Any], usage: Mapping[str, Any], at: int) -> dict[str, float]:
    """Returns the cost of a search up to the creation of thought `at`.

    A thought holds the usage of its expansion and of its verdict. The expansion counts once the
    thought's first child exists, the rest once the thought itself exists.
    """
    parents = {each["parent"] for key, each in tree.items() if int(key) <= at}
    total = Counter[str]()
    for key, thought in tree.items():
        for role, numbers in thought.get("usage", {}).items():
            counts = key in parents if role == "generate" else int(key) <= at
            total.update(numbers if counts else {})
    tokens = total["prompt_tokens"] + total["completion_tokens"]
    return _cost(usage, total["requests"], tokens)
