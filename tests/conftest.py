"""How the tests are shared out among processes, and that none is judged by its time."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.command import Command
from support.fake_server import FakeServer
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from thoughtgraph.cli import app

# Both measure time, which a busy machine has less of: neither says anything about the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

LIVE = "tests/live/"


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Uses one process a core for all the tests, and this one alone for those that are named."""
    return 0 if config.args_source is pytest.Config.ArgsSource.ARGS else None


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Has one process run the live tests, which share servers; the others go file by file."""

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return LIVE if nodeid.startswith(LIVE) else super()._split_scope(nodeid)

    return Scheduling(config, log) if config.option.dist == "loadfile" else None


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Runs the command in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["thoughtgraph", *arguments])
        with pytest.raises(SystemExit) as ended:
            app.main()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the command's runs in a folder of the test's own, and the user's choices out."""
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path / "data"))
    for name in ("THOUGHTGRAPH_MODEL", "OPENAI_API_KEY", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    """An endpoint that answers as the test file's `REPLY` does."""
    with FakeServer(request.module.REPLY) as running:
        yield running
