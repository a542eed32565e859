"""What the nodes of one superstep share while they run."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from thoughtgraph.run import Run

SETTLING = 0.01
"""Seconds between looks at whether the nodes beside one that failed have ended (ours)."""


@dataclass
class Ledger:
    """What the nodes of one superstep share while they run: a limit holds for all of them."""

    spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """What they have spent in it, by the counters that limits speak of."""
    error: str = ""
    """Why a request that was needed failed for good, in one line."""
    counts: list[dict[str, Any]] = field(default_factory=list)
    """What each of them has counted, once its requests are answered."""
    users: int = 0
    asking: int = 0
    """Nodes whose requests are on their way."""
    gate: asyncio.Semaphore | None = None
    """Bounds their requests where these are no tasks."""

    async def settled(self) -> None:
        """Waits until nothing of the superstep is on its way.

        LangGraph cancels the nodes beside one that raises, and what they have paid for goes along.
        """
        while self.asking:
            await asyncio.sleep(SETTLING)


@contextmanager
def shared(run: Run, superstep: str) -> Iterator[Ledger]:
    """Yields the ledger of a superstep, which lives for as long as a node uses it.

    Args:
        run: The objects of the graph.
        superstep: Id of the checkpoint that it goes out from: its nodes have the same.
    """
    ledger: Ledger = run.ledgers.setdefault(superstep, Ledger())
    ledger.users += 1
    ledger.asking += 1
    try:
        yield ledger
    finally:
        ledger.users -= 1
        if not ledger.users:  # after a failure the same superstep begins again
            del run.ledgers[superstep]
