"""How many random instances a property is tried on: a few always, many in `.ci/full`."""

from collections.abc import Iterable
from typing import Any

import pytest

POOLS = [
    pytest.param(range(20), id="20"),
    pytest.param(range(20, 1_000), id="1000", marks=pytest.mark.slow),
]

SEEDS = [
    range(1),
    pytest.param(range(1, 4), marks=pytest.mark.ci),
    pytest.param(range(4, 50), marks=pytest.mark.slow),
]
"""Of searches that are compared whole."""


def few(cases: Iterable[Any], count: int) -> list[Any]:
    """Cases of a test, the first ones always tried, the others in CI."""
    marks = pytest.mark.ci
    return [
        case if at < count else pytest.param(case, marks=marks) for at, case in enumerate(cases)
    ]
