"""A cache of the prompts of an embedded model, so that a long shared prefix is read only once.

llama.cpp works on several prompts at once, each in a slot, and a slot keeps the prompt it read
last. Slots share nothing: for five concurrent requests that begin with the same 600 tokens, it
would read these five times, and reading takes most of the time on a processor. Here the first
request reads its prompt alone. The slot is then saved to memory, in llama.cpp's own format, and
restored to the slots of the other requests. None of this changes an answer: llama.cpp compares a
slot with the prompt token by token in any case, so a mistake here costs only time.
"""

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import NamedTuple

WORTH = 600
"""Letters of a prefix, some 150 tokens, that are worth an extra request to read them (ours)."""
ALIKE = 60
"""Letters of a common prefix below which two prompts count as unrelated, and a new prompt gets the
least recently used slot (ours)."""
SAVED_BYTES = 256 << 20
"""Memory for saved prompts (ours): 9,000 tokens of a model of 1.5 billion weights."""


Act = Callable[[str, int, int], Awaitable[bool]]
"""Makes a server `read` a request's prompt into a slot, `save` the slot to an open file, or
`restore` it from there; returns whether it did. After a failure, the request reads the prompt."""


@dataclass(slots=True)
class _Slot:
    id: int
    text: str = ""
    busy: bool = False
    used: int = 0
    """Order of the last use: a larger number is later."""


class _Saved:
    """An in-memory file, closed once there is no reference to it."""

    def __init__(self) -> None:
        self.file = os.memfd_create("prompt")
        weakref.finalize(self, os.close, self.file)


class _Turn(NamedTuple):
    """The plan for a request."""

    slots: list[_Slot]
    """The slots it occupies, first the one that reads its prompt; empty if all slots are busy."""
    saved: _Saved | None = None
    """The saved prompt to restore to that slot first."""
    reading: "Future[None] | None" = None
    """Set if the request reads text that others may wait for; done once it has read it."""


def supported() -> bool:
    """Returns whether the system has in-memory files with a path, as Linux has."""
    return hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd")


def common(one: str, other: str) -> int:
    """Returns the length of the common prefix of two texts, in letters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


class PromptCache:
    """Chooses the slot of each request to one server; requests may come from any event loop.

    Args:
        size: Number of slots of the server.
        most: Most bytes of saved prompts.
    """

    def __init__(self, size: int, most: int = SAVED_BYTES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._slots = [_Slot(at) for at in range(size)]
        # In the order of their last use: the least recently used one is dropped, not the examples
        # that all problems begin with.
        self._saved: dict[str, _Saved] = {}
        self._reading: dict[str, Future[None]] = {}
        self._uses = count(1)

    @asynccontextmanager
    async def slot(self, text: str, n: int, act: Act) -> AsyncIterator[int | None]:
        """Yields the free slot with the longest cached prefix; None if all slots are busy.

        Args:
            text: The prompt.
            n: Number of samples; each is decoded in a slot of its own.
            act: Makes the server prepare the slot.
        """
        while isinstance(turn := self._next(text, n), Future):
            # Shielded: the cancellation of this request must not wake the others.
            await asyncio.shield(asyncio.wrap_future(turn))
        if not turn.slots:
            yield None
            return
        first = turn.slots[0].id
        try:
            await self._prepare(text, first, turn, act)
            for slot in turn.slots:
                slot.text = text  # not earlier: a cancelled request may have read any part
            yield first
        finally:
            with self._lock:
                for slot in turn.slots:
                    slot.busy = False

    async def _prepare(self, text: str, slot: int, turn: _Turn, act: Act) -> None:
        """Restores to a slot the prefix that others have read, or reads the prompt for others."""
        try:
            if turn.saved is not None:
                await act("restore", slot, turn.saved.file)
            if turn.reading is not None:
                await act("read", slot, 0)
                saved = _Saved()
                if await act("save", slot, saved.file):
                    self._keep(text, saved)
        finally:
            # Even if this request is cancelled: those that wait then read the prompt themselves.
            if turn.reading is not None:
                with self._lock:
                    del self._reading[text]
                turn.reading.set_result(None)

    def _next(self, text: str, n: int) -> "_Turn | Future[None]":
        """Returns the plan for a request, or a future if another request reads the same prefix."""
        with self._lock:
            idle = [slot for slot in self._slots if not slot.busy]
            if not idle:
                return _Turn([])
            oldest = min(idle, key=lambda slot: (slot.used, -slot.id))
            # The server decodes the other samples in the first free slots, even in one that has
            # just read a prompt. So prompts are prepared in the last slots.
            slot = max(idle, key=lambda slot: (common(slot.text, text), slot.id))
            in_slot = common(slot.text, text)
            if in_slot < ALIKE:
                slot, in_slot = oldest, 0
            reading, in_reading = _closest(self._reading, text)
            saved, in_saved = _closest(self._saved, text)
            if reading is not None and in_reading >= max(in_slot, in_saved) + WORTH:
                return self._reading[reading]
            restored = None
            if saved is not None and in_saved >= in_slot + WORTH:
                restored = self._saved[saved] = self._saved.pop(saved)
                slot, in_slot = oldest, in_saved
            chosen = [slot, *[each for each in idle if each is not slot][: n - 1]]
            for each in chosen:
                each.text, each.busy, each.used = "", True, next(self._uses)
            if len(text) - in_slot < WORTH:
                return _Turn(chosen, restored)
            self._reading[text] = Future()
            return _Turn(chosen, restored, self._reading[text])

    def _keep(self, text: str, saved: _Saved) -> None:
        with self._lock:
            self._saved.pop(text, None)
            self._saved[text] = saved
            while sum(os.fstat(each.file).st_size for each in self._saved.values()) > self._most:
                del self._saved[next(iter(self._saved))]


def _closest(known: Iterable[str], text: str) -> tuple[str | None, int]:
    """Returns the known text with the longest common prefix with `text`, and its length."""
    best = max(known, key=partial(common, text), default=None)
    return best, common(text, best or "")
