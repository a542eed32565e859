"""What Thought Rollback waits for in parallel growth, and what `stop_settled` saves.

The critical path is the longest chain of requests whose prompt contains an earlier answer, read off
the scripted model's own log; a search cannot be faster. Under `two_call` a rollback's branch also
waits for the reading of its analysis, which its prompt does not show: the second figure counts that
too, and the third is what it alone adds, which depends on no clock. Strictly sequential growth is
timed beside. Searches of few requests say nothing of growth: seeds whose search makes fewer than 30
are passed over.

For the stop each search runs twice, to its end and with the stop, for every ensemble and both
orders of growth, with the published limits (K 8, U 3). `first` stops by itself; a search to the end
has the answer of every ensemble. The answers must be the same.
"""

import random
import statistics
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, NamedTuple, get_args

import thoughtgraph as tg
from thoughtgraph.bench.speed.critical_path import (
    Exchange,
    critical_path,
    drawing,
    exchanges,
    new_name,
)
from thoughtgraph.bench.speed.measurement import Conditions, Figure, Measurement, Readings
from thoughtgraph.llm.scripted import Call, ScriptedChat
from thoughtgraph.settings.rollback import Ensemble

QUESTION = "How many apples are left?"
FEWEST = 30
"""Requests below which a search is passed over."""
PROTOCOLS = ("two_call", "single_call")
FIGURES = (
    "times the path",
    "times the path with decisions",
    "decisions alone, times the path",
    "one at a time, times parallel",
)
ORDERS = {"parallel": True, "one at a time": False}
RULES: tuple[str, ...] = get_args(Ensemble)

Answer = Callable[[random.Random, Call], str]


class Measured(NamedTuple):
    """One search."""

    seconds: float
    levels: int
    """How many times it waited for requests, those of a round together."""
    log: list[Exchange]

    def path(self, *, decisions: bool = False) -> float:
        """Returns its critical path in seconds, with or without waits for unseen decisions."""
        return critical_path(self.log, partial(was_read, self.log) if decisions else None)


def reply(draws: random.Random, call: Call) -> str:
    """Returns what the model answers: a step, a solution, or which steps are bad."""
    name = new_name(draws)
    if call.role == "extract_index" or "Bad step index" in call.prompt:
        name = f"{name}. Bad step index: {'1, 2' if draws.random() < 0.2 else 'None'}"
    elif call.role == "generate" and draws.random() < 0.15:
        name = f"{name}. The final solution is {draws.randrange(3)}"
    return name


def was_read(log: list[Exchange], reading: Exchange, later: Exchange) -> bool:
    """Returns whether a request shows an analysis that an earlier one read the indexes of.

    Under `two_call` it then waits for that reading: whether and where to go back is known only
    then.
    """
    if reading.role != "extract_index" or later.role != "generate":
        return False
    analyses = [text for call in log if call.role == "analyse" for text in call.answers]
    return any(text in reading.prompt and text in later.prompt for text in analyses)


async def _search(model: ScriptedChat, **context: Any) -> dict[str, Any]:
    graph = tg.build("rollback", task="gsm8k", model=model)
    return dict(await graph.ainvoke({"problem": QUESTION}, context=context))


async def searched(
    seed: int,
    latency: float,
    *,
    parallel: bool,
    protocol: str = "two_call",
    answer: Answer = reply,
) -> Measured:
    """Returns what a search took, and its model's log."""
    model = ScriptedChat(reply=drawing(seed, answer), delay=latency)
    began = time.perf_counter()
    out = await _search(model, parallel=parallel, protocol=protocol)
    spent = time.perf_counter() - began
    return Measured(spent, out["usage"]["levels"], exchanges(model, latency))


async def large(searches: int, protocol: str) -> AsyncIterator[int]:
    """Yields the first seeds whose search makes requests enough."""
    seed = 0
    while searches:
        tried = await searched(seed, 0.0, parallel=True, protocol=protocol)
        if len(tried.log) >= FEWEST:
            searches -= 1
            yield seed
        seed += 1


async def waited(under: Conditions) -> Readings:
    """Returns the medians over searches, and the longest time in critical paths."""
    readings: dict[str, float] = {}
    for protocol in PROTOCOLS:
        rows: list[tuple[float, ...]] = []
        async for seed in large(under.count, protocol):
            many = await searched(seed, under.latency, parallel=True, protocol=protocol)
            one = await searched(seed, under.latency, parallel=False, protocol=protocol)
            path, decisions = many.path(), many.path(decisions=True)
            ratios = (many.seconds / path, many.seconds / decisions, decisions / path)
            rows.append((*ratios, one.seconds / many.seconds))
        for figure, column in zip(FIGURES, zip(*rows, strict=True), strict=True):
            readings[f"{protocol}, {figure}"] = statistics.median(column)
            readings[f"{protocol}, {figure}, at most"] = max(column)
    return readings


async def stopped(under: Conditions) -> Readings:
    """Returns which share of the requests the stop saves, and of the answers stays the same."""
    readings: dict[str, float] = {}
    same = searches = 0
    for rule in RULES:
        for name, parallel in ORDERS.items():
            asked = spared = 0
            for seed in range(under.count):
                whole = await _voted(seed, "last", parallel=parallel, stop=False)
                early = await _voted(seed, rule, parallel=parallel, stop=True)
                asked += whole["usage"]["requests"]
                spared += whole["usage"]["requests"] - early["usage"]["requests"]
                same += whole["ensembles"][rule] == early["answer"]
                searches += 1
            readings[f"{rule}, {name}, requests saved"] = spared / asked
    return {"answers that stay the same": same / searches, **readings}


async def _voted(seed: int, rule: str, *, parallel: bool, stop: bool) -> dict[str, Any]:
    model = ScriptedChat(reply=drawing(seed, reply))
    return await _search(model, ensemble=rule, parallel=parallel, stop_settled=stop)


ROLLBACK_WAITS = Measurement(
    "rollback",
    "Thought Rollback's parallel growth beside the time of its dependent requests",
    "5 searches (--count) a protocol, --latency a request; medians, and the most",
    (
        Figure("two_call, times the path", "x"),
        Figure("two_call, times the path with decisions", "x"),
        Figure("two_call, decisions alone, times the path, at most", "x", most=1.5),
        Figure("two_call, one at a time, times parallel", "x"),
        Figure("single_call, times the path", "x", most=1.1),
        Figure("single_call, times the path, at most", "x"),
        Figure("single_call, decisions alone, times the path, at most", "x", most=1.0),
        Figure("single_call, one at a time, times parallel", "x"),
    ),
    count=5,
    quick=1,
    take=waited,
)
SETTLED_VOTES = Measurement(
    "settled_votes",
    "what Thought Rollback's stop once the vote is settled saves; the answers stay the same",
    "50 random searches (--count) an ensemble and order of growth, each with and without the stop",
    (
        Figure("answers that stay the same", "share", least=1.0),
        *(
            Figure(f"{rule}, {order}, requests saved", "share")
            for rule in RULES
            for order in ORDERS
        ),
    ),
    count=50,
    quick=2,
    take=stopped,
)
