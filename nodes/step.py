"""One run of a node: what it asks side by side, what that costs, and how the node ends.

A node makes a list of questions out of the state, awaits the answers together, and returns one
update. Each answer is a LangGraph task: a node that runs again asks only for what is missing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, TypeVar, cast

from langgraph.config import get_config, get_stream_writer
from langgraph.func import task as durable
from langgraph.runtime import get_runtime

from thoughtgraph.errors import BudgetSpent, InputError, ModelError
from thoughtgraph.llm.exchange import Draw
from thoughtgraph.llm.meter import SHARED, Meter
from thoughtgraph.llm.prices import prices_of
from thoughtgraph.llm.store import PAID, SentPrompt
from thoughtgraph.nodes.calls import (
    MODEL,
    Answer,
    Ask,
    Call,
    Kept,
    Ledger,
    as_text,
    labels,
    reading_of,
    shared,
    span,
)
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.run import Run
from thoughtgraph.settings import Settings
from thoughtgraph.state import SearchState
from thoughtgraph.task import Prompt
from thoughtgraph.tree import Thought, path_to
from thoughtgraph.usage import Usage, add_counts

T = TypeVar("T")

RETRY = "retry"
"""The event that says why a request is repeated."""
LONGEST_PROMPT = 400_000
"""Characters of a prompt that a server sends (ours): more than any method makes of an input."""


class Step:
    """What one run of a node asks and spends.

    Args:
        run: The objects of the graph.
        state: What the node was given.
    """

    def __init__(self, run: Run, state: SearchState) -> None:
        self.run, self.state = run, state
        self._write = get_stream_writer()
        self._config = get_config()
        running = get_runtime().execution_info
        assert running is not None, "a step is one of a running graph"
        self._running = running
        self._counts: dict[str, Any] = {}
        self._prices = dict(state["prices"])
        self._waits: dict[bool, list[Mapping[str, float]]] = {True: [], False: []}
        self._error = ""
        self._refused = False

    def task(self, kind: type[T]) -> T:
        """Returns the task, as something that has a capability; see `Run.task_for`."""
        return self.run.task_for(self.state["settings"], kind)

    def at(self, key: str) -> tuple[str, list[Thought], dict[str, Any]]:
        """Returns what a task is told of a thought: the problem, the path to it, the settings."""
        state = self.state
        return state["problem"], path_to(state["thoughts"], key), state["settings"]

    async def ask(self, asks: Sequence[Ask[T]], *, last: bool = False) -> list[Answer[T]]:
        """Asks side by side, as many as the limits allow.

        A node calls it once, with a list that depends on the state alone: LangGraph knows the tasks
        of a node by their order. What depends on an answer is the next node's to ask.

        Args:
            asks: The questions.
            last: Whether they are asked although the search has ended.

        Returns:
            The answers, in the order of the questions, without those that a limit or a failing
            endpoint forbade.

        Raises:
            InputError: A prompt is too long for a server.
        """
        over = self.state.get("stop_reason") and not last
        sent = [] if over else asks[: requests_left(self.state)]
        calls = []
        for ask in sent:
            if self.run.policy is not None:
                _check_length(ask.question.prompt)
            told = {"id": ask.about, "role": ask.role, "expansion": ask.expansion}
            request = partial(self._completions, ask)
            calls.append(Call(MODEL, ask.name, told, request, required=not ask.ahead))
        answers = []
        for ask, kept in zip(sent, await self.call(calls), strict=True):
            if kept is None or (ask.ahead and kept["error"]):
                continue  # what could not be kept ahead of need is asked again
            reading = await reading_of(ask.question, kept["texts"])
            if lost := getattr(reading, "malformed", 0):
                self.count(parse_errors={ask.role: lost})
            roles: Any = kept["usage"].get("roles", {})
            answers.append(Answer(ask, kept["texts"], reading, dict(roles)))
        return answers

    async def ask_one(self, ask: Ask[T], *, last: bool = False) -> Answer[T] | None:
        """Asks one question; returns None where a limit or a failing endpoint forbids it."""
        return next(iter(await self.ask([ask], last=last)), None)

    def count(self, **counts: Any) -> None:
        """Counts what the node did besides, such as `thoughts=3`; nothing is counted by 0."""
        told = {name: number for name, number in counts.items() if number}
        self._counts = add_counts(self._counts, told)

    def update(self, **more: Any) -> dict[str, Any]:
        """Returns the node's state update.

        Args:
            more: What the node writes besides what it spent and how it failed.
        """
        usage = self._counts | self._time()
        failure = {"error": self._error, "stop_reason": "error"} if self._error else {}
        return {**({"spent": usage} if usage else {}), **more, **failure}

    async def call(self, calls: Sequence[Call]) -> list[Kept | None]:
        """Makes calls side by side, each a task whose result is stored as it arrives.

        Returns:
            Their results; None for one that a limit or a failing endpoint forbade.
        """
        with shared(self.run, self._running.checkpoint_id) as ledger:
            try:
                results = await self._all(calls, ledger)
            finally:
                ledger.asking -= 1
            ledger.counts.append(self._counts)
            if self._refused and raises(self.state):
                self._error = self._error or ledger.error  # it is not done
            if self._error and raises(self.state):
                await ledger.settled()
                # Not written, but told by the error: what the nodes beside it have spent.
                self._counts = reduce(add_counts, ledger.counts, {})
        return results

    async def _all(self, calls: Sequence[Call], ledger: Ledger) -> list[Kept | None]:
        """Makes calls as tasks, or as what they are.

        The latter where nothing is stored, for a single call, which the node's own write records,
        and where LangGraph has no more places than there are nodes: a node holds one while its
        tasks wait for one, and all would wait for ever.
        """
        places = self._config.get("max_concurrency")
        tasks = self._running.thread_id is not None and len(calls) > 1
        tasks = tasks and not (places and places <= self.run.method.abreast)
        if places and not tasks:
            ledger.gate = ledger.gate or asyncio.Semaphore(places)
        results = await asyncio.gather(*(self._result(call, ledger, tasks) for call in calls))
        # Before a crash the node may have gone another way, such as under a lower limit: what was
        # answered to another call is not taken.
        others = [at for at, kept in enumerate(results) if kept and kept["name"] != calls[at].name]
        again = await self._all([calls[at] for at in others], ledger) if others else []
        for at, kept in zip(others, again, strict=True):
            results[at] = kept
        return results

    async def _result(self, call: Call, ledger: Ledger, task: bool) -> Kept | None:
        """Makes one call, or takes its result from before a crash, and counts what it came to."""
        meter, fresh = self._meter(ledger, call), list[bool]()
        told = {**call.told, "node": self._config["metadata"]["langgraph_node"]}

        async def work() -> Kept:
            fresh.append(True)
            self._write({"event": "asked", **told})
            made = await call.make(meter)
            self._write({"event": "answered", **told})
            usage, error = meter.usage(), meter.error
            return cast("Kept", {**made, "name": call.name, "usage": usage, "error": error})

        try:
            if task:
                kept: Kept = await durable(name=call.kind)(work)()  # type: ignore[arg-type]
            else:
                kept = await (_gated(ledger.gate, work) if ledger.gate else work())
        except (BudgetSpent, ModelError) as error:
            self._refused |= bool(ledger.error)
            why = meter.error or (str(error) if isinstance(error, ModelError) else "")
            self._spend(ledger, meter.usage(), why if call.required else "", fresh=True)
            return None
        if kept["name"] != call.name:
            return kept
        if not fresh and kept["error"] and call.required and raises(self.state):
            self._spend(ledger, kept["usage"], "", fresh=False)
            return {**kept, "name": ""}  # the run goes on: it asks for what failed
        failure = kept["error"] if call.required else ""
        self._spend(ledger, kept["usage"], failure, fresh=bool(fresh))
        if not fresh:  # it counts beside those that are made now
            spent: Mapping[str, Any] = kept["usage"]
            for name in SHARED:
                ledger.spent[name] += spent.get(name, 0)
        return kept

    async def _completions(self, ask: Ask[Any], meter: Meter) -> dict[str, Any]:
        """Sends the request of a question; once more where nothing can be made of the answer."""
        run, state, prompt = self.run, self.state, ask.question.prompt
        if paid := PAID.get():
            sent = SentPrompt(role=ask.role, expansion=ask.expansion, text=as_text(prompt))
            paid.note(ask.about, sent)
        settings = run.settings.of(state["settings"])
        port = await run.port_for(state["settings"], judging=ask.judges)
        if port.name not in self._prices:  # the run is resumed with another model
            self._prices |= prices_of([port], settings.prices)
        run_id, whose = self._running.run_id, labels(run, state, ask.about)
        request = partial(
            port.sample,
            prompt.messages(),
            n=ask.sent,
            role=ask.role,
            stop=prompt.stop,
            meter=meter,
            scope="shared" if settings.share_evaluations else state["run"],
            parameters=settings.parameters(judging=ask.judges),
            labels=whose if run_id is None else {**whose, "run_id": run_id},
            grammar=prompt.grammar,
        )
        times = ask.expansion
        draw = None if times is None else Draw(state["problem"], ask.about, times)
        texts = await request(draw=draw)
        if draw and ask.enough and not ask.enough(ask.question.read(texts)):
            meter.parse_error(ask.role)
            try:
                texts = await request(draw=draw._replace(first=ask.sent)) or texts
            except BudgetSpent:
                pass  # the first answer stands
            except ModelError as error:
                meter.fail(str(error))
        return {"texts": texts}

    def _time(self) -> dict[str, Any]:
        """Returns how long the node waited: now, and before a crash, but not in between."""
        now, before = (span(self._waits[fresh]) for fresh in (True, False))
        if not now or not before:
            return {"mark": now or before} if now or before else {}
        begin = max(before["begin"], self.state["spent"].get("mark", {}).get("until", 0.0))
        return {"mark": now, "seconds": max(0.0, before["until"] - begin)}

    def _spend(self, ledger: Ledger, usage: Usage, error: str, *, fresh: bool) -> None:
        counts: dict[str, Any] = dict(usage)
        if mark := counts.pop("mark", None):
            self._waits[fresh].append(mark)
        self._counts = add_counts(self._counts, counts)
        self._error = self._error or error
        ledger.error = ledger.error or error

    def _meter(self, ledger: Ledger, call: Call) -> Meter:
        return Meter(
            Settings.of(self.state["settings"]).limits,
            self.state["spent"],
            prices=self._prices,
            step=int(self._config["metadata"]["langgraph_step"]),
            siblings=ledger.spent,
            required=call.required,
            tell=lambda cause: self._write({"event": RETRY, "reason": cause}),
        )


def raises(state: Mapping[str, Any]) -> bool:
    """Returns whether a run fails by a model that fails; else its result says so."""
    chosen = Settings.of(state["settings"]).on_error
    return chosen == "raise" or (chosen is None and not state.get("messages"))


def _check_length(prompt: Prompt) -> None:
    """Refuses prompts that no search makes: clients of a server may write to their threads.

    Raises:
        InputError: It is too long.
    """
    length = sum(len(message.text) for message in prompt.messages())
    if length > LONGEST_PROMPT:
        raise InputError(f"a prompt of {length} characters is too long for this server; start anew")


async def _gated(gate: asyncio.Semaphore, work: Callable[[], Awaitable[Kept]]) -> Kept:
    async with gate:
        return await work()
