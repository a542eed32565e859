"""A server that answers the prompts of Game of 24 by rule, after a fixed latency.

    python -m thoughtgraph.bench.speed.game24_server SECONDS

It speaks as much of the OpenAI protocol as a search needs, prints its address, and ends when its
standard input ends. It is a process of its own, so that the measured processor time is that of the
searches alone. A proposal is eight equations, first those that can lead to 24; a verdict is `sure`
if 24 can be reached.
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
from itertools import permutations
from typing import Any

from thoughtgraph.bench.questions.game24_puzzles import solvable
from thoughtgraph.tasks.game24.rollback_steps import composed

Hand = tuple[Fraction, ...]
PROPOSED = 8
"""Equations of a proposal (ours)."""
OPERATIONS = {"+": operator.add, "*": operator.mul, "-": operator.sub, "/": operator.truediv}


def answer(prompt: str) -> str:
    """Returns the answer to a prompt: the text of every choice."""
    last = prompt.rstrip().rpartition("\n")[2]
    problem = prompt.rpartition("Input: ")[2]
    if last == "Possible next steps:":
        return proposals(_hand(problem.partition("\n")[0]))
    if "Evaluate if given numbers can reach 24" in prompt:
        return "sure" if solvable(_hand(last)) else "impossible"
    puzzle, finished, steps = problem.partition("\nSteps:\n")
    if not finished or "give a judgement" in prompt:
        return "sure"
    return f"Answer: {composed(puzzle, steps.strip().splitlines())} = 24"


@lru_cache(maxsize=1 << 14)
def proposals(hand: Hand) -> str:
    """Returns the equations that are proposed for a hand, one a line."""
    lines: dict[Hand, str] = {}
    for equation, left in moves(hand):
        lines.setdefault(left, f"{equation} (left: {' '.join(map(str, left))})")
    hands = sorted(lines, key=lambda left: not solvable(left))
    return "\n".join(lines[left] for left in hands[:PROPOSED])


def moves(hand: Hand) -> Iterator[tuple[str, Hand]]:
    """Yields a hand's equations with whole results from 0 on, each with the hand that it leaves."""
    for a, b, *rest in permutations(hand) if len(hand) > 1 else ():
        for sign, operation in OPERATIONS.items():
            result = operation(a, b) if b or sign != "/" else Fraction(-1)
            if result >= 0 and result.denominator == 1:
                yield f"{a} {sign} {b} = {result}", tuple(sorted([*rest, result]))


def _hand(text: str) -> Hand:
    return tuple(sorted(map(Fraction, re.findall(r"\d+", text))))


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
    """Returns the completion of a request, in OpenAI's format."""
    text = answer("\n".join(str(message["content"]) for message in request["messages"]))
    message = {"role": "assistant", "content": text}
    choices = [
        {"index": at, "finish_reason": "stop", "message": message}
        for at in range(request.get("n") or 1)
    ]
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    envelope = {"id": "x", "object": "chat.completion", "created": 0, "model": request["model"]}
    return {**envelope, "choices": choices, "usage": usage}


@contextmanager
def serving(latency: float) -> Iterator[str]:
    """Starts the server, whose answers take `latency` seconds; yields its address."""
    with subprocess.Popen(
        [sys.executable, "-m", __name__, str(latency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:  # the exit closes standard input, which ends the server
        assert server.stdout is not None
        yield server.stdout.readline().strip()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
