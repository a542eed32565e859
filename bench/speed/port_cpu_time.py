"""What the model port costs: processor time a request, in times of the bare client's.

The same prompts go through `ChatOpenAI.agenerate` and through `ChatPort.sample`, as generations and
as evaluations, in turn, many times. Turns are short, so that whatever else the machine does falls
on all alike. What port and LangGraph add together is a figure of `throughput`.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_openai import ChatOpenAI

from thoughtgraph.bench.speed.game24_searches import bare_client, chat_model
from thoughtgraph.bench.speed.measurement import Conditions, Figure, Measurement, Readings
from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.port import ChatPort, Draw
from thoughtgraph.usage import Limits, Usage

REQUESTS, TOGETHER = 40, 10
"""Requests of a turn, and how many are in flight at a time."""
LIMITS = Limits(requests=10**9, tokens=10**9, dollars=1e9, seconds=1e9, rounds=10**9)
PARAMETERS = {"temperature": 0.7, "max_tokens": 1000}
STEPS = "Input: 2 8 8 14\n2 + 8 = 10 (left: 8 10 14)\n"

Ask = Callable[[int], Awaitable[object]]


def contenders(model: ChatOpenAI, bare: ChatOpenAI) -> dict[str, Ask]:
    """Returns what is timed, under its label: the bare client, and the model through our port."""
    port = ChatPort(model)

    def prompt(number: int) -> list[BaseMessage]:
        return [HumanMessage(f"{number}\n{STEPS * 50}")]

    def client(number: int) -> Awaitable[object]:
        return bare.agenerate([prompt(number)], temperature=0.7, max_tokens=1000)

    def generation(number: int) -> Awaitable[object]:
        draw = Draw("2 8 8 14", str(number))
        meter = Meter(LIMITS, Usage())
        return port.sample(prompt(number), draw=draw, meter=meter, parameters=PARAMETERS)

    def evaluation(number: int) -> Awaitable[object]:
        meter = Meter(LIMITS, Usage())
        return port.sample(prompt(number), role="value", meter=meter, parameters=PARAMETERS)

    return {"bare client": client, "generation": generation, "evaluation": evaluation}


async def measured(under: Conditions) -> Readings:
    """Returns the processor time of a request: milliseconds, and what the port makes of it."""
    times: dict[str, list[float]] = {}
    with chat_model(under, latency=0.0) as model:
        async with bare_client(model) as client:
            for turn in range(under.count + 1):
                for label, ask in contenders(model, client).items():
                    spent = await _timed(ask)
                    if turn:  # the first turn opens connections
                        times.setdefault(label, []).append(spent)
    bare, *ports = (statistics.median(runs) for runs in times.values())
    labels = ("generation, times the client", "evaluation, times the client")
    times_bare = (spent / bare for spent in ports)
    return {"bare client": bare, **dict(zip(labels, times_bare, strict=True))}


async def _timed(ask: Ask) -> float:
    began = time.process_time()
    for first in range(0, REQUESTS, TOGETHER):
        await asyncio.gather(*(ask(first + k) for k in range(TOGETHER)))
    return (time.process_time() - began) / REQUESTS * 1e3


PORT = Measurement(
    "port",
    "processor time a request that the model port adds to the bare client's",
    "40 requests a turn on a server that answers at once, medians of 30 turns (--count)",
    (
        Figure("bare client", "CPU ms/request"),
        # 0.3 ms above the 1.85 ms that the bare client took where this was aimed at.
        Figure("generation, times the client", "x", most=1.16),
        Figure("evaluation, times the client", "x", most=1.16),
    ),
    count=30,
    quick=3,
    take=measured,
)
