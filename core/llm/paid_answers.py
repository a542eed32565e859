"""Answers that a run has paid for, so that it can begin again and pay no more.

A search that a limit cut short went other ways than one with a higher limit would have gone, and
one whose process was killed may have no checkpoints. So it begins anew, and whatever it asks that
it was answered before is taken from here and counted as it was when it was asked: the result is
that of a run which was never stopped.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from thoughtgraph.errors import InputError
from thoughtgraph.llm.answer_cache import Answer, digest, read_answer
from thoughtgraph.llm.exchange import Request
from thoughtgraph.llm.meter import Meter

_IN_USE: ContextVar["PaidAnswers | None"] = ContextVar("paid", default=None)
"""By context, because ports are shared by runs that go on side by side."""


class UnusedAnswers(TypedDict):
    """What was paid for under a lower limit and led nowhere under the higher one."""

    answers: int
    prompt_tokens: int
    completion_tokens: int


class PaidAnswers:
    """The paid answers of one run: a line of JSON each, in a file of its own.

    A line is written by one call of the operating system before the answer is used, so it outlives
    a killed process. It does not wait for the disk: a machine that loses power may lose the last
    seconds (ours: waiting would take longer than a search's own work).

    Args:
        file: The file; it is made, with its folder, by the first answer.

    Raises:
        InputError: It is there and cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = None
        self._known: dict[str, list[Answer]] = defaultdict(list)
        self.asked_anew = False
        """Whether something was asked that had not been answered before."""
        for line in self._lines():
            self._known[line.pop("key")].append(line)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Takes answers from the file, and keeps them there, for whatever is asked meanwhile."""
        token = _IN_USE.set(self)
        try:
            yield
        finally:
            _IN_USE.reset(token)
            self.close()

    def unused(self) -> UnusedAnswers:
        """Returns what of the paid answers was not asked for again, such as a forced answer.

        It is no part of the usage, which is that of a run with the higher limit from the start.
        """
        left = [answer for answers in self._known.values() for answer in answers]
        return {
            "answers": len(left),
            "prompt_tokens": sum(answer["prompt_tokens"] for answer in left),
            "completion_tokens": sum(answer["completion_tokens"] for answer in left),
        }

    def take(self, key: str, n: int) -> Answer | None:
        """Returns what a call was answered before; each answer is given once.

        Args:
            key: The call's name, by `name_of`.
            n: How many samples it asks for; an answer with more is none.
        """
        known = self._known.get(key)
        if not known or len(known[0]["texts"]) > n:
            self.asked_anew = True
            return None
        return known.pop(0)

    def keep(self, key: str, answer: Answer, meter: Meter) -> None:
        """Keeps what a call was answered.

        Args:
            key: The call's name, by `name_of`.
            answer: The answer.
            meter: Told when the file cannot be written any more.
        """
        line = (json.dumps({"key": key, **answer}) + "\n").encode()
        try:
            written = os.write(self._opened(), line)
        except OSError as error:
            # The answer is paid for: use it, then stop.
            meter.fail(f"cannot write {str(self._file)!r} ({error.strerror}); make room for it")
        else:
            if written < len(line):
                meter.fail(f"cannot write {str(self._file)!r} to its end; make room for it")

    def close(self) -> None:
        """Closes the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _opened(self) -> int:
        if self._descriptor is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            # Windows would write other line ends.
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            self._descriptor = os.open(self._file, flags, 0o600)
            size = os.fstat(self._descriptor).st_size
            os.lseek(self._descriptor, max(size - 1, 0), os.SEEK_SET)
            if os.read(self._descriptor, 1) not in (b"", b"\n"):
                os.write(self._descriptor, b"\n")  # the last line is torn: a new one begins
        return self._descriptor

    def _lines(self) -> Iterator[Any]:
        try:
            content = self._file.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(
                f"cannot read {str(self._file)!r} ({error.strerror}); check its permissions"
            ) from error
        for line in content.splitlines():
            # What is none was torn when its process was killed: it is asked again.
            answer: Any = read_answer(line)
            if answer is not None and isinstance(answer.get("key"), str):
                yield answer


def in_use() -> PaidAnswers | None:
    """Returns the paid answers of the run that asks; None where none are kept."""
    return _IN_USE.get()


def name_of(request: Request, at: int) -> str:
    """Names a call by what it asks, not whom, nor how many samples were wanted in all.

    Args:
        request: What is asked.
        at: Index of the first sample that the call asks for.
    """
    content = {name: value for name, value in request.content().items() if name != "n"}
    return digest({**content, "role": request.role, "at": at})
