"""A server that plays the model of Game of 24 by rule, after a fixed latency.

    python -m thoughtgraph.bench.speed.game24_server SECONDS

Speaks as much of the OpenAI protocol as a search needs, prints its address, and ends when its
standard input does. It is a process of its own, because the processor time of the searches is
measured. A proposal is eight equations, those first that lead to 24; a verdict is `sure` where 24
can be reached.
"""

import asyncio
import json
import operator
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

from thoughtgraph.tasks.game24.game24 import TARGET
from thoughtgraph.tasks.game24.rollback_steps import composed

Hand = tuple[Fraction, ...]
PROPOSED, LEADING = 8, 2
"""Equations of a proposal, and how many of them that lead to 24 come first."""
ROUNDED = 0.05
"""How far from 24 a result may be, as fractions are written with two digits."""
LARGEST_DENOMINATOR = 4
"""Equations with other results are not proposed."""
OPERATIONS = {"+": operator.add, "*": operator.mul, "-": operator.sub, "/": operator.truediv}


def answer(prompt: str) -> str:
    """Returns the text of every choice."""
    last = prompt.rstrip().rpartition("\n")[2]
    if last == "Possible next steps:":
        return proposals(_hand(prompt.rpartition("Input: ")[2].partition("\n")[0]))
    if "Evaluate if given numbers can reach 24" in prompt:
        hand = _hand(last)
        maybe = "likely" if len(hand) == 3 and hash(hand) % 3 == 0 else "impossible"
        return "sure" if reaches(hand) else maybe
    if "give a judgement" in prompt:
        return "sure"
    puzzle, finished, steps = prompt.rpartition("Input: ")[2].partition("\nSteps:\n")
    if not finished:  # no prompt of a search: what is measured does not read the answer
        return "sure"
    return f"Answer: {composed(puzzle, steps.strip().splitlines())} = 24"


def moves(hand: Hand) -> Iterator[tuple[str, Fraction, Hand]]:
    """Yields the equations that a hand allows: text, result, and the hand that is left."""
    for i, j in combinations(range(len(hand)), 2):
        rest = [number for at, number in enumerate(hand) if at not in (i, j)]
        for a, b in ((hand[j], hand[i]), (hand[i], hand[j])):
            for sign, operation in OPERATIONS.items():
                if b or sign != "/":
                    result = operation(a, b)
                    equation = f"{_shown(a)} {sign} {_shown(b)} = {_shown(result)}"
                    yield equation, result, tuple(sorted([*rest, result]))


@lru_cache(maxsize=1 << 17)
def reaches(hand: Hand) -> bool:
    """Returns whether 24 can be made of a hand."""
    if len(hand) == 1:
        return abs(hand[0] - TARGET) < ROUNDED
    return any(reaches(left) for _, _, left in moves(hand))


@lru_cache(maxsize=1 << 14)
def proposals(hand: Hand) -> str:
    """Returns the equations that are proposed for a hand, one a line."""
    lines: dict[Hand, str] = {}
    for equation, result, left in moves(hand):
        if result >= 0 and result.denominator <= LARGEST_DENOMINATOR:
            lines.setdefault(left, f"{equation} (left: {' '.join(map(_shown, left))})")
    good = [line for left, line in lines.items() if reaches(left)]
    others = [line for left, line in lines.items() if not reaches(left)]
    return "\n".join([*good[:LEADING], *others, *good[LEADING:]][:PROPOSED])


def _hand(text: str) -> Hand:
    return tuple(sorted(Fraction(word) for word in re.findall(r"\d[\d.]*", text)))


def _shown(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.2f}".rstrip("0")


async def serve(latency: float) -> None:
    """Answers chat completions on 127.0.0.1 until standard input ends."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin1").lower()
                size = int(head.partition("content-length:")[2].partition("\r\n")[0])
                request = json.loads(await reader.readexactly(size))
                await asyncio.sleep(latency)
                body = json.dumps(completion(request)).encode()
                lines = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                writer.write(f"{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client hung up, or the server ends
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


def completion(request: dict[str, Any]) -> dict[str, Any]:
    """Returns the answer to a request, in OpenAI's form."""
    text = answer("\n".join(str(message["content"]) for message in request["messages"]))
    message = {"role": "assistant", "content": text}
    choices = [
        {"index": at, "finish_reason": "stop", "message": message}
        for at in range(request.get("n") or 1)
    ]
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    named = {"id": "x", "object": "chat.completion", "created": 0, "model": request["model"]}
    return {**named, "choices": choices, "usage": usage}


@contextmanager
def serving(latency: float) -> Iterator[str]:
    """Starts such a server, whose answers take so many seconds; yields its address."""
    with subprocess.Popen(
        [sys.executable, "-m", __name__, str(latency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:  # which closes its standard input in the end
        assert server.stdout is not None
        yield server.stdout.readline().strip()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
