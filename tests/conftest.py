"""How the tests are shared out among processes, and that none is judged by its time."""

import pytest
from hypothesis import HealthCheck, settings

# Both measure time, which a busy machine has less of: neither says anything about the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Uses one process a core for all the tests, and this one alone for those that are named."""
    return 0 if config.args_source is pytest.Config.ArgsSource.ARGS else None
