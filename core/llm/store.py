"""Answers kept for later: in memory, or in an SQLite file that survives a crash.

A key covers everything that determines an answer: endpoint, model, parameters, messages, number of
samples and, for generations, the draw. Values are plain JSON.
"""

import hashlib
import json
import sqlite3
import threading
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from os.path import expanduser
from pathlib import Path
from typing import Any, Literal, NotRequired, Protocol, cast

from typing_extensions import TypedDict

from thoughtgraph.errors import InputError
from thoughtgraph.usage import Ending

Replay = Literal["off", "record", "replay"]
"""`record`: every answer is kept in the cache and taken from it; `replay`: nothing is asked."""
PATIENCE = 30.0
"""Seconds to wait for another process that is writing (ours)."""
PROMPT = "prompt "
"""What the keys of a run's prompts begin with."""


class Answer(TypedDict):
    """One recorded answer of a model."""

    texts: list[str]
    prompt_tokens: int
    completion_tokens: int
    cached_prompt_tokens: NotRequired[int]
    """Of the prompt's, what the server had read before, where it says so; it is not kept."""
    incomplete: NotRequired[dict[Ending, int]]
    """How many completions are no whole answers, by what ended them (`llm.completions`)."""


class AnswerStore(Protocol):
    """Where answers are kept."""

    def get(self, key: str, /) -> Answer | None:
        """Returns the answer recorded under a key, or None."""

    def put(self, key: str, answer: Answer, /) -> object:
        """Records an answer; an earlier one under the same key is kept."""


class MemoryStore(dict[str, Answer]):
    """Keeps answers for the life of the process."""

    def put(self, key: str, answer: Answer, /) -> None:
        """Records an answer; an earlier one under the same key is kept."""
        self.setdefault(key, answer)


class SqliteStore:
    """Keeps answers in an SQLite file, each committed as it arrives.

    Several processes may use one file. An answer outlives a killed process; a machine that loses
    power may lose the last seconds (ours: to wait for the disk takes longer than a search's work).

    Args:
        path: The file; it is created with its folder when missing.

    Raises:
        InputError: The file cannot be opened or is not such a store; methods raise it where it
            cannot be read or written any more.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(expanduser(path))
        self._lock = threading.Lock()
        with self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=PATIENCE, check_same_thread=False)
        self._closed = weakref.finalize(self, self._db.close)
        with self._explained():
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)"
            )

    def get(self, key: str) -> Answer | None:
        """Returns the answer recorded under a key, or None."""
        with self._lock, self._explained():
            row = self._db.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        if (answer := read_answer(row[0])) is None:
            raise InputError(
                f"cannot use {str(self.path)!r} as an answer cache (an answer in it is damaged); "
                "name another file"
            )
        return answer

    def put(self, key: str, answer: Mapping[str, Any]) -> None:
        """Records an answer; an earlier one under the same key is kept."""
        with self._lock, self._explained(), self._db:
            self._db.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, json.dumps(answer))
            )

    def all(self) -> dict[str, str]:
        """Returns all that is in the file by its key, as it is written there."""
        with self._lock, self._explained():
            return dict(self._db.execute("SELECT key, answer FROM answers").fetchall())

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
                f"cannot use {str(self.path)!r} as an answer cache ({error}); name another "
                "file, or free disk space if the disk is full"
            ) from error


class SentPrompt(TypedDict):
    """A prompt that a run sent about a thought."""

    role: str
    """What it was for."""
    expansion: int | None
    """How often the thought was expanded before; None: it was not to be expanded."""
    text: str


class UnusedAnswers(TypedDict):
    """What was paid for under a lower limit and led nowhere under the higher one."""

    answers: int
    prompt_tokens: int
    completion_tokens: int


class PaidAnswers:
    """Answers that a run has paid for, so that it can begin again and pay no more.

    A search that a limit cut short went other ways than one with a higher limit would have gone,
    and one whose process was killed may have no checkpoints. So it begins anew, and whatever it
    asks that it was answered before is taken from here and counted as it was when it was asked: the
    result is that of a run which was never stopped.

    Args:
        file: An SQLite file of the run's own; it is made, with its folder, by the first answer.

    Raises:
        InputError: It is there and cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._store = SqliteStore(file) if file.exists() else None
        kept = self._store.all() if self._store else {}
        self._known = {key: answer for key, text in kept.items() if (answer := read_answer(text))}
        self._asked = Counter[str]()
        self.prompts: dict[str, list[SentPrompt]] = {}
        """What was sent about each thought, by its id."""
        self._unwritten: list[tuple[str, SentPrompt]] = []
        for key in (each for each in kept if each.startswith(PROMPT)):
            with suppress(ValueError, TypeError):  # a damaged one is not shown
                self._add(**json.loads(kept[key]))
        self.asked_anew = False
        """Whether something was asked that had not been answered before."""

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Takes answers from the file, and keeps them there, for whatever is asked meanwhile."""
        token = PAID.set(self)
        try:
            yield
        finally:
            PAID.reset(token)
            if self._store is not None:
                self._store.close()
                self._store = None

    def unused(self) -> UnusedAnswers:
        """Returns what of the paid answers was not asked for again, such as a forced answer.

        It is no part of the usage, which is that of a run with the higher limit from the start.
        """
        left = self._known.values()
        return {
            "answers": len(left),
            "prompt_tokens": sum(answer["prompt_tokens"] for answer in left),
            "completion_tokens": sum(answer["completion_tokens"] for answer in left),
        }

    def take(self, key: str, n: int) -> Answer | None:
        """Returns what a call was answered before; each answer is given once.

        Args:
            key: Names the call by what it asks, not whom.
            n: How many samples it asks for; an answer with more is none.
        """
        # Equal evaluations of a run are asked again, and may be answered otherwise.
        place = f"{key} {self._asked[key]}"
        if place not in self._known or len(self._known[place]["texts"]) > n:
            self.asked_anew = True
            return None
        self._asked[key] += 1
        return self._known.pop(place)

    def note(self, about: str, prompt: SentPrompt) -> None:
        """Notes a prompt that is sent about a thought; it is kept with the next answer."""
        if self._add(about, prompt):
            self._unwritten.append((about, prompt))

    def _add(self, about: str, prompt: SentPrompt) -> bool:
        """Adds a prompt, unless it is known; returns whether it was not."""
        known = self.prompts.setdefault(about, [])
        new = prompt not in known
        known += [prompt] if new else []
        return new

    def keep(self, key: str, answer: Answer) -> None:
        """Keeps what a call was answered.

        Raises:
            InputError: The file cannot be written any more.
        """
        self._store = self._store or SqliteStore(self._file)
        while self._unwritten:
            about, prompt = self._unwritten.pop(0)
            noted = {"about": about, "prompt": prompt}
            self._store.put(PROMPT + digest(noted), noted)
        self._store.put(f"{key} {self._asked[key]}", answer)
        self._asked[key] += 1


PAID: ContextVar[PaidAnswers | None] = ContextVar("paid", default=None)
"""The paid answers of the run that asks; by context, because ports are shared by runs that go on
side by side."""


def forget(file: Path) -> None:
    """Deletes a store that nobody has open."""
    for companion in ("", "-wal", "-shm"):  # SQLite's files for one database
        file.with_name(file.name + companion).unlink(missing_ok=True)


def read_answer(written: str | bytes) -> Answer | None:
    """Returns an answer that was written as JSON, with whatever stands beside it; None if none."""
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(written)
    if not isinstance(answer, dict):
        return None
    texts, ends = answer.get("texts"), answer.get("incomplete", {})
    if not (isinstance(texts, list) and isinstance(ends, dict)):
        return None
    numbers = [answer.get("prompt_tokens"), answer.get("completion_tokens"), *ends.values()]
    whole = all(isinstance(t, str) for t in texts) and all(type(n) is int for n in numbers)
    return cast("Answer", answer) if whole else None


def digest(parts: Mapping[str, Any]) -> str:
    """Returns a short key for any JSON-like value; equal values give equal keys."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
