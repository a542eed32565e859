"""Answers of wikis, kept in a store like that of models' answers."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from os.path import expanduser
from pathlib import Path
from typing import Any, Literal

from thoughtgraph.errors import InputError, ThoughtgraphError
from thoughtgraph.llm.store import SqliteStore, digest
from thoughtgraph.tools.wiki.pages import NotKept, NotRecorded, Unreachable

Recording = Literal["fresh", "keep", "record", "replay"]
"""What answers are kept for.

`fresh`: for nothing, the wiki is always asked. `keep`: an answer is used again on the same day (in
UTC). `record`: every answer is kept for good and used again whatever its age. `replay`: only what
was recorded is used, and the wiki is never asked.
"""

Ask = Callable[[Mapping[str, Any], float], Mapping[str, Any]]
"""Asks a wiki for parameters until a time."""


class WikiCache:
    """Keeps answers of wikis in an SQLite file. Threads and processes may share it.

    Args:
        path: The file of recordings; it is created with its folder when missing. What is kept for a
            day is in a file beside it, with the date in its name.
        recording: What answers are kept for.

    Raises:
        InputError: The file cannot be opened or is not such a store.
    """

    def __init__(self, path: str | Path, recording: Recording = "keep") -> None:
        self._path = Path(expanduser(path))
        self._recording = recording
        self._lock = threading.Lock()
        self._asking: dict[str, Future[Mapping[str, Any]]] = {}
        self._store: tuple[Path, SqliteStore] | None = None
        with _explained(InputError):
            self._opened()

    def answer(
        self, address: str, parameters: Mapping[str, Any], ask: Ask, until: float
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
        key = digest({"address": address, "parameters": parameters})
        own = Future[Mapping[str, Any]]()
        with self._lock:
            under_way = self._asking.setdefault(key, own)
        if under_way is not own:
            try:
                return under_way.result(max(0.0, until - time.monotonic()))
            except TimeoutError:
                raise Unreachable(f"{address} did not answer in time") from None
        try:
            answer = self._read(key)
            if answer is None:
                self._refuse_replay(address, parameters)
                answer = ask(parameters, until)
                self._write(key, answer)
            own.set_result(answer)
        except ThoughtgraphError as error:
            own.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._asking[key]
            own.cancel()  # without effect unless a mistake in the program ended this
        return answer

    def _read(self, key: str) -> Mapping[str, Any] | None:
        """Returns the answer in the store; None if the wiki is to be asked."""
        with _explained(NotKept):
            store = self._opened()
            row = store.get(key) if store else None
        if row is None:
            return None
        try:
            answer = json.loads("".join(row["texts"]))
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            folder = str(self._path.parent)
            raise NotKept(f"an answer of a wiki kept in {folder!r} is damaged; remove its file")
        return answer

    def _write(self, key: str, answer: Mapping[str, Any]) -> None:
        with _explained(NotKept):
            if store := self._opened():
                text = json.dumps(answer)
                store.put(key, {"texts": [text], "prompt_tokens": 0, "completion_tokens": 0})

    def _refuse_replay(self, address: str, parameters: Mapping[str, Any]) -> None:
        if self._recording == "replay":
            raise NotRecorded(
                f"{str(self._path)!r} holds no answer of {address} to "
                f"{json.dumps(dict(parameters))}; record it first, anew if an earlier version "
                "recorded it"
            )

    def _opened(self) -> SqliteStore | None:
        """Returns the store of today, or the one of recordings; None where nothing is kept."""
        if self._recording == "fresh":
            return None
        file = self._path if self._recording != "keep" else _of_today(self._path)
        with self._lock:
            if self._store is None or self._store[0] != file:
                self._store = (file, SqliteStore(file))
            return self._store[1]


def _of_today(recordings: Path) -> Path:
    """Returns the file of today's answers, and removes those of other days."""
    day = datetime.fromtimestamp(time.time(), UTC).date()
    today = recordings.with_stem(f"{recordings.stem}-{day}")
    if not today.exists():
        for other in recordings.parent.glob(f"{recordings.stem}-????-??-??{recordings.suffix}*"):
            with suppress(OSError):  # Windows keeps a file that a process has open
                other.unlink()
    return today


@contextmanager
def _explained(kind: type[ThoughtgraphError]) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        remedy = "set THOUGHTGRAPH_CACHE to a folder that can be written"
        raise kind(f"{error}, or {remedy}") from error
