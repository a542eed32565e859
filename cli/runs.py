"""Runs that can be resumed: an SQLite file of LangGraph checkpoints and a table of what was run."""

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from os.path import expanduser
from pathlib import Path

import platformdirs

from thoughtgraph.cli.plan import Plan
from thoughtgraph.errors import InputError

LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters and digits that are not taken for one another."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, plan TEXT NOT NULL, "
    "finished INTEGER NOT NULL DEFAULT 0)"
)
_LISTED = 5
FORMAT = 4
"""Version of what a stopped run leaves. Since 4 its state says what its models cost."""


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

    def add(self, plan: Plan) -> str:
        """Registers a run and returns its id, such as `game24-7hq2`."""
        with self._db() as db:
            while True:
                run = f"{plan.task_id}-{''.join(secrets.choice(LETTERS) for _ in range(4))}"
                row = (run, json.dumps({**asdict(plan), "format": FORMAT}))
                if db.execute("INSERT OR IGNORE INTO runs (id, plan) VALUES (?, ?)", row).rowcount:
                    return run

    def plan(self, run: str) -> Plan:
        """Returns what a stopped run was about.

        Raises:
            InputError: There is no such run, it is finished, or an earlier version began it.
        """
        with self._db() as db:
            row = db.execute("SELECT plan, finished FROM runs WHERE id = ?", (run,)).fetchone()
            waiting = [
                name
                for (name,) in db.execute(
                    "SELECT id FROM runs WHERE NOT finished ORDER BY rowid DESC LIMIT ?", (_LISTED,)
                )
            ]
        if row is None:
            hint = f"stopped runs: {', '.join(waiting)}" if waiting else "no run was stopped here"
            raise InputError(f"unknown run {run!r}; {hint}")
        if row[1]:
            raise InputError(f"run {run!r} is finished; solve the problem again for a new run")
        kept = json.loads(row[0])
        if kept.pop("format", 1) != FORMAT:
            raise InputError(
                f"run {run!r} was begun by another version and cannot be gone on with; solve the "
                "problem again for a new run"
            )
        return Plan(**kept)

    def finish(self, run: str) -> None:
        """Marks a run as finished."""
        with self._db() as db:
            db.execute("UPDATE runs SET finished = 1 WHERE id = ?", (run,))

    def forget(self, run: str) -> None:
        """Drops a run that never got anywhere."""
        with self._db() as db:
            db.execute("DELETE FROM runs WHERE id = ?", (run,))
