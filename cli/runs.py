"""`thoughtgraph runs`: what was run, and what can be resumed.

Each run has a folder of its own: what it is about and its result; until it is finished, LangGraph's
checkpoints as well, and what it was answered.
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
"""Letters and digits that are not taken for one another."""
_LISTED = 5
LAST = "last"
"""Names the latest run."""
KILLED = "was stopped or killed, or is running"
FINISHED = "finished"
ALL = "all"
RESULT = "result.json"
MOST_FINISHED = 20
"""How many finished runs are kept, the latest (ours)."""
LONGEST_SHOWN = 60
"""Letters of a problem that are shown."""


@dataclass(frozen=True)
class KeptRun:
    """What is kept of a run."""

    run: str
    config: RunConfig
    begun: str
    """When, in UTC."""
    why: str = KILLED
    """Why it stopped; `FINISHED`: it did not."""
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
                self._write(KeptRun(run, config, datetime.now(UTC).isoformat()))
                return run

    @contextmanager
    def held(self, run: str) -> Iterator[None]:
        """Keeps every other process from searching a run: it would pay twice for two answers."""
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

    def all(self) -> list[KeptRun]:
        """Returns all runs, the latest first."""
        known = [each for run in self._names() if (each := self._read(run))]
        return sorted(known, key=lambda each: each.begun, reverse=True)

    def waiting(self) -> list[KeptRun]:
        """Returns the runs that can be resumed, the latest first."""
        return [each for each in self.all() if each.why != FINISHED]

    def keep(self, run: str, result: str) -> None:
        """Keeps the result of a run, as JSON."""
        results.write(str(self.path / run / RESULT), result)

    def result(self, named: str) -> Path | None:
        """Returns the file of a run's result, for `last` the latest's; None if it is no run."""
        runs = [each.run for each in self.all() if named in (LAST, each.run)]
        files = (self.path / run / RESULT for run in runs)
        if result := next((file for file in files if file.is_file()), None):
            return result
        if runs or named == LAST:
            raise InputError("no such run has a result yet; `thoughtgraph runs` lists the runs")
        return None

    def finish(self, run: str) -> None:
        """Drops what a finished run is resumed by, and the oldest runs beyond `MOST_FINISHED`."""
        self.update(run, why=FINISHED, limit="")
        for file in (self.checkpoints(run), self.answers(run)):
            forget(file)
        done = [each.run for each in self.all() if each.why == FINISHED]
        for old in done[MOST_FINISHED:]:
            self.drop(old)

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
                f"`thoughtgraph runs rm {run}`"
            )
        if kept.why == FINISHED:
            raise InputError(f"run {run!r} is finished; see it with `thoughtgraph view {run}`")
        if kept.limit and not raised:
            raise InputError(
                f"run {run!r} was ended by its limit on {kept.limit}; give it a higher one: "
                f"thoughtgraph solve --resume {run} --limit {kept.limit}=…"
            )
        return kept.config

    def drop(self, run: str) -> None:
        """Deletes what is kept of a run that nobody wants."""
        with self._usable():
            shutil.rmtree(self.path / run)

    def _names(self) -> list[str]:
        with self._usable():
            return [each.name for each in self.path.iterdir() if each.is_dir()]

    def _read(self, run: str) -> KeptRun | None:
        """Returns what is kept of a run; None where it is damaged or another version's."""
        try:
            kept = json.loads((self.path / run / "run.json").read_bytes())
            return _adapter().validate_python(kept)
        except (OSError, ValueError, RecursionError):
            return None

    def _write(self, kept: KeptRun) -> None:
        """Writes what is kept of a run: all of it, or nothing if the process is killed."""
        file = self.path / kept.run / "run.json"
        with self._usable():
            file.with_suffix(".new").write_text(json.dumps(asdict(kept)), encoding="utf-8")
            file.with_suffix(".new").replace(file)


@cache
def _adapter() -> TypeAdapter[KeptRun]:
    return TypeAdapter(KeptRun)


def list_runs() -> None:
    """Lists the runs, the latest first, each with the command that shows or resumes it."""
    kept = Runs().all()
    if not kept:
        print("there are no runs yet; `thoughtgraph demo` makes one")
    for run in kept:
        begun, config = run.begun.replace("T", " ")[:19], run.config
        problem = text.short(text.headline(config.problem), LONGEST_SHOWN)
        print(f"{run.run}  {begun}  {config.method} on {config.task}: {problem}")
        done = run.why == FINISHED
        told = f"thoughtgraph view {run.run}" if done else resume_hint(run.run, run.limit)
        print(f"    {run.why}; {told}")


def remove(named: str) -> None:
    """Deletes a run, or for `all` every run but those that were killed.

    A run that was killed may be running still, so it is deleted by its id alone.
    """
    runs = Runs()
    gone = [each.run for each in runs.all() if each.why != KILLED]
    gone = gone if named == ALL else [runs.find(named)]
    for run in gone:
        with runs.held(run):
            runs.drop(run)
    print(f"deleted {', '.join(gone)}" if gone else "there is no run that has ended")
