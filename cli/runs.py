"""`thoughtgraph runs`: the records of finished and stopped runs.

Each run has its own folder with its record and its result. Until the run is finished, the folder
also holds LangGraph's checkpoints and the answers of the models.
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

from thoughtgraph import results
from thoughtgraph.cli import text
from thoughtgraph.cli.run_config import RunConfig
from thoughtgraph.cli.summary import resume_hint
from thoughtgraph.errors import InputError
from thoughtgraph.llm.store import forget

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Characters of a run's id; no two of them look alike."""
_LISTED = 5
LAST = "last"
"""The name that stands for the latest run."""
KILLED = "was stopped or killed, or is running"
FINISHED = "finished"
ALL = "all"
RESULT = "result.json"
MOST_FINISHED = 20
"""Number of finished runs to keep, the latest ones (ours)."""
LONGEST_SHOWN = 60
"""Characters of a problem that the list shows."""


@dataclass(frozen=True)
class KeptRun:
    """The record of a run."""

    run: str
    config: RunConfig
    begun: str
    """Time at which the run began, in UTC."""
    why: str = KILLED
    """Why the run is not finished, in words; `FINISHED` if it is."""
    limit: str = ""
    """The limit that must be raised to resume; empty: none."""
    format: Literal[7] = 7
    """Version of the files of a stopped run. Since 7, each run has a folder."""


class Runs:
    """The runs of this user, in `$THOUGHTGRAPH_DATA`, else in the user's data folder."""

    def __init__(self, folder: Path | None = None) -> None:
        path = os.environ.get("THOUGHTGRAPH_DATA")
        default = Path(expanduser(path)) if path else platformdirs.user_data_path("thoughtgraph")
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
                self._write(KeptRun(run, config, datetime.now(UTC).isoformat()))
                return run

    @contextmanager
    def held(self, run: str) -> Iterator[None]:
        """Locks a run against other processes, which would pay for the same answers again."""
        if run not in self._names():
            stopped = ", ".join(each.run for each in self.waiting()[:_LISTED])
            hint = f"stopped runs: {stopped}" if stopped else "no run was stopped here"
            raise InputError(f"there is no run {run!r}; {hint}")
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
            # Deleted before its release: no other process can hold the lock yet.
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    def find(self, named: str) -> str:
        """Returns a run's id: the name itself, or for `last` the latest run that can be resumed."""
        if named != LAST:
            return named
        if waiting := self.waiting():
            return waiting[0].run
        raise InputError("no run was stopped here; solve a problem first")

    def all(self) -> list[KeptRun]:
        """Returns all runs, the latest first."""
        records = [each for run in self._names() if (each := self._read(run))]
        return sorted(records, key=lambda each: each.begun, reverse=True)

    def waiting(self) -> list[KeptRun]:
        """Returns the runs that can be resumed, the latest first."""
        return [each for each in self.all() if each.why != FINISHED]

    def keep(self, run: str, result: str) -> None:
        """Writes the result of a run, as JSON, into its folder."""
        results.write(str(self.path / run / RESULT), result)

    def result(self, named: str) -> Path | None:
        """Returns a run's result file, or the latest one for `last`; None if no run is so named."""
        runs = [each.run for each in self.all() if named in (LAST, each.run)]
        files = (self.path / run / RESULT for run in runs)
        if result := next((file for file in files if file.is_file()), None):
            return result
        if runs or named == LAST:
            raise InputError("no such run has a result yet; `thoughtgraph runs` lists the runs")
        return None

    def finish(self, run: str) -> None:
        """Marks a run as finished; deletes its checkpoints and answers, and the oldest runs."""
        self.update(run, why=FINISHED, limit="")
        for file in (self.checkpoints(run), self.answers(run)):
            forget(file)
        done = [each.run for each in self.all() if each.why == FINISHED]
        for old in done[MOST_FINISHED:]:
            self.drop(old)

    def update(self, run: str, **changes: Any) -> None:
        """Replaces fields of a run's record, such as why it stopped."""
        if record := self._read(run):
            self._write(replace(record, **changes))

    def checkpoints(self, run: str) -> Path:
        """Returns the file of a run's checkpoints."""
        return self.path / run / "checkpoints.sqlite"

    def answers(self, run: str) -> Path:
        """Returns the file of the answers that a run has paid for."""
        return self.path / run / "answers.sqlite"

    def config(self, run: str, *, raised: bool = False) -> RunConfig:
        """Returns a stopped run's configuration; if a limit ended it, limits must be `raised`."""
        record = self._read(run)
        if record is None:
            raise InputError(
                f"the record of run {run!r} is damaged or of another version; delete it with "
                f"`thoughtgraph runs rm {run}`"
            )
        if record.why == FINISHED:
            raise InputError(f"run {run!r} is finished; see it with `thoughtgraph view {run}`")
        if record.limit and not raised:
            raise InputError(
                f"run {run!r} was ended by its limit on {record.limit}; give it a higher one: "
                f"thoughtgraph solve --resume {run} --limit {record.limit}=…"
            )
        return record.config

    def drop(self, run: str) -> None:
        """Deletes a run's folder."""
        with self._usable():
            shutil.rmtree(self.path / run)

    def _names(self) -> list[str]:
        with self._usable():
            return [each.name for each in self.path.iterdir() if each.is_dir()]

    def _read(self, run: str) -> KeptRun | None:
        """Returns a run's record; None if it is missing, damaged or of another version."""
        try:
            record = json.loads((self.path / run / "run.json").read_bytes())
            return _adapter().validate_python(record)
        except (OSError, ValueError, RecursionError):
            return None

    def _write(self, record: KeptRun) -> None:
        """Writes a run's record atomically: if the process is killed, the old record stays."""
        file = self.path / record.run / "run.json"
        with self._usable():
            file.with_suffix(".new").write_text(json.dumps(asdict(record)), encoding="utf-8")
            file.with_suffix(".new").replace(file)


@cache
def _adapter() -> TypeAdapter[KeptRun]:
    return TypeAdapter(KeptRun)


def list_runs() -> None:
    """Lists the runs, the latest first, each with the command that shows or resumes it."""
    records = Runs().all()
    if not records:
        print("there are no runs yet; `thoughtgraph demo` makes one")
    for run in records:
        begun, config = run.begun.replace("T", " ")[:19], run.config
        problem = text.short(text.headline(config.problem), LONGEST_SHOWN)
        print(f"{run.run}  {begun}  {config.method} on {config.task}: {problem}")
        finished = run.why == FINISHED
        command = f"thoughtgraph view {run.run}" if finished else resume_hint(run.run, run.limit)
        print(f"    {run.why}; {command}")


def remove(named: str) -> None:
    """Deletes a run, or for `all` every run but killed ones.

    A run that looks killed may still be running, so only its own id deletes it.
    """
    runs = Runs()
    ids = [each.run for each in runs.all() if each.why != KILLED]
    ids = ids if named == ALL else [runs.find(named)]
    for run in ids:
        with runs.held(run):
            runs.drop(run)
    print(f"deleted {', '.join(ids)}" if ids else "there is no run that has ended")
