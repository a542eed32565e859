"""How many random instances a property is tried on: a few always, more in CI, thousands by hand."""

import pytest

POOLS = [
    pytest.param(range(20), id="20"),
    pytest.param(range(100), id="100", marks=pytest.mark.ci),
    pytest.param(range(2_000), id="2000", marks=pytest.mark.slow),
]
