"""Intervals, tests and correlations, beside values one can compute by hand."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import pytest

from thoughtgraph.bench.statistics import (
    bootstrap,
    compare,
    deviation,
    interval,
    mcnemar,
    pearson,
    wilson,
)

CASES: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    # McNemar's test is the two-sided binomial test of the uneven pairs.
    (mcnemar, (0, 0), 1.0),
    (mcnemar, (5, 1), 2 * (1 + 6) / 2**6),
    (mcnemar, (10, 0), 2 / 2**10),
    (deviation, ([1.0, 3.0],), sqrt(2)),
    (deviation, ([1.0],), 0.0),
    # Less their means: -1, 0, 1 and -1, 1, 0.
    (pearson, ([(1, 1), (2, 3), (3, 2)],), 0.5),
    (pearson, ([],), None),
    (pearson, ([(1, 2), (1, 3)],), None),
    # Wilson's where all are right or wrong, else the bootstrap's.
    # Newcombe 1998, table I: Wilson's interval without continuity correction.
    (wilson, (81, 263), (0.2553, 0.3662)),
    (wilson, (0, 20), (0.0, 0.1611)),
    (wilson, (29, 29), (0.8830, 1.0)),
    (wilson, (0, 0), (0.0, 1.0)),
    (interval, ([0.0, 1.0] * 2,), (0.1500, 0.8500)),
    (interval, ([1.0] * 10,), (0.7225, 1.0)),
    (interval, ([0.5] * 10,), (0.5, 0.5)),
    (bootstrap, ([],), (0.0, 0.0)),
    # The mean of 400 fair coins has a standard deviation of 0.025: two of them, drawn by a seed.
    (bootstrap, ([0.0, 1.0] * 200,), (0.45, 0.55)),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), CASES)
def test_a_statistic_by_hand(
    function: Callable[..., Any], arguments: tuple[Any, ...], expected: Any
) -> None:
    assert function(*arguments) == (expected and pytest.approx(expected, abs=5e-5))


def test_a_comparison_is_on_the_same_problems() -> None:
    found = compare([1, 1, 1, 0, 0, 1], [1, 0, 0, 0, 1, 0])
    assert (found.problems, found.first_alone, found.second_alone) == (6, 3, 1)
    assert found.difference == pytest.approx(2 / 6)
    assert found.p == pytest.approx(2 * (1 + 4) / 2**4)
    assert found.interval.low < found.difference < found.interval.high
    same = compare([1, 0, 1], [1, 0, 1])
    assert (same.difference, same.interval, same.p) == (0.0, (0.0, 0.0), 1.0)
    half = compare([0.5, 0.51], [0.51, 0.5])
    assert (half.first_alone, half.second_alone) == (1, 1), "a half is wrong"
    with pytest.raises(ValueError):
        compare([1], [1, 0])
