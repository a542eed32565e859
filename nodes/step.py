"""One run of a node: its concurrent requests, their cost, and the state update of the node.

A node makes a list of requests from the state, awaits all answers, and returns one update. Each
request is a LangGraph task, so a node that runs again sends only the requests without an answer.
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
"""The event that reports why a request is retried."""
LONGEST_PROMPT = 400_000
"""Most characters of a prompt on a server (ours): more than any method makes of an input."""


class Step:
    """One run of a node: makes its calls, counts what they spend and builds its state update.

    Args:
        run: The objects of the graph.
        state: The state that the node received.
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
        self._cut_short = False

    def task(self, kind: type[T]) -> T:
        """Returns the task as an object with a capability; see `Run.task_for`."""
        return self.run.task_for(self.state["settings"], kind)

    def at(self, key: str) -> tuple[str, list[Thought], dict[str, Any]]:
        """Returns a task's arguments for a thought: the problem, the path to it, the settings."""
        state = self.state
        return state["problem"], path_to(state["thoughts"], key), state["settings"]

    async def ask(self, asks: Sequence[Ask[T]], *, last: bool = False) -> list[Answer[T]]:
        """Sends requests concurrently, as many as the limits allow.

        A node calls this once, with a list that depends on the state alone: LangGraph identifies
        the tasks of a node by their order. Requests that depend on an answer are for the next node.

        Args:
            asks: The requests.
            last: Whether to send them although the search has ended.

        Returns:
            The answers, in the order of the requests. A request that a limit or a failing endpoint
            forbade has none.

        Raises:
            InputError: A prompt is too long for a server.
        """
        stopped = self.state.get("stop_reason") and not last
        sent = [] if stopped else asks[: requests_left(self.state)]
        calls = []
        for ask in sent:
            if self.run.policy is not None:
                _check_length(ask.question.prompt)
            payload = {"id": ask.about, "role": ask.role, "expansion": ask.expansion}
            request = partial(self._completions, ask)
            calls.append(Call(MODEL, ask.name, payload, request, required=not ask.ahead))
        answers = []
        for ask, result in zip(sent, await self.call(calls), strict=True):
            if result is None or (ask.ahead and result["error"]):
                continue  # a speculative request that failed is sent again when due
            reading = await reading_of(ask.question, result["texts"])
            if malformed := getattr(reading, "malformed", 0):
                self.count(parse_errors={ask.role: malformed})
            roles: Any = result["usage"].get("roles", {})
            answers.append(Answer(ask, result["texts"], reading, dict(roles)))
        return answers

    async def ask_one(self, ask: Ask[T], *, last: bool = False) -> Answer[T] | None:
        """Sends one request; returns None if a limit or a failing endpoint forbids it."""
        return next(iter(await self.ask([ask], last=last)), None)

    def count(self, **counts: Any) -> None:
        """Adds to further counters of the node, such as `thoughts=3`; zeros add no counter."""
        nonzero = {name: number for name, number in counts.items() if number}
        self._counts = add_counts(self._counts, nonzero)

    def update(self, **more: Any) -> dict[str, Any]:
        """Returns the node's state update.

        Args:
            more: Further keys of the update; a failure overrides its stop reason.
        """
        spent = self._counts | self._time()
        failure = {"error": self._error, "stop_reason": "error"} if self._error else {}
        return {**({"spent": spent} if spent else {}), **more, **failure}

    async def call(self, calls: Sequence[Call]) -> list[Kept | None]:
        """Makes calls concurrently, each a task whose result is stored as it arrives.

        Returns:
            The results in order; None for a call that a limit or a failing endpoint forbade.
        """
        with shared(self.run, self._running.checkpoint_id) as ledger:
            try:
                results = await self._make_all(calls, ledger)
            finally:
                ledger.asking -= 1
            ledger.counts.append(self._counts)
            if self._cut_short and raises(self.state):
                self._error = self._error or ledger.error  # from a sibling
            if self._error and raises(self.state):
                await ledger.settled()
                # A raise writes nothing, so its error reports what the sibling nodes spent, too.
                self._counts = reduce(add_counts, ledger.counts, {})
        return results

    async def _make_all(self, calls: Sequence[Call], ledger: Ledger) -> list[Kept | None]:
        """Makes calls as LangGraph tasks, which store each result, or awaits them directly.

        It awaits them if the run has no thread, if there is only one (the node's own write records
        it), or if `max_concurrency` leaves no slot beyond those of the running nodes: each node
        would hold a slot while its tasks wait for one.
        """
        slots = self._config.get("max_concurrency")
        as_tasks = self._running.thread_id is not None and len(calls) > 1
        as_tasks = as_tasks and not (slots and slots <= self.run.method.abreast)
        if slots and not as_tasks:
            ledger.gate = ledger.gate or asyncio.Semaphore(slots)
        results = await asyncio.gather(*(self._result(call, ledger, as_tasks) for call in calls))
        # Before a crash the node may have made other calls, such as under a lower limit. A result
        # that is stored for another call is not used.
        stale = [at for at, each in enumerate(results) if each and each["name"] != calls[at].name]
        repeated = await self._make_all([calls[at] for at in stale], ledger) if stale else []
        for at, each in zip(stale, repeated, strict=True):
            results[at] = each
        return results

    async def _result(self, call: Call, ledger: Ledger, task: bool) -> Kept | None:
        """Makes one call, or takes its result from before a crash, and counts what it spent."""
        meter, fresh = self._meter(ledger, call), list[bool]()
        payload = {**call.told, "node": self._config["metadata"]["langgraph_node"]}

        async def work() -> Kept:
            fresh.append(True)
            self._write({"event": "asked", **payload})
            result = await call.make(meter)
            self._write({"event": "answered", **payload})
            usage, error = meter.usage(), meter.error
            return cast("Kept", {**result, "name": call.name, "usage": usage, "error": error})

        try:
            if task:
                outcome: Kept = await durable(name=call.kind)(work)()  # type: ignore[arg-type]
            else:
                outcome = await (_gated(ledger.gate, work) if ledger.gate else work())
        except (BudgetSpent, ModelError) as error:
            self._cut_short |= bool(ledger.error)
            reason = meter.error or (str(error) if isinstance(error, ModelError) else "")
            self._spend(ledger, meter.usage(), reason if call.required else "", fresh=True)
            return None
        if outcome["name"] != call.name:
            return outcome
        if not fresh and outcome["error"] and call.required and raises(self.state):
            self._spend(ledger, outcome["usage"], "", fresh=False)
            return {**outcome, "name": ""}  # no call has this name: `_all` repeats the call
        failure = outcome["error"] if call.required else ""
        self._spend(ledger, outcome["usage"], failure, fresh=bool(fresh))
        if not fresh:  # what it spent counts towards this superstep's limits
            spent: Mapping[str, Any] = outcome["usage"]
            for name in SHARED:
                ledger.spent[name] += spent.get(name, 0)
        return outcome

    async def _completions(self, ask: Ask[Any], meter: Meter) -> dict[str, Any]:
        """Sends a request, and sends it once more if `ask.enough` rejects the reading."""
        run, state, prompt = self.run, self.state, ask.question.prompt
        if paid_answers := PAID.get():
            sent = SentPrompt(role=ask.role, expansion=ask.expansion, text=as_text(prompt))
            paid_answers.note(ask.about, sent)
        settings = run.settings.of(state["settings"])
        port = await run.port_for(state["settings"], judging=ask.judges)
        if port.name not in self._prices:  # the run was resumed with another model
            self._prices |= prices_of([port], settings.prices)
        run_id, metadata = self._running.run_id, labels(run, state, ask.about)
        request = partial(
            port.sample,
            prompt.messages(),
            n=ask.sent,
            role=ask.role,
            stop=prompt.stop,
            meter=meter,
            scope="shared" if settings.share_evaluations else state["run"],
            parameters=settings.parameters(judging=ask.judges),
            labels=metadata if run_id is None else {**metadata, "run_id": run_id},
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
        """Returns the waiting time of the node: in this run and before a crash, without the gap."""
        current, earlier = (span(self._waits[fresh]) for fresh in (True, False))
        if not current or not earlier:
            return {"mark": current or earlier} if current or earlier else {}
        begin = max(earlier["begin"], self.state["spent"].get("mark", {}).get("until", 0.0))
        return {"mark": current, "seconds": max(0.0, earlier["until"] - begin)}

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
    """Returns whether a failing model makes the run raise; otherwise the result reports it."""
    chosen = Settings.of(state["settings"]).on_error
    return chosen == "raise" or (chosen is None and not state.get("messages"))


def _check_length(prompt: Prompt) -> None:
    """Refuses prompts longer than any search makes: clients of a server can edit their threads.

    Raises:
        InputError: The prompt is too long.
    """
    length = sum(len(message.text) for message in prompt.messages())
    if length > LONGEST_PROMPT:
        raise InputError(f"a prompt of {length} characters is too long for this server; start anew")


async def _gated(gate: asyncio.Semaphore, work: Callable[[], Awaitable[Kept]]) -> Kept:
    async with gate:
        return await work()
