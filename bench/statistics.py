"""Confidence intervals of scores, and paired comparisons of methods."""

import math
from collections.abc import Sequence
from statistics import StatisticsError, correlation, stdev
from typing import NamedTuple

import numpy as np

RESAMPLES = 10_000
"""Resamples of a bootstrap interval (ours)."""


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def mean(values: Sequence[float]) -> float:
    """Returns the mean; 0 without any values."""
    return sum(values) / len(values) if values else 0.0


def deviation(values: Sequence[float]) -> float:
    """Returns the standard deviation of a sample (n - 1); 0 for fewer than two values."""
    return stdev(values) if len(values) > 1 else 0.0


def pearson(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Returns Pearson's correlation; None for fewer than two pairs or if one side is constant."""
    try:
        return correlation([a for a, _ in pairs], [b for _, b in pairs])
    except StatisticsError:
        return None


def wilson(successes: float, trials: int, z: float = 1.959964) -> Interval:
    """Returns Wilson's score interval for a proportion.

    Args:
        successes: Number of successful trials; may be a sum of scores between 0 and 1.
        trials: Number of trials; without any, the interval is [0, 1].
        z: Quantile of the normal distribution; 1.96 stands for 95 %.
    """
    if not trials:
        return Interval(0.0, 1.0)
    share, slack = successes / trials, z * z / trials
    centre = (share + slack / 2) / (1 + slack)
    half = z / (1 + slack) * math.sqrt((share * (1 - share) + slack / 4) / trials)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def bootstrap(values: Sequence[float], seed: int = 0, level: float = 0.95) -> Interval:
    """Returns the bootstrap's percentile interval for a mean: draws problems with replacement.

    With paired differences as values, it is the paired bootstrap. Equal values give an interval of
    width 0, so use `wilson` for scores that may be all right or all wrong.

    Args:
        values: One value a problem.
        seed: Seed of the draws.
        level: Confidence level of the interval.
    """
    if not values:
        return Interval(0.0, 0.0)
    # To draw a count for each distinct value is equivalent to drawing problems, and faster.
    distinct, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    draws = np.random.default_rng(seed).multinomial(len(values), counts / len(values), RESAMPLES)
    cut = (1 - level) / 2
    low, high = np.quantile(draws @ distinct / len(values), [cut, 1 - cut])
    return Interval(float(low), float(high))


def interval(scores: Sequence[float]) -> Interval:
    """Returns the 95 % interval of a mean score: Wilson's if all are 0 or 1, else the bootstrap's.

    Args:
        scores: One score a problem, between 0 and 1.
    """
    if all(score in (0.0, 1.0) for score in scores):
        return wilson(sum(scores), len(scores))
    return bootstrap(scores)


class Comparison(NamedTuple):
    """Two methods on the same problems."""

    problems: int
    difference: float
    """Mean of the first's score minus the second's."""
    interval: Interval
    """95 % interval of the difference, by the paired bootstrap."""
    first_alone: int
    """Number of problems that only the first solves."""
    second_alone: int
    p: float
    """P-value of McNemar's exact test: how likely a split this uneven is if neither is better."""


def compare(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Compares two methods by their scores of the same problems, in the same order.

    A score of more than a half counts as right for McNemar's test.

    Raises:
        ValueError: The two sequences differ in length.
    """
    pairs = list(zip(first, second, strict=True))
    differences = [a - b for a, b in pairs]
    first_alone = sum(a > 0.5 >= b for a, b in pairs)
    second_alone = sum(b > 0.5 >= a for a, b in pairs)
    return Comparison(
        len(pairs),
        mean(differences),
        bootstrap(differences),
        first_alone,
        second_alone,
        mcnemar(first_alone, second_alone),
    )


def mcnemar(first_alone: int, second_alone: int) -> float:
    """Returns the two-sided exact p-value of McNemar's test."""
    uneven = first_alone + second_alone
    if not uneven:
        return 1.0
    tail = sum(math.comb(uneven, k) for k in range(min(first_alone, second_alone) + 1))
    return float(min(1.0, 2 * tail / 2**uneven))
