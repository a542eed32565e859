"""Answers of wikis kept in an SQLite file: for a while, or for good as a recording."""

import json
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from math import inf
from os.path import expanduser
from pathlib import Path
from typing import Any, Literal

from thoughtgraph.errors import InputError, ThoughtgraphError
from thoughtgraph.llm.store import PATIENCE, digest
from thoughtgraph.tools.wiki.pages import NotKept, NotRecorded, Unreachable

Recording = Literal["fresh", "keep", "record", "replay"]
"""What answers are kept for.

`fresh`: for nothing, the wiki is always asked. `keep`: an answer is used again for a day. `record`:
every answer is kept for good and used again whatever its age. `replay`: only what was recorded is
used, and the wiki is never asked.
"""

MAX_AGE = 24 * 3600.0
"""Seconds an answer that was not recorded is used again (ours)."""


Ask = Callable[[Mapping[str, Any], float], Mapping[str, Any]]
"""Asks a wiki for parameters until a time."""


class WikiCache:
    """Keeps answers of wikis in an SQLite file. Threads and processes may share it.

    Args:
        path: The file; it is created with its folder when missing.
        recording: What answers are kept for.
        max_age: Seconds an answer that was not recorded is used again.

    Raises:
        InputError: The file cannot be opened or is not a cache.
    """

    def __init__(
        self, path: str | Path, recording: Recording = "keep", *, max_age: float = MAX_AGE
    ) -> None:
        self._path = Path(expanduser(path))
        self._recording = recording
        self._max_age = max_age
        self._lock = threading.Lock()
        self._asking: dict[str, Future[Mapping[str, Any]]] = {}
        with self._explained(InputError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self._path, timeout=PATIENCE, check_same_thread=False)
        self._closed = weakref.finalize(self, self._db.close)
        with self._explained(InputError), self._db:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS wiki_answers (key TEXT PRIMARY KEY, "
                "asked TEXT NOT NULL, answer TEXT NOT NULL, at REAL NOT NULL, "
                "recorded INTEGER NOT NULL)"
            )
            self._db.execute(
                "DELETE FROM wiki_answers WHERE NOT recorded AND at < ?", (time.time() - max_age,)
            )

    def answer(
        self,
        address: str,
        parameters: Mapping[str, Any],
        ask: Ask,
        until: float,
    ) -> Mapping[str, Any]:
        """Returns the answer kept for a query, else asks the wiki.

        Threads that want the same at the same time share one answer: the children of a thought
        often search for the same.

        Args:
            address: The wiki's.
            parameters: The query's.
            ask: Asks the wiki for it, until a time.
            until: The time (`time.monotonic`) after which nothing more is tried.

        Raises:
            PagesError: There is no answer, or the file cannot be used any more.
        """
        key = _key(address, parameters)
        own = Future[Mapping[str, Any]]()
        with self._lock:
            under_way = self._asking.setdefault(key, own)
        if under_way is not own:
            try:
                return under_way.result(max(0.0, until - time.monotonic()))
            except TimeoutError:
                raise Unreachable(f"{address} did not answer in time") from None
        try:
            answer = self._kept_or_asked(address, parameters, ask, until)
            own.set_result(answer)
        except ThoughtgraphError as error:
            own.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._asking[key]
            own.cancel()  # without effect unless a mistake in the program ended this
        return answer

    def _kept_or_asked(
        self, address: str, parameters: Mapping[str, Any], ask: Ask, until: float
    ) -> Mapping[str, Any]:
        kept = self.get(address, parameters)
        if kept is not None:
            return kept
        answer = ask(parameters, until)
        self.put(address, parameters, answer)
        return answer

    def get(self, address: str, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
        """Returns the answer kept for a query, or None when the wiki is to be asked.

        Raises:
            NotRecorded: There is none and this is a replay.
            NotKept: The file cannot be read any more.
        """
        if self._recording == "fresh":
            return None
        since = time.time() - self._max_age if self._recording == "keep" else inf
        with self._lock, self._explained(NotKept):
            row = self._db.execute(
                "SELECT answer FROM wiki_answers WHERE key = ? AND (recorded OR at >= ?)",
                (_key(address, parameters), since),
            ).fetchone()
        if row is not None:
            return self._read(row[0])
        if self._recording == "replay":
            raise NotRecorded(
                f"{str(self._path)!r} holds no answer of {address} to "
                f"{json.dumps(dict(parameters))}; record it first"
            )
        return None

    def _read(self, written: str) -> dict[str, Any]:
        try:
            answer = json.loads(written)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise NotKept(f"an answer kept in {str(self._path)!r} is damaged; name another file")
        return answer

    def put(self, address: str, parameters: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Keeps an answer; what is recorded stays as it is.

        Raises:
            NotKept: The file cannot be written any more.
        """
        if self._recording == "fresh":
            return
        recorded = self._recording == "record"
        asked = json.dumps({"address": address, **parameters}, sort_keys=True)
        row = (_key(address, parameters), asked, json.dumps(answer), time.time(), recorded)
        with self._lock, self._explained(NotKept), self._db:
            self._db.execute(
                "INSERT INTO wiki_answers VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                "answer = excluded.answer, at = excluded.at, recorded = excluded.recorded "
                "WHERE NOT recorded",
                row,
            )

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._closed()

    @contextmanager
    def _explained(self, kind: type[ThoughtgraphError]) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise kind(
                f"cannot use {str(self._path)!r} to keep a wiki's answers ({error}); name another "
                "file, or set THOUGHTGRAPH_CACHE to a folder that can be written"
            ) from error


def _key(address: str, parameters: Mapping[str, Any]) -> str:
    return digest({"address": address, "parameters": parameters})
