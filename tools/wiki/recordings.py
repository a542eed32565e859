"""Answers of wikis, kept in a store like that of models' answers."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from thoughtgraph.errors import InputError, ThoughtgraphError
from thoughtgraph.llm.store import SqliteStore, digest
from thoughtgraph.settings.acting import Recording
from thoughtgraph.tools.wiki.pages import NotRecorded, Unreachable

Ask = Callable[[Mapping[str, Any], float], Mapping[str, Any]]
"""Asks a wiki for parameters until a time."""


class WikiCache:
    """Keeps answers of wikis in an SQLite file. Threads and processes may share it.

    Args:
        path: The file of recordings; it is created with its folder when missing. What is kept for a
            day is in a file beside it, with the date in its name.
        recording: What answers are kept for: `fresh`: for nothing; `keep`: an answer is used again
            on the same day (in UTC); `record`: for good; `replay`: no wiki is ever asked.

    Raises:
        InputError: The file cannot be opened or is not such a store.
    """

    def __init__(self, path: Path, recording: Recording = "keep") -> None:
        self._path = path
        self._recording = recording
        self._lock = threading.Lock()
        self._asking: dict[str, Future[Mapping[str, Any]]] = {}
        self._store: tuple[Path, SqliteStore] | None = None
        try:
            self._opened()
        except InputError as error:
            remedy = "set THOUGHTGRAPH_CACHE to a folder that can be written"
            raise InputError(f"{error}, or {remedy}") from error

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
            PagesError: There is no answer.
            InputError: The file cannot be used any more.
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
            own.set_result(self._kept(key, address, parameters, ask, until))
        except ThoughtgraphError as error:
            own.set_exception(error)
        finally:
            with self._lock:
                del self._asking[key]
            own.cancel()  # without effect unless a mistake in the program ended this
        return own.result()

    def _kept(
        self, key: str, address: str, parameters: Mapping[str, Any], ask: Ask, until: float
    ) -> Mapping[str, Any]:
        store = self._opened()
        if store and (row := store.get(key)):
            return self._read("".join(row["texts"]), store.path)
        if self._recording == "replay":
            raise NotRecorded(
                f"{str(self._path)!r} holds no answer of {address} to "
                f"{json.dumps(dict(parameters))}; record it first, anew if an earlier version "
                "recorded it"
            )
        answer = ask(parameters, until)
        if store:
            text = json.dumps(answer)
            store.put(key, {"texts": [text], "prompt_tokens": 0, "completion_tokens": 0})
        return answer

    def _read(self, text: str, file: Path) -> Mapping[str, Any]:
        """Returns a kept answer; refuses one that is no JSON object."""
        answer = None
        with suppress(ValueError, RecursionError):
            answer = json.loads(text)
        if not isinstance(answer, dict):
            raise InputError(
                f"{str(file)!r} holds a damaged answer of a wiki; delete this file, and the wiki "
                "is asked again"
            )
        return answer

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
