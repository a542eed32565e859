"""Runs one search, from its start or from a checkpoint, and shows it on a screen."""

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
"""Usage that a rerun from stored answers does not spend again: it is carried over."""
GRACE = 5.0
"""Seconds that a stopped search waits for the running superstep to end (ours)."""


@dataclass(frozen=True)
class Ended:
    """How a search ended."""

    state: dict[str, Any]
    """The last state, with answers that came after the last checkpoint."""
    finished: bool
    """False when the search was stopped by the user."""
    unused: UnusedAnswers | None = None
    """Answers paid for under lower limits and not used; None unless the run was restarted."""


@dataclass(frozen=True)
class Session:
    """A run that is about to be searched.

    Args:
        run: The run's id: the thread of its checkpoints.
        config: The run's configuration.
        models: The generating model and, where it is another one, the judging model.
        runs: The folder of runs, which holds the checkpoints.
        paid: The answers that the run has paid for.
        screen: Where the search is shown.
        news: Events to show before the search begins.
        raised: New limits of a resumed run, by setting; with any, it restarts from `paid`.
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

        After a cancellation, requests in flight have `GRACE` seconds to finish, as they are paid
        for. Their answers are in the checkpoints at the end; a resumed run sends the rest again.
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
            before = await self._restart(graph, saver, thread)
            if not before:
                thread = await _before_failure(graph, thread)
            live = LiveState((await graph.aget_state(thread)).values)
            self.screen.open(live)
            self.screen.tell(self.news)
            progress = follow(self.models, partial(setattr, live, "slots"))
            displays = [asyncio.create_task(each) for each in (_draw(self.screen), progress)]
            control = RunControl()
            search = asyncio.create_task(self._stream(graph, thread, live, control, before))
            try:
                finished = await self._wait_or_stop(search, control)
            finally:
                for each in displays:
                    await _end(each)
                self.screen.close()
        unused = self.paid.unused() if before and finished else None
        return Ended(live.state, finished, unused)

    async def _restart(
        self, graph: Graph, saver: AsyncSqliteSaver, thread: RunnableConfig
    ) -> dict[str, float]:
        """Deletes the checkpoints of a run with raised limits: it restarts from the paid answers.

        Returns:
            The usage to carry over (`AGAIN`); empty if the run resumes where it stopped.
        """
        if not self.raised and not self.config.before:
            return {}
        spent = (await graph.aget_state(thread)).values.get("spent", {})
        for setting, allowed in self.raised.items():
            name = setting.removeprefix(LIMIT_PREFIX)
            if reached_limit(cast("Limits", {name: allowed}), spent):
                raise InputError(
                    f"run {self.run!r} has spent {allowed} {name} or more already; give it a "
                    f"higher limit on {name}"
                )
        before = {name: max(spent.get(name, 0), self.config.before.get(name, 0)) for name in AGAIN}
        config = replace(self.config, before=before)
        self.runs.update(self.run, config=config, why=KILLED, limit="")
        await saver.adelete_thread(self.run)
        self.paid.prompts.clear()
        return before

    async def _wait_or_stop(self, search: asyncio.Task[None], control: RunControl) -> bool:
        """Waits for the search, or stops it if this task is cancelled; returns whether it ended."""
        try:
            await asyncio.shield(search)
        except asyncio.CancelledError:
            _uncancel()
            control.request_drain("stopped by the user")
            notice = f"waiting up to {GRACE:.0f} s for pending answers"
            self.screen.tell([Event("stop", notice)])
            await asyncio.wait({search}, timeout=GRACE)
        if search.done() and not search.cancelled() and search.exception() is None:
            return True
        await _end(search)
        return False

    async def _stream(
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
            if not before or self.paid.asked_anew:  # reused answers were shown before
                self.screen.tell(events)


async def _before_failure(graph: Graph, thread: RunnableConfig) -> RunnableConfig:
    """Returns where a run resumes: before the superstep in which its model failed, if one did.

    LangGraph repeats that superstep on a new branch of checkpoints. Its successful requests are not
    sent again: `paid` has their answers, which count at their original cost.
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


def _uncancel() -> None:
    """Withdraws the cancellation of the current task, so that it can finish its work."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
