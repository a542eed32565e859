"""One search, from its start or from where it was stopped, shown while it runs."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

from thoughtgraph.building import Graph, build
from thoughtgraph.checkpoints import Checkpoints
from thoughtgraph.cli.custom import task_of
from thoughtgraph.cli.events import Event
from thoughtgraph.cli.plan import Plan
from thoughtgraph.cli.progress import follow
from thoughtgraph.cli.rewind import rewind
from thoughtgraph.cli.runs import Runs
from thoughtgraph.cli.screen import Screen
from thoughtgraph.cli.watch import STREAM, Watch
from thoughtgraph.model import ChatPort

GRACE = 5.0
"""Seconds that a stopped search waits for the running superstep to end (ours)."""


@dataclass(frozen=True)
class Ended:
    """How a search ended."""

    state: dict[str, Any]
    """The last state, with what was answered after the last checkpoint."""
    finished: bool
    """False when the search was stopped by the user."""


@dataclass(frozen=True)
class Session:
    """A run that is about to be searched.

    Args:
        run: The run's id: the thread of its checkpoints.
        plan: What is run.
        model: The generating model.
        evaluator: The judging model; None: the same.
        runs: Where checkpoints are kept.
        news: What is told before the search begins.
    """

    run: str
    plan: Plan
    model: ChatPort
    evaluator: ChatPort | None
    runs: Runs
    news: Sequence[Event] = ()

    async def search(self, screen: Screen) -> Ended:
        """Searches until the end or until the task is cancelled, which Ctrl-C does.

        Requests in flight then have `GRACE` seconds to be answered: they are paid for. What was
        answered is in the checkpoints before this returns; the rest is sent again by a resumed run.
        """
        async with Checkpoints.from_conn_string(str(self.runs.path)) as saver:
            graph = build(
                self.plan.method,
                task=task_of(self.plan.task),
                model=self.model,
                evaluator_model=self.evaluator,
                oracle=self.plan.oracle,
                checkpointer=saver,
            )
            config: RunnableConfig = {"configurable": {"thread_id": self.run}}
            await rewind(graph, saver, config)
            watch = Watch(graph.builder.state_schema, (await graph.aget_state(config)).values)
            screen.open(watch)
            screen.tell(self.news)
            models = [port for port in (self.model, self.evaluator) if port is not None]
            works = follow(models, partial(setattr, watch, "works"))
            shows = [asyncio.create_task(each) for each in (_draw(screen), works)]
            try:
                finished = await self._stopping(graph, config, watch, screen)
            finally:
                for each in shows:
                    await _end(each)
                screen.close()
            if finished and watch.state.get("stop_reason") != "error":
                await saver.adelete_thread(self.run)
        return Ended(watch.state, finished)

    async def _stopping(
        self, graph: Graph, config: RunnableConfig, watch: Watch, screen: Screen
    ) -> bool:
        """Follows the search to its end, or to a stop when this task is cancelled."""
        control = RunControl()
        search = asyncio.create_task(self._follow(graph, config, watch, screen, control))
        try:
            await asyncio.shield(search)
        except asyncio.CancelledError:
            _carry_on()
            control.request_drain("stopped by the user")
            screen.tell([Event("stop", f"waiting up to {GRACE:.0f} s for answers on their way")])
            await asyncio.wait({search}, timeout=GRACE)
        if search.done() and not search.cancelled() and search.exception() is None:
            return True
        await _end(search)
        return False

    async def _follow(
        self,
        graph: Graph,
        config: RunnableConfig,
        watch: Watch,
        screen: Screen,
        control: RunControl,
    ) -> None:
        stream = graph.astream(
            None if watch.state else {"problem": self.plan.problem},
            config,
            context=self.plan.settings,
            stream_mode=list(STREAM),
            durability="async",
            control=control,
        )
        async for mode, data in stream:
            screen.tell(watch.apply(mode, data))


async def _end(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, GraphDrained):
        await task


async def _draw(screen: Screen) -> None:
    while True:
        await asyncio.sleep(screen.refresh())


def _carry_on() -> None:
    """Lets the cancelled task finish its work."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
