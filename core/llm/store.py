"""Stores of answers: in memory, or in an SQLite file that survives a crash.

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
"""`record`: answers are stored, and stored answers reused; `replay`: no request is sent."""
PATIENCE = 30.0
"""Seconds to wait for another process that is writing (ours)."""
PROMPT = "prompt "
"""Prefix of the keys of a run's prompts."""


class Answer(TypedDict):
    """One recorded answer of a model."""

    texts: list[str]
    prompt_tokens: int
    completion_tokens: int
    cached_prompt_tokens: NotRequired[int]
    """Tokens of the prompt that the server had read before, where it reports them."""
    incomplete: NotRequired[dict[Ending, int]]
    """Number of incomplete completions, by their ending (`llm.completions`)."""


class AnswerStore(Protocol):
    """A store of answers by key."""

    def get(self, key: str, /) -> Answer | None:
        """Returns the answer recorded under a key, or None."""

    def put(self, key: str, answer: Answer, /) -> object:
        """Records an answer, unless there is an earlier one under the same key."""


class MemoryStore(dict[str, Answer]):
    """Keeps answers for the life of the process."""

    def put(self, key: str, answer: Answer, /) -> None:
        """Records an answer, unless there is an earlier one under the same key."""
        self.setdefault(key, answer)


class SqliteStore:
    """Stores answers in an SQLite file, each committed as it arrives.

    Several processes may use one file. Answers survive a killed process. A loss of power may lose
    the last seconds (ours: waiting for the disk would take longer than a search's own work).

    Args:
        path: The file; it is created with its folder when missing.

    Raises:
        InputError: The file cannot be opened or is not such a store. Methods raise it if the file
            can no longer be read or written.
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
        """Records an answer, unless there is an earlier one under the same key."""
        with self._lock, self._explained(), self._db:
            self._db.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, json.dumps(answer))
            )

    def all(self) -> dict[str, str]:
        """Returns all values in the file by their keys, as JSON texts."""
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
    """The role of the request."""
    expansion: int | None
    """How often the thought was expanded before; None if the prompt does not expand it."""
    text: str


class UnusedAnswers(TypedDict):
    """Totals of the answers that a run paid for under a lower limit and did not use again."""

    answers: int
    prompt_tokens: int
    completion_tokens: int


class PaidAnswers:
    """The answers that a run has paid for, so that it can start over without paying again.

    A search that a limit cut short may have gone other ways than it would under a higher limit, and
    a search whose process was killed may have no checkpoints. So it starts over. Earlier answers to
    its requests are taken from here, and counted as they were then: the result is that of a run
    that was never stopped.

    Args:
        file: An SQLite file of the run's own; the first answer creates it and its folder.

    Raises:
        InputError: The file exists but cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._store = SqliteStore(file) if file.exists() else None
        rows = self._store.all() if self._store else {}
        self._answers = {key: answer for key, text in rows.items() if (answer := read_answer(text))}
        self._uses = Counter[str]()
        self.prompts: dict[str, list[SentPrompt]] = {}
        """The prompts sent about each thought, by its id."""
        self._unwritten: list[tuple[str, SentPrompt]] = []
        for key in (each for each in rows if each.startswith(PROMPT)):
            with suppress(ValueError, TypeError):  # a damaged prompt is left out
                self._add(**json.loads(rows[key]))
        self.asked_anew = False
        """Whether the run sent a request that had no earlier answer."""

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Takes answers to requests of its body from the file, and stores new ones there."""
        token = PAID.set(self)
        try:
            yield
        finally:
            PAID.reset(token)
            if self._store is not None:
                self._store.close()
                self._store = None

    def unused(self) -> UnusedAnswers:
        """Returns totals of the paid answers that were not used again, such as a forced answer.

        They do not count as usage, which is that of a run with the higher limit from the start.
        """
        answers = self._answers.values()
        return {
            "answers": len(answers),
            "prompt_tokens": sum(answer["prompt_tokens"] for answer in answers),
            "completion_tokens": sum(answer["completion_tokens"] for answer in answers),
        }

    def take(self, key: str, n: int) -> Answer | None:
        """Returns the earlier answer to a call, or None; each answer is returned once.

        Args:
            key: Identifies the call by its content, whatever the model.
            n: Number of samples that it asks for; an answer with more does not count.
        """
        # Numbered, as a run may repeat an equal evaluation and get another answer.
        numbered_key = f"{key} {self._uses[key]}"
        if numbered_key not in self._answers or len(self._answers[numbered_key]["texts"]) > n:
            self.asked_anew = True
            return None
        self._uses[key] += 1
        return self._answers.pop(numbered_key)

    def note(self, about: str, prompt: SentPrompt) -> None:
        """Records a prompt that is sent about a thought; the next answer writes it to the file."""
        if self._add(about, prompt):
            self._unwritten.append((about, prompt))

    def _add(self, about: str, prompt: SentPrompt) -> bool:
        """Adds a prompt if it is new; returns whether it was."""
        prompts = self.prompts.setdefault(about, [])
        new = prompt not in prompts
        prompts += [prompt] if new else []
        return new

    def keep(self, key: str, answer: Answer) -> None:
        """Stores the answer to a call.

        Raises:
            InputError: The file can no longer be written.
        """
        self._store = self._store or SqliteStore(self._file)
        while self._unwritten:
            about, prompt = self._unwritten.pop(0)
            entry = {"about": about, "prompt": prompt}
            self._store.put(PROMPT + digest(entry), entry)
        self._store.put(f"{key} {self._uses[key]}", answer)
        self._uses[key] += 1


PAID: ContextVar[PaidAnswers | None] = ContextVar("paid", default=None)
"""The paid answers of the current run; a context variable, because concurrent runs may share a
port."""


def forget(file: Path) -> None:
    """Deletes a store that nobody has open."""
    for companion in ("", "-wal", "-shm"):  # SQLite's files for one database
        file.with_name(file.name + companion).unlink(missing_ok=True)


def read_answer(encoded: str | bytes) -> Answer | None:
    """Returns the answer in a JSON text, with any further fields; None if it holds none."""
    answer: Any = None
    with suppress(ValueError, RecursionError):
        answer = json.loads(encoded)
    if not isinstance(answer, dict):
        return None
    texts, ends = answer.get("texts"), answer.get("incomplete", {})
    if not (isinstance(texts, list) and isinstance(ends, dict)):
        return None
    numbers = [answer.get("prompt_tokens"), answer.get("completion_tokens"), *ends.values()]
    valid = all(isinstance(t, str) for t in texts) and all(type(n) is int for n in numbers)
    return cast("Answer", answer) if valid else None


def digest(parts: Mapping[str, Any]) -> str:
    """Returns a short key for any JSON-like value; equal values give equal keys."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
