"""How far the model is with what was asked: a bar for the time between two events.

The embedded model tells how much of a prompt it has read and how much it has written. Of any other
endpoint nothing is known but the time that has passed, and nothing else is shown.
"""

import asyncio
from collections.abc import Callable, Sequence

import httpx

from thoughtgraph.cli import text
from thoughtgraph.llm.endpoints import EMBEDDED
from thoughtgraph.llm.local import Work, works_of
from thoughtgraph.llm.port import ChatPort

EVERY = 0.5
"""Seconds between two questions to the server (ours)."""
PATIENCE = 5.0
"""Seconds that one of them may take (ours): the server decodes a batch first."""
WIDTH = 24
"""Cells of the bar (ours)."""
CELLS_A_SECOND = 2
SLIDE = 6
"""Cells of the block that slides along it (ours)."""

Report = Callable[[Sequence[Work]], None]


async def follow(ports: Sequence[ChatPort], report: Report) -> None:
    """Reports what the embedded model works on, again and again, until it is cancelled.

    Args:
        ports: The models of a search; those that are not embedded are not asked.
        report: Takes what is being worked on; nothing when the server cannot be asked just now.
    """
    embedded = [port.model for port in ports if port.endpoint == EMBEDDED]
    addresses = {str(getattr(model, "openai_api_base", "")) for model in embedded}
    if not addresses:
        return
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        while True:
            found: list[Work] = []
            for address in addresses:
                try:
                    answer = await client.get(f"{address.removesuffix('/v1')}/slots")
                    found += works_of(answer.json())
                except (httpx.HTTPError, ValueError):
                    continue
            report(found)
            await asyncio.sleep(EVERY)


def line(works: Sequence[Work], waited: float, *, fancy: bool = True) -> str:
    """Returns the bar and what it says.

    Args:
        works: What the model is known to work on; empty: nothing is known.
        waited: Seconds since something last happened.
        fancy: Whether the terminal shows more than ASCII.
    """
    writing = [work for work in works if work.written]
    if writing:
        done, most = sum(work.written for work in writing), sum(work.most for work in writing)
        words = f"{text.count(done, 'token')} written, {most:,} at most"
    elif works:
        words = f"{text.count(sum(work.read for work in works), 'prompt token')} read"
    else:
        words = "waiting for the model"
    return f"{_sliding(waited, fancy)} {words}, {waited:.0f} s"


def _sliding(waited: float, fancy: bool) -> str:
    """Returns a block that goes to and fro, as nobody knows when an answer ends."""
    room = WIDTH - SLIDE
    gone = int(CELLS_A_SECOND * waited) % (2 * room)
    at = min(gone, 2 * room - gone)
    full, empty = ("━", "─") if fancy else ("#", "-")
    return empty * at + full * SLIDE + empty * (room - at)
