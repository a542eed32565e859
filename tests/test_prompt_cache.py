"""Which slot of the embedded server reads a prompt, and what it is given to read less."""

import asyncio
import os
import random
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from thoughtgraph.llm.prompt_cache import WORTH, PromptCache, supported

pytestmark = pytest.mark.skipif(not supported(), reason="no files in memory on this system")

SHARED = "A long beginning. " * (WORTH // 10)
SIZE = 1000
"""Bytes of everything that is saved here."""


@dataclass
class Llama:
    """A server that keeps what it was told, and whether two requests ever met in a slot."""

    did: list[str] = field(default_factory=list)
    inside: Counter[int | None] = field(default_factory=Counter)
    met: bool = False

    async def act(self, action: str, slot: int, file: int) -> bool:
        self.did.append(action)
        if action == "save":
            with open(f"/proc/self/fd/{file}", "wb") as out:
                out.write(b"x" * SIZE)
            return True
        await asyncio.sleep(0.0005)
        assert action == "read" or os.fstat(file).st_size == SIZE
        return True

    async def ask(self, cache: PromptCache, text: str, n: int = 1) -> int | None:
        async with cache.slot(text, n, self.act) as slot:
            self.inside[slot] += 1
            self.met |= slot is not None and self.inside[slot] > 1
            await asyncio.sleep(0.0005)
            self.inside[slot] -= 1
        return slot


async def test_what_several_requests_begin_with_is_read_once_if_it_is_long() -> None:
    llama, cache = Llama(), PromptCache(8)
    slots = await asyncio.gather(*(llama.ask(cache, f"{SHARED}{k}") for k in range(5)))
    assert len(set(slots)) == 5
    assert llama.did == ["read", "save", *["restore"] * 4]
    assert not llama.met
    await asyncio.gather(*(llama.ask(cache, f"What is {k} + {k}?") for k in range(8)))
    assert len(llama.did) == 6


async def test_prompts_with_nothing_in_common_are_read_side_by_side() -> None:
    llama, cache = Llama(), PromptCache(8)
    await asyncio.gather(*(llama.ask(cache, f"{k}{SHARED}") for k in range(3)))
    assert llama.did == [*["read"] * 3, *["save"] * 3]


async def test_of_what_was_saved_the_longest_unused_gives_way() -> None:
    llama, cache = Llama(), PromptCache(1, most=2 * SIZE)
    for k in (1, 2, 1, 3):
        await llama.ask(cache, f"{k}{SHARED}")
    llama.did.clear()
    await llama.ask(cache, f"1{SHARED}")
    await llama.ask(cache, f"2{SHARED}")
    assert llama.did == ["restore", "read", "save"]


@pytest.mark.parametrize("seed", range(10))
def test_requests_of_several_threads_never_meet_in_a_slot(seed: int) -> None:
    draw = random.Random(seed)
    llama, cache = Llama(), PromptCache(4, most=3 * SIZE)
    texts = [f"{draw.randrange(3)}{SHARED * draw.randrange(3)}{k}" for k in range(24)]

    async def ask_all(part: Sequence[str]) -> None:
        tasks = [asyncio.create_task(llama.ask(cache, text, 1 + len(text) % 3)) for text in part]
        draw.choice(tasks).cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)

    threads = [
        threading.Thread(target=lambda part=texts[at::3]: asyncio.run(ask_all(part)))
        for at in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not llama.met
    assert asyncio.run(llama.ask(cache, "The end.")) is not None
