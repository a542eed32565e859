"""What the model port costs: processor time a request, above the bare client.

    uv run python -m thoughtgraph.bench.speed.port_cpu http://127.0.0.1:8777/v1#fake

Sends the same prompts through `ChatOpenAI.agenerate` and through `ChatPort.sample`, as generations
and as evaluations, in turn, many times, and prints the medians. Runs are short, so that whatever
else the machine does falls on all alike. The endpoint should answer at once. What port and
LangGraph add together is measured by `bench.throughput`.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from thoughtgraph.bench.speed.plain_loop import address
from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.port import ChatPort, Draw
from thoughtgraph.usage import Limits, Usage

TARGET = 0.3
"""Milliseconds of processor time a request that the port may add."""
TOGETHER = 10
"""Requests in flight at a time."""
LIMITS = Limits(requests=10**9, tokens=10**9, dollars=1e9, seconds=1e9, rounds=10**9)
PARAMETERS = {"temperature": 0.7, "max_tokens": 1000}

Ask = Callable[[int], Awaitable[object]]


def contenders(model: ChatOpenAI) -> dict[str, Ask]:
    """Returns what is timed, under its label."""
    port = ChatPort(model)

    def prompt(number: int) -> list[BaseMessage]:
        return [HumanMessage(f"{number}\n" + "Input: 2 8 8 14\n2 + 8 = 10 (left: 8 10 14)\n" * 50)]

    def bare(number: int) -> Awaitable[object]:
        return model.agenerate([prompt(number)], temperature=0.7, max_tokens=1000)

    def generation(number: int) -> Awaitable[object]:
        draw = Draw("2 8 8 14", str(number))
        meter = Meter(LIMITS, Usage())
        return port.sample(prompt(number), draw=draw, meter=meter, parameters=PARAMETERS)

    def evaluation(number: int) -> Awaitable[object]:
        meter = Meter(LIMITS, Usage())
        return port.sample(prompt(number), role="value", meter=meter, parameters=PARAMETERS)

    return {"bare": bare, "generation": generation, "evaluation": evaluation}


async def main(arguments: argparse.Namespace) -> None:
    """Measures and prints."""
    base, name = address(arguments.endpoint)
    key = SecretStr("none")
    model = ChatOpenAI(model=name, base_url=base, api_key=key, max_retries=0, cache=False)
    times: dict[str, list[float]] = {}
    for turn in range(arguments.runs + 1):
        for label, ask in contenders(model).items():
            spent = await timed(ask, arguments.requests)
            if turn:  # the first turn opens connections
                times.setdefault(label, []).append(spent)
    bare = statistics.median(times["bare"])
    print(f"milliseconds of processor time a request, medians of {arguments.runs} runs")
    for label, runs in times.items():
        median = statistics.median(runs)
        above = "" if label == "bare" else f"   {median - bare:+.2f} (target ≤ {TARGET:+.1f})"
        print(f"{label:18}{median:6.2f}{above}")


async def timed(ask: Ask, requests: int) -> float:
    """Returns the milliseconds of processor time that a request takes."""
    began = time.process_time()
    for first in range(0, requests, TOGETHER):
        await asyncio.gather(*(ask(first + k) for k in range(TOGETHER)))
    return (time.process_time() - began) / requests * 1e3


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("endpoint")
    parser.add_argument("--requests", type=int, default=40, help="in each run")
    parser.add_argument("--runs", type=int, default=30)
    asyncio.run(main(parser.parse_args()))
