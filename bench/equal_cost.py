"""Compares each method with a vote at equal cost: as many samples of `cot_sc` as its tokens buy.

A search that wins at ten times the cost proves nothing: the same tokens may buy enough votes to win
as well ("Reasoning in Token Economies", Wang et al. 2024).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from thoughtgraph.bench.budget import Point, points
from thoughtgraph.bench.report_lines import Entry, Problem, problem_of
from thoughtgraph.bench.statistics import Comparison, compare, mean

VOTE = "cot_sc"
"""The method that all others are compared with."""


class EqualCost(NamedTuple):
    """A line and the vote of equal cost, on the problems that both have."""

    entry: Entry
    tokens: float
    """The line's mean tokens per problem."""
    score: float
    samples: int
    """Size of the vote: the fewest samples that cost as much as the line, else all of them."""
    vote_tokens: float
    """The vote's mean tokens per problem."""
    vote_score: float
    comparison: Comparison
    """The line's score minus the vote's."""

    @property
    def dearer(self) -> bool:
        """Whether the line costs more than the vote of all samples, so that costs are not equal."""
        return self.tokens > self.vote_tokens


def beside_votes(table: Sequence[Entry]) -> Iterator[EqualCost]:
    """Yields the comparison of each line with `cot_sc` at equal tokens.

    Args:
        table: The lines of one task, set of problems and model.
    """
    votes = votes_of(table)
    for entry in table:
        if votes and entry is not votes and entry.scores.keys() & votes.scores.keys():
            yield _comparison(entry, votes)


def votes_of(table: Sequence[Entry]) -> Entry | None:
    """Returns the line of `cot_sc` that others are compared with; None if the table has none.

    It has the most samples and, among equals, the highest score: the one that a user would choose.
    """
    candidates = [entry for entry in table if entry.method == VOTE and entry.scores]
    # Summaries of a user's own task hold no points, so the costs of fewer samples are unknown.
    candidates = [entry for entry in candidates if all(map(points, entry.rows))]
    return max(candidates, key=lambda entry: (entry.outputs(), entry.score), default=None)


def vote_line(votes: Entry) -> list[tuple[float, float]]:
    """Returns, for each number of samples, the mean tokens and the mean score of such a vote.

    Args:
        votes: A line of `cot_sc`.
    """
    runs = [each for each in map(points, votes.rows) if each]
    sizes = range(1, max(map(len, runs), default=0) + 1)
    by_size = [[_point_at(each, size) for each in runs] for size in sizes]
    return [(_mean_tokens(each), mean([point.score for point in each])) for each in by_size]


def _comparison(entry: Entry, votes: Entry) -> EqualCost:
    """Compares a line with the vote of equal cost on the problems that both have."""
    common = sorted(entry.scores.keys() & votes.scores.keys())
    runs = zip(entry.rows, entry.spent, strict=True)
    tokens = mean([spent.tokens for row, spent in runs if problem_of(row) in common])
    vote_runs = [(problem_of(row), points(row)) for row in votes.rows if problem_of(row) in common]
    most = max(len(run) for _, run in vote_runs)
    costs = [_mean_tokens([_point_at(run, n) for _, run in vote_runs]) for n in range(1, most + 1)]
    # The fewest samples that cost as much as the line, else all.
    samples = next((n for n, cost in enumerate(costs, 1) if cost >= tokens), most)
    scores: dict[Problem, list[float]] = {}
    for problem, run in vote_runs:
        scores.setdefault(problem, []).append(_point_at(run, samples).score)
    line_scores = [entry.scores[each] for each in common]
    vote_scores = [mean(scores[each]) for each in common]
    comparison, cost = compare(line_scores, vote_scores), costs[samples - 1]
    return EqualCost(entry, tokens, mean(line_scores), samples, cost, mean(vote_scores), comparison)


def _mean_tokens(run_points: Sequence[Point]) -> float:
    return mean([point.spent["tokens"] for point in run_points])


def _point_at(run_points: Sequence[Point], samples: int) -> Point:
    """Returns the point of a run after so many samples; its last if the run is shorter."""
    return run_points[min(samples, len(run_points)) - 1]
