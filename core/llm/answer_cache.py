"""Answers kept for later: in memory, or in an SQLite file that survives a crash.

A key covers everything that determines an answer: endpoint, model, parameters, messages, number of
samples and, for generations, the draw. Values are plain JSON.
"""

import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os.path import expanduser
from pathlib import Path
from typing import Any, NotRequired, Protocol, cast

from typing_extensions import TypedDict

from thoughtgraph.errors import InputError
from thoughtgraph.usage import Ending

PATIENCE = 30.0
"""Seconds to wait for another process that is writing (ours)."""


class Answer(TypedDict):
    """One recorded answer of a model."""

    texts: list[str]
    prompt_tokens: int
    completion_tokens: int
    incomplete: NotRequired[dict[Ending, int]]
    """How many completions are no whole answers, by what ended them (`llm.completions`)."""


class AnswerCache(Protocol):
    """Where answers are kept."""

    def get(self, key: str) -> Answer | None:
        """Returns the answer recorded under a key, or None."""
        ...

    def put(self, key: str, answer: Answer) -> None:
        """Records an answer; an earlier one under the same key is kept."""
        ...


class MemoryCache:
    """Keeps answers for the life of the process."""

    def __init__(self) -> None:
        self._answers: dict[str, Answer] = {}

    def get(self, key: str) -> Answer | None:
        """Returns the answer recorded under a key, or None."""
        return self._answers.get(key)

    def put(self, key: str, answer: Answer) -> None:
        """Records an answer; an earlier one under the same key is kept."""
        self._answers.setdefault(key, answer)


class SqliteCache:
    """Keeps answers in an SQLite file, each committed as it arrives.

    Several processes may use one file.

    Args:
        path: The file; it is created with its folder when missing.

    Raises:
        InputError: The file cannot be opened or is not a cache.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(expanduser(path))
        self._lock = threading.Lock()
        with self._explained():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self._path, timeout=PATIENCE, check_same_thread=False)
        self._closed = weakref.finalize(self, self._db.close)
        with self._explained():
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)"
            )

    def get(self, key: str) -> Answer | None:
        """Returns the answer recorded under a key, or None.

        Raises:
            InputError: The file cannot be read any more.
        """
        with self._lock, self._explained():
            row = self._db.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        if (answer := read_answer(row[0])) is None:
            raise InputError(
                f"cannot use {str(self._path)!r} as an answer cache (an answer in it is damaged); "
                "name another file"
            )
        return answer

    def put(self, key: str, answer: Answer) -> None:
        """Records an answer; an earlier one under the same key is kept.

        Raises:
            InputError: The file cannot be written any more.
        """
        with self._lock, self._explained(), self._db:
            self._db.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, json.dumps(answer))
            )

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._closed()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"cannot use {str(self._path)!r} as an answer cache ({error}); name another file"
            ) from error


def read_answer(written: str | bytes) -> Answer | None:
    """Returns an answer that was written as JSON, with whatever stands beside it; None if none."""
    try:
        answer: Any = json.loads(written)
    except (ValueError, RecursionError):
        return None
    counts = ("prompt_tokens", "completion_tokens")
    whole = (
        isinstance(answer, dict)
        and isinstance(texts := answer.get("texts"), list)
        and all(isinstance(text, str) for text in texts)
        and all(type(answer.get(name)) is int for name in counts)
        and isinstance(ends := answer.get("incomplete", {}), dict)
        and all(type(number) is int for number in ends.values())
    )
    return cast("Answer", answer) if whole else None


def digest(parts: Mapping[str, Any]) -> str:
    """Returns a short key for any JSON-like value; equal values give equal keys."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
