"""What an embedded model has read already, so that a long shared beginning is read once.

llama.cpp works on several prompts at once, each in a slot, and a slot keeps what it read last. It
shares nothing between slots: five requests side by side that begin with the same 600 tokens would
have these read five times, and reading is what takes longest on a processor. Here the first of
them reads its prompt alone; what it read is saved, in llama.cpp's own format, to memory, and given
to the slots of the others. Nothing of this changes an answer: a slot is compared with the prompt,
token by token, whatever is said here, so a mistake costs time alone.
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
"""Letters, some 150 tokens, that are worth a request of their own to be read once (ours)."""
ALIKE = 60
"""Letters below which two prompts have nothing in common, and the slot that was used first gives
way (ours)."""
SAVED_BYTES = 256 << 20
"""Memory for what was read (ours): 9,000 tokens of a model of 1.5 billion weights."""


Act = Callable[[str, int, int], Awaitable[bool]]
"""Has a server `read` a request's prompt in a slot, or `save` what the slot holds to an open file,
or `restore` it from there; returns whether it did. A failure leaves the rest to the server."""


@dataclass(slots=True)
class _Slot:
    id: int
    text: str = ""
    busy: bool = False
    used: int = 0
    """When it was last taken: the larger, the later."""


class _Saved:
    """A file in memory, closed when nobody refers to it any more."""

    def __init__(self) -> None:
        self.file = os.memfd_create("prompt")
        weakref.finalize(self, os.close, self.file)


class _Turn(NamedTuple):
    """What a request does."""

    slots: list[_Slot]
    """Those it occupies, the one that reads its prompt first; none where all are taken."""
    saved: _Saved | None = None
    """What that slot is given before."""
    reading: "Future[None] | None" = None
    """Whether it reads much that others may wait for: done when it has."""


def supported() -> bool:
    """Returns whether there are files in memory that have a path, as on Linux."""
    return hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd")


def common(one: str, other: str) -> int:
    """Returns how many letters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


class PromptCache:
    """Chooses the slot of each request of one server, in whichever event loop it is made.

    Args:
        size: How many slots the server has.
        most: Bytes that may be saved.
    """

    def __init__(self, size: int, most: int = SAVED_BYTES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._slots = [_Slot(at) for at in range(size)]
        # In the order of their last use: what nobody asked for longest gives way, not the examples
        # that all problems begin with.
        self._saved: dict[str, _Saved] = {}
        self._reading: dict[str, Future[None]] = {}
        self._uses = count(1)

    @asynccontextmanager
    async def slot(self, text: str, n: int, act: Act) -> AsyncIterator[int | None]:
        """Yields the free slot with the longest cached prefix; None where all are taken.

        Args:
            text: The prompt.
            n: How many samples are asked for; each is decoded in a slot of its own.
            act: Has the server do what is needed before.
        """
        while isinstance(turn := self._next(text, n), Future):
            # Shielded: that this request is given up must not wake the others.
            await asyncio.shield(asyncio.wrap_future(turn))
        if not turn.slots:
            yield None
            return
        first = turn.slots[0].id
        try:
            await self._prepare(text, first, turn, act)
            for slot in turn.slots:
                slot.text = text  # not before: who is cancelled has read who knows how much
            yield first
        finally:
            with self._lock:
                for slot in turn.slots:
                    slot.busy = False

    async def _prepare(self, text: str, slot: int, turn: _Turn, act: Act) -> None:
        """Has a slot hold as much of the prompt as others have read, or read it for them."""
        try:
            if turn.saved is not None:
                await act("restore", slot, turn.saved.file)
            if turn.reading is not None:
                await act("read", slot, 0)
                saved = _Saved()
                if await act("save", slot, saved.file):
                    self._keep(text, saved)
        finally:
            # Also where this request is given up: those who wait go on, and read it themselves.
            if turn.reading is not None:
                with self._lock:
                    del self._reading[text]
                turn.reading.set_result(None)

    def _next(self, text: str, n: int) -> "_Turn | Future[None]":
        """Returns what a request does; or what it waits for, where another reads the same."""
        with self._lock:
            idle = [slot for slot in self._slots if not slot.busy]
            if not idle:
                return _Turn([])
            oldest = min(idle, key=lambda slot: (slot.used, -slot.id))
            # The server decodes the other samples in the first slots that are free, even in one
            # that a prompt was just read into. So prompts are made ready in the last ones.
            slot = max(idle, key=lambda slot: (common(slot.text, text), slot.id))
            held = common(slot.text, text)
            if held < ALIKE:
                slot, held = oldest, 0
            reading, begun = _closest(self._reading, text)
            saved, known = _closest(self._saved, text)
            if reading is not None and begun >= max(held, known) + WORTH:
                return self._reading[reading]
            restored = None
            if saved is not None and known >= held + WORTH:
                restored = self._saved[saved] = self._saved.pop(saved)
                slot, held = oldest, known
            taken = [slot, *[each for each in idle if each is not slot][: n - 1]]
            for each in taken:
                each.text, each.busy, each.used = "", True, next(self._uses)
            if len(text) - held < WORTH:
                return _Turn(taken, restored)
            self._reading[text] = Future()
            return _Turn(taken, restored, self._reading[text])

    def _keep(self, text: str, saved: _Saved) -> None:
        with self._lock:
            self._saved.pop(text, None)
            self._saved[text] = saved
            while sum(os.fstat(each.file).st_size for each in self._saved.values()) > self._most:
                del self._saved[next(iter(self._saved))]


def _closest(known: Iterable[str], text: str) -> tuple[str | None, int]:
    """Returns the known text that has most in common with this one, and how much that is."""
    best = max(known, key=partial(common, text), default=None)
    return best, common(text, best or "")
