"""`thoughtgraph runs`: what was stopped and can be resumed.

Each run has a folder of its own, until it is finished: what it is about, LangGraph's checkpoints,
and what it was answered.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from os.path import expanduser
from pathlib import Path
from typing import Any, Literal

import platformdirs
from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from thoughtgraph.cli import text
from thoughtgraph.cli.run_config import RunConfig
from thoughtgraph.cli.summary import resume_hint
from thoughtgraph.errors import InputError

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters and digits that are not taken for one another."""
_LISTED = 5
LAST = "last"
"""Names the latest run that can be resumed."""
KILLED = "was stopped or killed, or is running"
ALL = "all"
LONGEST_SHOWN = 60
"""Letters of a problem that are shown."""


@dataclass(frozen=True)
class StoppedRun:
    """What is kept of a run that can be resumed."""

    run: str
    config: RunConfig
    begun: str
    """When, in UTC."""
    why: str = KILLED
    """Why it stopped."""
    limit: str = ""
    """The limit that has to be raised; empty: none."""
    format: Literal[7] = 7
    """Version of what a stopped run leaves. Since 7 each has a folder."""


class Runs:
    """The runs of this user, in `$THOUGHTGRAPH_DATA`, else in the user's data folder."""

    def __init__(self, folder: Path | None = None) -> None:
        named = os.environ.get("THOUGHTGRAPH_DATA")
        default = Path(expanduser(named)) if named else platformdirs.user_data_path("thoughtgraph")
        self.path = (folder or default) / "runs"
        with self._usable():
            self.path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(
                f"cannot keep runs in {str(self.path)!r} ({error.strerror}); set "
                "THOUGHTGRAPH_DATA to a folder that can be written"
            ) from error

    def add(self, config: RunConfig) -> str:
        """Registers a run and returns its id, such as `game24-7hq2`."""
        with self._usable():
            while True:
                run = f"{config.task_id}-{''.join(secrets.choice(LETTERS) for _ in range(4))}"
                try:
                    (self.path / run).mkdir()
                except FileExistsError:
                    continue
                self._write(StoppedRun(run, config, datetime.now(UTC).isoformat()))
                return run

    @contextmanager
    def held(self, run: str) -> Iterator[None]:
        """Keeps every other process from searching a run: it would pay twice for two answers."""
        if run not in self._names():
            stopped = ", ".join(each.run for each in self.waiting()[:_LISTED])
            hint = f"stopped runs: {stopped}" if stopped else "no run was stopped here"
            raise InputError(f"run {run!r} is finished, or there was none; {hint}")
        lock = FileLock(self.path / f"{run}.lock", blocking=False)
        with self._usable():
            try:
                lock.acquire()
            except Timeout:
                raise InputError(
                    f"run {run!r} is running in another process; wait for it, or stop it there"
                ) from None
        try:
            yield
        finally:
            # While it is held: nobody else can have come to hold it.
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    def find(self, named: str) -> str:
        """Returns a run's id: the name itself, or for `last` the latest that can be resumed."""
        if named != LAST:
            return named
        if waiting := self.waiting():
            return waiting[0].run
        raise InputError("no run was stopped here; solve a problem first")

    def waiting(self) -> list[StoppedRun]:
        """Returns the runs that can be resumed, the latest first."""
        known = [each for run in self._names() if (each := self._read(run))]
        return sorted(known, key=lambda each: each.begun, reverse=True)

    def update(self, run: str, **changes: Any) -> None:
        """Replaces some of what is kept of a run, such as why it stopped."""
        if kept := self._read(run):
            self._write(replace(kept, **changes))

    def checkpoints(self, run: str) -> Path:
        """Returns the file of a run's checkpoints."""
        return self.path / run / "checkpoints.sqlite"

    def answers(self, run: str) -> Path:
        """Returns the file of what a run has been answered."""
        return self.path / run / "answers.sqlite"

    def config(self, run: str, *, raised: bool = False) -> RunConfig:
        """Returns what a stopped run was about; one that a limit ended must have it raised."""
        kept = self._read(run)
        if kept is None:
            raise InputError(
                f"what is kept of run {run!r} is damaged, or another version's; drop it with "
                f"`thoughtgraph runs --forget {run}`"
            )
        if kept.limit and not raised:
            raise InputError(
                f"run {run!r} was ended by its limit on {kept.limit}; give it a higher one: "
                f"thoughtgraph solve --resume {run} --limit {kept.limit}=…"
            )
        return kept.config

    def drop(self, run: str) -> None:
        """Deletes what is kept of a run that is held: it is finished, or nobody wants it."""
        with self._usable():
            shutil.rmtree(self.path / run)

    def _names(self) -> list[str]:
        with self._usable():
            return [each.name for each in self.path.iterdir() if each.is_dir()]

    def _read(self, run: str) -> StoppedRun | None:
        """Returns what is kept of a run; None where it is damaged or another version's."""
        try:
            kept = json.loads((self.path / run / "run.json").read_bytes())
            return _adapter().validate_python(kept)
        except (OSError, ValueError, RecursionError):
            return None

    def _write(self, kept: StoppedRun) -> None:
        """Writes what is kept of a run: all of it, or nothing if the process is killed."""
        file = self.path / kept.run / "run.json"
        with self._usable():
            file.with_suffix(".new").write_text(json.dumps(asdict(kept)), encoding="utf-8")
            file.with_suffix(".new").replace(file)


@cache
def _adapter() -> TypeAdapter[StoppedRun]:
    return TypeAdapter(StoppedRun)


def list_runs() -> None:
    """Lists the runs that can be resumed, the latest first, each with the command that does it."""
    waiting = Runs().waiting()
    if not waiting:
        print("no run can be resumed: none was stopped, failed or ended by a limit")
        return
    for run in waiting:
        begun, config = run.begun.replace("T", " ")[:19], run.config
        asked = text.short(text.headline(config.problem), LONGEST_SHOWN)
        print(f"{run.run}  {begun}  {config.method} on {config.task}: {asked}")
        print(f"    {run.why}; {resume_hint(run.run, run.limit)}")


def forget_runs(named: str) -> None:
    """Drops what is kept of a run, for good, or for `all` what a limit or an error ended.

    A run that was killed may be running still, so it is dropped by its id alone.
    """
    runs = Runs()
    kept = [run.run for run in runs.waiting() if run.why != KILLED]
    gone = kept if named == ALL else [runs.find(named)]
    for run in gone:
        with runs.held(run):
            runs.drop(run)
    print(f"dropped {', '.join(gone)}" if gone else "no run was ended by a limit or an error")
