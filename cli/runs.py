"""`thoughtgraph runs`: what was stopped and can be resumed.

What was run is in a table, beside a file of LangGraph's checkpoints.
"""

import asyncio
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from os.path import expanduser
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs
from filelock import FileLock, Timeout

from thoughtgraph.checkpoints import sqlite_saver
from thoughtgraph.cli import text
from thoughtgraph.cli.run_config import FORMAT, RunConfig, read_plan
from thoughtgraph.cli.summary import resume_hint
from thoughtgraph.errors import InputError
from thoughtgraph.llm.store import forget

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters and digits that are not taken for one another."""
# The column has the name of earlier versions, whose runs are listed too.
_TABLE = (
    "CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, plan TEXT NOT NULL, "
    "finished INTEGER NOT NULL DEFAULT 0)"
)
_LISTED = 5
LAST = "last"
"""Names the latest run that can be resumed."""
KILLED = "was stopped or killed, or is running"
ALL = "all"
LONGEST_SHOWN = 60
"""Letters of a problem that are shown."""


class Waiting(NamedTuple):
    """A run that can be resumed."""

    run: str
    begun: str
    """When, in UTC."""
    what: str
    """Its method and task."""
    problem: str
    why: str
    """Why it stopped."""
    limit: str
    """The limit that has to be raised; empty: none."""


class Runs:
    """The runs of this user.

    Args:
        folder: Where they are kept; `$THOUGHTGRAPH_DATA`, else the user's data folder, when None.

    Raises:
        InputError: The file cannot be used.
    """

    def __init__(self, folder: Path | None = None) -> None:
        named = os.environ.get("THOUGHTGRAPH_DATA")
        default = Path(expanduser(named)) if named else platformdirs.user_data_path("thoughtgraph")
        self.path = (folder or default) / "runs.sqlite"
        self.checkpoints = self.path.with_name("checkpoints.sqlite")
        with self._db() as db:
            db.execute(_TABLE)

    @contextmanager
    def _db(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.path, timeout=30)
            try:
                with db:
                    yield db
            finally:
                db.close()
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"cannot keep runs in {str(self.path)!r} ({error}); set THOUGHTGRAPH_DATA to a "
                "folder that can be written"
            ) from error

    def add(self, config: RunConfig) -> str:
        """Registers a run and returns its id, such as `game24-7hq2`."""
        with self._db() as db:
            while True:
                run = f"{config.task_id}-{''.join(secrets.choice(LETTERS) for _ in range(4))}"
                begun = datetime.now(UTC).isoformat(timespec="seconds")
                row = (run, json.dumps({**asdict(config), "format": FORMAT, "begun": begun}))
                if db.execute("INSERT OR IGNORE INTO runs (id, plan) VALUES (?, ?)", row).rowcount:
                    return run

    @contextmanager
    def held(self, run: str) -> Iterator[None]:
        """Keeps every other process from searching a run: it would pay twice for two answers.

        Raises:
            InputError: Another process searches it.
        """
        lock = FileLock(self._lock(run), blocking=False)
        try:
            self._lock(run).parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            raise InputError(
                f"run {run!r} is searched by another process; wait for it, or stop it there"
            ) from None
        except OSError as error:
            raise InputError(
                f"cannot keep runs in {str(self.path.parent)!r} ({error.strerror}); set "
                "THOUGHTGRAPH_DATA to a folder that can be written"
            ) from error
        try:
            yield
        finally:
            # While it is held: nobody else can have come to hold it.
            self._lock(run).unlink(missing_ok=True)
            lock.release()

    def find(self, named: str) -> str:
        """Returns the id of a run: the one that is named, or for `last` the latest to be resumed.

        Raises:
            InputError: There is no last one.
        """
        if named != LAST:
            return named
        if waiting := self.waiting():
            return waiting[0].run
        raise InputError("no run was stopped here; solve a problem first")

    def waiting(self) -> list["Waiting"]:
        """Returns the runs that can be resumed, the latest first."""
        with self._db() as db:
            rows = db.execute(
                "SELECT id, plan FROM runs WHERE NOT finished ORDER BY rowid DESC"
            ).fetchall()
        known = [(run, read_plan(row)) for run, row in rows]
        return [
            Waiting(
                run,
                kept.get("begun", ""),
                f"{kept['method']} on {kept['task']}",
                kept["problem"],
                kept.get("stopped") or KILLED,
                kept.get("limit", ""),
            )
            for run, kept in known
            if kept is not None and kept.get("format", 1) == FORMAT
        ]

    def stop(self, run: str, why: str, limit: str = "") -> None:
        """Notes why a run has stopped that can be resumed.

        Args:
            run: Its id.
            why: Why, in words.
            limit: The limit that has to be raised first; empty: none.
        """
        self._change(run, {"stopped": why, "limit": limit})

    def change(self, run: str, config: RunConfig) -> None:
        """Replaces what is kept of a run's configuration; it is about to begin anew."""
        self._change(run, {**asdict(config), "stopped": "", "limit": ""})

    def _change(self, run: str, what: dict[str, Any]) -> None:
        with self._db() as db:
            row = db.execute("SELECT plan FROM runs WHERE id = ?", (run,)).fetchone()
            if row is not None:
                kept = json.dumps({**(read_plan(row[0]) or {}), **what})
                db.execute("UPDATE runs SET plan = ? WHERE id = ?", (kept, run))

    def answers(self, run: str) -> Path:
        """Returns the file of what a run has been answered."""
        return self.path.parent / "answers" / f"{run}.sqlite"

    def config(self, run: str, *, raised: bool = False) -> RunConfig:
        """Returns what a stopped run was about.

        Args:
            run: Its id.
            raised: Whether it is given other limits.

        Raises:
            InputError: There is no such run, it is finished, or an earlier version began it.
        """
        with self._db() as db:
            row = db.execute("SELECT plan, finished FROM runs WHERE id = ?", (run,)).fetchone()
        if row is None:
            stopped = ", ".join(each.run for each in self.waiting()[:_LISTED])
            hint = f"stopped runs: {stopped}" if stopped else "no run was stopped here"
            raise InputError(f"unknown run {run!r}; {hint}")
        if row[1]:
            raise InputError(f"run {run!r} is finished; solve the problem again for a new run")
        kept = read_plan(row[0])
        if kept is None:
            raise InputError(
                f"what is kept of run {run!r} is damaged; drop it with "
                f"`thoughtgraph runs --forget {run}`"
            )
        if kept.pop("format", 1) != FORMAT:
            raise InputError(
                f"run {run!r} was begun by another version and cannot be gone on with; solve the "
                "problem again for a new run"
            )
        kept.pop("begun", "")
        kept.pop("stopped", "")
        if (limit := kept.pop("limit", "")) and not raised:
            raise InputError(
                f"run {run!r} was ended by its limit on {limit}; give it a higher one: "
                f"thoughtgraph solve --resume {run} --limit {limit}=…"
            )
        return RunConfig(**kept)

    def finish(self, run: str) -> None:
        """Marks a run as finished; what it was answered is dropped."""
        self._drop_answers(run)
        with self._db() as db:
            db.execute("UPDATE runs SET finished = 1 WHERE id = ?", (run,))

    def forget(self, run: str) -> None:
        """Drops a run: one that never got anywhere, or that nobody wants to go on with.

        Raises:
            InputError: There is no such run.
        """
        with self._db() as db:
            if not db.execute("DELETE FROM runs WHERE id = ?", (run,)).rowcount:
                raise InputError(f"unknown run {run!r}; `thoughtgraph runs` lists those there are")
        self._drop_answers(run)

    def _drop_answers(self, run: str) -> None:
        forget(self.answers(run))

    def _lock(self, run: str) -> Path:
        return self.answers(run).with_suffix(".lock")


def list_runs() -> None:
    """Lists the runs that can be resumed, the latest first, each with the command that does it."""
    waiting = Runs().waiting()
    if not waiting:
        print("no run can be resumed: none was stopped, failed or ended by a limit")
        return
    for run in waiting:
        begun = run.begun.replace("T", " ").partition("+")[0]
        asked = text.short(text.headline(run.problem), LONGEST_SHOWN)
        print(f"{run.run}  {begun}  {run.what}: {asked}")
        print(f"    {run.why}; {resume_hint(run.run, run.limit)}")


def forget_runs(named: str) -> None:
    """Drops what is kept of a run, for good.

    Args:
        named: Its id, or `all`: those that a limit or an error ended. One that was killed may be
            running still, so it is dropped by its id alone.

    Raises:
        InputError: There is no such run.
    """
    runs = Runs()
    kept = [run.run for run in runs.waiting() if run.why != KILLED]
    gone = kept if named == ALL else [runs.find(named)]
    for run in gone:
        runs.forget(run)
    asyncio.run(_drop(runs, gone))
    print(f"dropped {', '.join(gone)}" if gone else "no run was ended by a limit or an error")


async def _drop(runs: Runs, gone: Sequence[str]) -> None:
    """Drops the checkpoints of runs."""
    async with sqlite_saver(runs.checkpoints) as saver:
        for run in gone:
            await saver.adelete_thread(run)
