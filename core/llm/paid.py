"""Answers that a run has paid for, so that it can begin again with higher limits and pay no more.

A search that a limit cut short went other ways than one with a higher limit would have gone. So it
begins anew, and whatever it asks that it was answered before is taken from here and counted as it
was when it was asked: the result is that of a run which had the higher limit from the start.
"""

import asyncio
from collections import Counter
from pathlib import Path

from typing_extensions import TypedDict

from thoughtgraph.errors import InputError
from thoughtgraph.llm.cache import Answer, SqliteCache, digest
from thoughtgraph.llm.exchange import Request
from thoughtgraph.llm.meter import Meter


class Unused(TypedDict):
    """What was paid for under a lower limit and led nowhere under the higher one."""

    answers: int
    prompt_tokens: int
    completion_tokens: int


class Paid:
    """The paid answers of one run, in an SQLite file of its own."""

    def __init__(self) -> None:
        self._answers: SqliteCache | None = None
        self._asked: Counter[str] = Counter()
        self._used: set[str] = set()
        self.asked_anew = False
        """Whether something was asked that had not been answered before."""

    def keep_in(self, file: Path) -> None:
        """Names the file; before that nothing is kept.

        Raises:
            InputError: It cannot be used.
        """
        self._answers = SqliteCache(file)

    def unused(self) -> Unused:
        """Returns what of the paid answers was not asked for again, such as a forced answer.

        It is no part of the usage, which is that of a run with the higher limit from the start.
        """
        entries = {} if self._answers is None else self._answers.entries()
        left = [answer for key, answer in entries.items() if key not in self._used]
        return {
            "answers": len(left),
            "prompt_tokens": sum(answer["prompt_tokens"] for answer in left),
            "completion_tokens": sum(answer["completion_tokens"] for answer in left),
        }

    def close(self) -> None:
        """Closes the file."""
        if self._answers is not None:
            self._answers.close()

    async def take(self, request: Request, at: int, n: int) -> Answer | None:
        """Returns what a call was answered before; each answer is given once.

        Args:
            request: What is asked.
            at: Index of the first sample that the call asks for.
            n: How many it asks for; an answer with more is none.
        """
        if self._answers is None:
            return None
        key = _key(request, at)
        kept = f"{key}/{self._asked[key]}"
        self._asked[key] += 1
        self._used.add(kept)
        answer = await asyncio.to_thread(self._answers.get, kept)
        if answer is None or len(answer["texts"]) > n:
            self.asked_anew = True
            return None
        return answer

    async def keep(self, request: Request, at: int, answer: Answer, meter: Meter) -> None:
        """Keeps what the call that was last looked for was answered.

        Args:
            request: What was asked.
            at: Index of the first sample that the call asked for.
            answer: The answer.
            meter: Told when the file cannot be written any more.
        """
        if self._answers is None:
            return
        key = _key(request, at)
        kept = f"{key}/{self._asked[key] - 1}"
        try:
            await asyncio.to_thread(self._answers.put, kept, answer)
        except InputError as error:
            meter.fail(str(error))  # the answer is paid for: use it, then stop


def _key(request: Request, at: int) -> str:
    """Names a call by what it asks, not whom, nor how many samples were wanted in all."""
    content = {name: value for name, value in request.content().items() if name != "n"}
    return digest({**content, "role": request.role, "at": at})
