"""Single flight: of identical requests at the same time one is sent, and the others wait for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.answer_cache import Answer
from thoughtgraph.llm.meter import Meter

Flight = asyncio.Future[Answer]
"""One request on its way: its answer or its failure, shared by all who asked for it."""


class SingleFlight:
    """The requests that are on their way, by key, in each event loop."""

    def __init__(self) -> None:
        self._open: dict[tuple[asyncio.AbstractEventLoop, str], Flight] = {}

    @asynccontextmanager
    async def join(self, key: str, meter: Meter) -> AsyncIterator[Flight]:
        """Joins the request of a key: waits for it, or lets the caller send it.

        Args:
            key: Names the request.
            meter: Watches the caller while he waits.

        Yields:
            The flight. Done, it holds what somebody else was answered; else the caller sends the
            request and sets its result. What he fails with, those who wait fail with too; where he
            is stopped or out of budget, one of them sends it.
        """
        here = asyncio.get_running_loop(), key
        while (flight := self._open.get(here)) is not None:
            meter.wait()
            async with meter.in_time():
                await asyncio.wait([flight])
            if not flight.cancelled():
                yield flight
                return
        flight = self._open[here] = here[0].create_future()
        try:
            yield flight
        except ModelError as error:
            flight.set_exception(error)
            flight.exception()  # nobody may be waiting for it
            raise
        finally:
            flight.cancel()
            del self._open[here]
