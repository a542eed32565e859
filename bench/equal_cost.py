"""Each method beside a vote that costs the same: so many samples of `cot_sc` as its tokens buy.

A search that wins while it costs ten times as much has shown nothing: the same tokens may buy
enough votes to win as well ("Reasoning in Token Economies", Wang et al. 2024).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from thoughtgraph.bench.budget import Point, points
from thoughtgraph.bench.report_lines import Entry, Problem, problem_of
from thoughtgraph.bench.statistics import Comparison, compare, mean

VOTE = "cot_sc"
"""The method that others are measured by."""


class EqualCost(NamedTuple):
    """A line beside the vote that costs the same, on the problems that both have."""

    entry: Entry
    tokens: float
    """What the line costs, a problem."""
    score: float
    samples: int
    """How many samples vote: the fewest that cost as much as the line, else all there are."""
    vote_tokens: float
    """What so many cost, a problem."""
    vote_score: float
    comparison: Comparison
    """The line's score less the vote's."""

    @property
    def dearer(self) -> bool:
        """Whether the line costs more than all votes there are, so that costs are not equal."""
        return self.tokens > self.vote_tokens


def beside_votes(table: Sequence[Entry]) -> Iterator[EqualCost]:
    """Yields each line of a table beside `cot_sc` at equal tokens.

    Args:
        table: The lines of one task, set of problems and model.
    """
    votes = votes_of(table)
    for entry in table:
        if votes and entry is not votes and entry.scores.keys() & votes.scores.keys():
            yield _beside(entry, votes)


def votes_of(table: Sequence[Entry]) -> Entry | None:
    """Returns the line of `cot_sc` that others are measured by; None where there is none.

    It is the one with most samples, and of equals the one that scores more: what one would use.
    """
    voting = [entry for entry in table if entry.method == VOTE and entry.scores]
    # Summaries of a task of the user's own know no costs of fewer samples.
    voting = [entry for entry in voting if all(map(points, entry.rows))]
    return max(voting, key=lambda entry: (entry.outputs(), entry.score), default=None)


def vote_line(votes: Entry) -> list[tuple[float, float]]:
    """Returns what a vote of one sample, of two and so on costs and scores: the mean over its runs.

    Args:
        votes: A line of `cot_sc`.
    """
    reached = [each for each in map(points, votes.rows) if each]
    sizes = range(1, max(map(len, reached), default=0) + 1)
    cut = [[_cut(each, size) for each in reached] for size in sizes]
    return [(_tokens(each), mean([point.score for point in each])) for each in cut]


def _beside(entry: Entry, votes: Entry) -> EqualCost:
    common = sorted(entry.scores.keys() & votes.scores.keys())
    runs = zip(entry.rows, entry.spent, strict=True)
    tokens = mean([spent.tokens for row, spent in runs if problem_of(row) in common])
    voted = [(problem_of(row), points(row)) for row in votes.rows if problem_of(row) in common]
    most = max(len(reached) for _, reached in voted)
    costs = [_tokens([_cut(reached, n) for _, reached in voted]) for n in range(1, most + 1)]
    # The fewest that cost so much, else all.
    samples = next((n for n, cost in enumerate(costs, 1) if cost >= tokens), most)
    scores: dict[Problem, list[float]] = {}
    for problem, reached in voted:
        scores.setdefault(problem, []).append(_cut(reached, samples).score)
    ours = [entry.scores[each] for each in common]
    theirs = [mean(scores[each]) for each in common]
    comparison, cost = compare(ours, theirs), costs[samples - 1]
    return EqualCost(entry, tokens, mean(ours), samples, cost, mean(theirs), comparison)


def _tokens(reached: Sequence[Point]) -> float:
    return mean([point.spent["tokens"] for point in reached])


def _cut(reached: Sequence[Point], samples: int) -> Point:
    """Returns what had been reached after so many samples, or at the end of a shorter run."""
    return reached[min(samples, len(reached)) - 1]
