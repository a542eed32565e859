"""One search, from its start or from where it was stopped, shown while it runs."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

from thoughtgraph.building import Graph, build
from thoughtgraph.checkpoints import sqlite_saver
from thoughtgraph.cli.custom import task_of
from thoughtgraph.cli.run_config import RunConfig
from thoughtgraph.cli.runs import KILLED, Runs
from thoughtgraph.cli.screen.display import Screen
from thoughtgraph.cli.screen.events import Event
from thoughtgraph.cli.screen.live_state import STREAM, LiveState, channels
from thoughtgraph.cli.screen.progress import follow
from thoughtgraph.errors import InputError
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.store import PaidAnswers, UnusedAnswers
from thoughtgraph.settings import LIMIT_PREFIX
from thoughtgraph.usage import Limits, reached_limit

AGAIN = ("seconds", "retries")
"""Usage that a rerun from stored answers does not spend again."""
GRACE = 5.0
"""Seconds that a stopped search waits for the running superstep to end (ours)."""


@dataclass(frozen=True)
class Ended:
    """How a search ended."""

    state: dict[str, Any]
    """The last state, with what was answered after the last checkpoint."""
    finished: bool
    """False when the search was stopped by the user."""
    unused: UnusedAnswers | None = None
    """What was paid for under lower limits and not used; None where the run did not begin anew."""


@dataclass(frozen=True)
class Session:
    """A run that is about to be searched.

    Args:
        run: The run's id: the thread of its checkpoints.
        config: What is run.
        models: The generating model and, where it is another one, the judging model.
        runs: Where checkpoints are kept.
        paid: What the run has paid for.
        screen: Where the search is shown.
        news: What is told before it begins.
        raised: The limits it is given anew, by setting; empty: none, it goes on where it stopped.
    """

    run: str
    config: RunConfig
    models: Sequence[ChatPort]
    runs: Runs
    paid: PaidAnswers
    screen: Screen
    news: Sequence[Event] = ()
    raised: Mapping[str, Any] = field(default_factory=dict)

    async def search(self) -> Ended:
        """Searches until the end or until the task is cancelled, which Ctrl-C does.

        Requests in flight then have `GRACE` seconds to be answered: they are paid for. What was
        answered is in the checkpoints before this returns; the rest is sent again by a resumed run.
        """
        model, *judge = self.models
        async with sqlite_saver(self.runs.checkpoints(self.run)) as saver:
            graph = build(
                self.config.method,
                task=task_of(self.config.task),
                model=model,
                evaluator_model=judge[0] if judge else None,
                oracle=self.config.oracle,
                checkpointer=saver,
            )
            thread: RunnableConfig = {"configurable": {"thread_id": self.run}}
            before = await self._dropped(graph, saver, thread)
            if not before:
                thread = await _before_failure(graph, thread)
            live = LiveState((await graph.aget_state(thread)).values)
            self.screen.open(live)
            self.screen.tell(self.news)
            follows = follow(self.models, partial(setattr, live, "slots"))
            shows = [asyncio.create_task(each) for each in (_draw(self.screen), follows)]
            control = RunControl()
            search = asyncio.create_task(self._follow(graph, thread, live, control, before))
            try:
                finished = await self._stopping(search, control)
            finally:
                for each in shows:
                    await _end(each)
                self.screen.close()
        unused = self.paid.unused() if before and finished else None
        return Ended(live.state, finished, unused)

    async def _dropped(
        self, graph: Graph, saver: AsyncSqliteSaver, thread: RunnableConfig
    ) -> dict[str, float]:
        """Drops what the run did under lower limits; it begins anew, and `paid` knows its answers.

        Returns:
            What of its usage cannot be asked for again; nothing when it goes on where it stopped.
        """
        if not self.raised and not self.config.before:
            return {}
        used = (await graph.aget_state(thread)).values.get("spent", {})
        for setting, allowed in self.raised.items():
            name = setting.removeprefix(LIMIT_PREFIX)
            if reached_limit(cast("Limits", {name: allowed}), used):
                raise InputError(
                    f"run {self.run!r} has spent {allowed} {name} or more already; give it a "
                    f"higher limit on {name}"
                )
        before = {name: max(used.get(name, 0), self.config.before.get(name, 0)) for name in AGAIN}
        config = replace(self.config, before=before)
        self.runs.update(self.run, config=config, why=KILLED, limit="")
        await saver.adelete_thread(self.run)
        self.paid.prompts.clear()
        return before

    async def _stopping(self, search: asyncio.Task[None], control: RunControl) -> bool:
        """Awaits the search's end, or stops it when this task is cancelled."""
        try:
            await asyncio.shield(search)
        except asyncio.CancelledError:
            _carry_on()
            control.request_drain("stopped by the user")
            waits = f"waiting up to {GRACE:.0f} s for pending answers"
            self.screen.tell([Event("stop", waits)])
            await asyncio.wait({search}, timeout=GRACE)
        if search.done() and not search.cancelled() and search.exception() is None:
            return True
        await _end(search)
        return False

    async def _follow(
        self,
        graph: Graph,
        thread: RunnableConfig,
        live: LiveState,
        control: RunControl,
        before: dict[str, float],
    ) -> None:
        stream = partial(
            graph.astream,
            config=thread,
            context={"on_error": "report", **self.config.settings},
            stream_mode=list(STREAM),
            output_keys=channels(graph.builder.state_schema),
            durability="async",
            control=control,
        )
        start = None if live.state else {"problem": self.config.problem}
        if before:
            self.screen.tell([Event("resume", "earlier answers are reused")])
            async for mode, data in stream(start, interrupt_after=["start"]):
                live.apply(mode, data)
            await graph.aupdate_state(thread, {"spent": before}, as_node="start")
            start = None
        async for mode, data in stream(start):
            events = live.apply(mode, data)
            if not before or self.paid.asked_anew:  # the rest was told before
                self.screen.tell(events)


async def _before_failure(graph: Graph, thread: RunnableConfig) -> RunnableConfig:
    """Returns where a run goes on: before the step in which its model failed, if it ended so.

    LangGraph repeats that step on a branch of its own. What came beside the failed requests is not
    asked again: `paid` knows it, and it counts as when it was asked.
    """
    if (await graph.aget_state(thread)).values.get("stop_reason") == "error":
        async for past in graph.aget_state_history(thread):
            if not past.values.get("stop_reason"):
                return past.config
    return thread


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
