"""The progress of the embedded model on its requests.

The embedded model reports how much of a prompt it has read and how much it has written. Of any
other endpoint only the elapsed time is known, and nothing else is shown.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import httpx

from thoughtgraph.cli import text
from thoughtgraph.llm.endpoints import EMBEDDED
from thoughtgraph.llm.port import ChatPort

EVERY = 0.5
"""Seconds between two polls of the server (ours)."""
PATIENCE = 5.0
"""Seconds that a poll may take (ours): the server finishes a batch before it answers."""


class Slot(NamedTuple):
    """The progress of a server on one completion, in tokens."""

    read: int
    """Tokens of the prompt read so far, including those cached from an earlier prompt. The server
    does not report the length of the prompt."""
    written: int
    """Tokens of the completion so far."""
    most: int
    """Most tokens that the completion may have."""


def slots_of(report: object) -> list[Slot]:
    """Parses llama.cpp's `/slots`; returns the progress of the running completions."""
    slots: list[Slot] = []
    for slot in report if isinstance(report, list) else ():
        try:
            if not slot["is_processing"]:
                continue
            [after] = slot["next_token"]
            written, left = int(after["n_decoded"]), int(after["n_remain"])
            read = int(slot["n_prompt_tokens_cache"]) + int(slot["n_prompt_tokens_processed"])
        except (KeyError, TypeError, ValueError):
            continue
        slots.append(Slot(read, written, written + max(0, left)))
    return slots


Report = Callable[[Sequence[Slot]], None]


async def follow(ports: Sequence[ChatPort], report: Report) -> None:
    """Polls the embedded model and reports its progress until the task is cancelled."""
    embedded = [cast("Any", port.model) for port in ports if port.endpoint == EMBEDDED]
    keys = {model.openai_api_base: model.openai_api_key.get_secret_value() for model in embedded}
    if not keys:
        return
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        while True:
            slots: list[Slot] = []
            for address, key in keys.items():
                auth = {"Authorization": f"Bearer {key}"}
                try:
                    answer = await client.get(f"{address.removesuffix('/v1')}/slots", headers=auth)
                    slots += slots_of(answer.json())
                except (httpx.HTTPError, ValueError):
                    continue
            report(slots)
            await asyncio.sleep(EVERY)


def line(slots: Sequence[Slot], waited: float) -> str:
    """Returns the progress in words, without a percentage: the length of an answer is unknown."""
    writing = [slot for slot in slots if slot.written]
    if writing:
        done, most = sum(slot.written for slot in writing), sum(slot.most for slot in writing)
        words = f"{text.count(done, 'token')} written, {most:,} at most"
    elif slots:
        words = f"{text.count(sum(slot.read for slot in slots), 'prompt token')} read"
    else:
        words = "waiting for the model"
    return f"{words}, {waited:.0f} s"
