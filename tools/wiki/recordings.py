"""Keeps answers of wikis, in the same kind of store as answers of models."""

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
"""Sends a query's parameters to a wiki, with the time until which to try."""


class WikiCache:
    """Keeps answers of wikis in an SQLite file. Threads and processes may share it.

    Args:
        path: The file of recordings; it is created with its folder when missing. Answers that are
            kept for a day are in a file next to it, with the date in its name.
        recording: How long answers are kept. `fresh`: not at all; `keep`: for the same day (in
            UTC); `record`: for good; `replay`: only recorded answers are used, no wiki is asked.

    Raises:
        InputError: The file cannot be opened or is not such a store.
    """

    def __init__(self, path: Path, recording: Recording = "keep") -> None:
        self._path = path
        self._recording = recording
        self._lock = threading.Lock()
        self._in_flight: dict[str, Future[Mapping[str, Any]]] = {}
        self._store: tuple[Path, SqliteStore] | None = None
        try:
            self._open_store()
        except InputError as error:
            remedy = "set THOUGHTGRAPH_CACHE to a folder that can be written"
            raise InputError(f"{error}, or {remedy}") from error

    def answer(
        self, address: str, parameters: Mapping[str, Any], ask: Ask, until: float
    ) -> Mapping[str, Any]:
        """Returns the kept answer to a query, else asks the wiki.

        Threads with the same query at the same time share one answer: the children of a thought
        often search for the same page.

        Args:
            address: The address of the wiki.
            parameters: The parameters of the query.
            ask: Sends the query to the wiki.
            until: The time (`time.monotonic`) after which no attempt is made.

        Raises:
            PagesError: There is no answer.
            InputError: The file can no longer be used.
        """
        key = digest({"address": address, "parameters": parameters})
        own = Future[Mapping[str, Any]]()
        with self._lock:
            shared = self._in_flight.setdefault(key, own)
        if shared is not own:
            try:
                return shared.result(max(0.0, until - time.monotonic()))
            except TimeoutError:
                raise Unreachable(f"{address} did not answer in time") from None
        try:
            own.set_result(self._kept_or_new(key, address, parameters, ask, until))
        except ThoughtgraphError as error:
            own.set_exception(error)
        finally:
            with self._lock:
                del self._in_flight[key]
            own.cancel()  # has an effect only if a bug ended this without a result
        return own.result()

    def _kept_or_new(
        self, key: str, address: str, parameters: Mapping[str, Any], ask: Ask, until: float
    ) -> Mapping[str, Any]:
        store = self._open_store()
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
        """Parses a kept answer; refuses one that is no JSON object."""
        answer = None
        with suppress(ValueError, RecursionError):
            answer = json.loads(text)
        if not isinstance(answer, dict):
            raise InputError(
                f"{str(file)!r} holds a damaged answer of a wiki; delete this file, and the wiki "
                "is asked again"
            )
        return answer

    def _open_store(self) -> SqliteStore | None:
        """Returns today's store or the store of recordings; None if no answer is kept."""
        if self._recording == "fresh":
            return None
        file = self._path if self._recording != "keep" else _todays_file(self._path)
        with self._lock:
            if self._store is None or self._store[0] != file:
                self._store = (file, SqliteStore(file))
            return self._store[1]


def _todays_file(recordings: Path) -> Path:
    """Returns the file of today's answers; before that exists, removes the files of other days."""
    day = datetime.fromtimestamp(time.time(), UTC).date()
    today = recordings.with_stem(f"{recordings.stem}-{day}")
    if not today.exists():
        for other in recordings.parent.glob(f"{recordings.stem}-????-??-??{recordings.suffix}*"):
            with suppress(OSError):  # Windows keeps a file that a process has open
                other.unlink()
    return today
