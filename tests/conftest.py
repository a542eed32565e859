"""How the tests are shared out among processes."""

import pytest


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Uses one process a core for all the tests, and this one alone for those that are named."""
    return 0 if config.args_source is pytest.Config.ArgsSource.ARGS else None
