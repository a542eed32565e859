import pytest

from thoughtgraph.bench.statistics import (
    bootstrap,
    compare,
    deviation,
    interval,
    mcnemar,
    pearson,
)


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (0, 0, 1.0),
        (3, 3, 1.0),
        (5, 1, 2 * (1 + 6) / 2**6),
        (1, 5, 2 * (1 + 6) / 2**6),
        (10, 0, 2 / 2**10),
    ],
)
def test_mcnemar_is_the_two_sided_binomial_test(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p)


def test_a_comparison_is_on_the_same_problems() -> None:
    found = compare([1, 1, 1, 0, 0, 1], [1, 0, 0, 0, 1, 0])
    assert (found.problems, found.first_alone, found.second_alone) == (6, 3, 1)
    assert found.difference == pytest.approx(2 / 6)
    assert found.p == pytest.approx(2 * (1 + 4) / 2**4)
    assert found.interval.low < found.difference < found.interval.high
    with pytest.raises(ValueError):
        compare([1], [1, 0])


def test_equal_scores_are_a_tie() -> None:
    found = compare([1, 0, 1], [1, 0, 1])
    assert (found.difference, found.interval, found.p) == (0.0, (0.0, 0.0), 1.0)


def test_the_bootstrap_finds_the_interval_of_a_mean() -> None:
    # The mean of 400 fair coins has a standard deviation of 0.025.
    low, high = bootstrap([0.0, 1.0] * 200)
    assert low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)
    assert high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)
    assert bootstrap([0.0, 1.0] * 200) == (low, high), "it is drawn by a seed"


def test_an_interval_is_wilsons_where_scores_are_right_or_wrong() -> None:
    assert interval([1.0] * 10).low == pytest.approx(0.7225, abs=1e-4)
    assert interval([0.5] * 10) == (0.5, 0.5)


def test_a_deviation_is_of_a_sample() -> None:
    assert deviation([1.0, 3.0]) == pytest.approx(2**0.5)
    assert deviation([1.0]) == 0.0


def test_a_correlation_needs_two_pairs_that_differ_on_both_sides() -> None:
    # Less their means: -1, 0, 1 and -1, 1, 0.
    assert pearson([(1, 1), (2, 3), (3, 2)]) == pytest.approx(0.5)
    assert [pearson(pairs) for pairs in ([], [(1, 2)], [(1, 2), (1, 3)])] == [None] * 3
