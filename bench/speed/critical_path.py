"""The time a search needs at least: the log of a scripted model, and the longest chain in it.

The critical path of a log is the longest chain of calls whose input contains an earlier output; no
search that makes these calls can be faster. What a call waits for without showing it, a decision,
is told to the measure by the caller.
"""

import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from thoughtgraph.llm.scripted import Call, Reply, ScriptedChat


class Exchange(NamedTuple):
    """One call of the log."""

    began: float
    ended: float
    prompt: str
    answers: tuple[str, ...]
    """What later inputs show of it, each a text that no other call gave."""
    role: str = "generate"
    takes: float = 1.0
    """Seconds that it sleeps: what it would take in no time of ours."""


Waits = Callable[[Exchange, Exchange], bool]
"""Whether a call, the second, waits for an earlier one although its input does not show it."""


_NAME = re.compile(r"text \d{12}")


def new_name(draws: random.Random) -> str:
    """Returns a text that no other answer holds."""
    return f"text {draws.randrange(10**11, 10**12)}"


def drawing(seed: int, answer: Callable[[random.Random, Call], str]) -> Reply:
    """Returns a script that draws at random, by seed, role, prompt and sample alone."""

    def reply(call: Call) -> list[str]:
        keys = (f"{seed} {call.role} {call.prompt} {sample}" for sample in range(call.n))
        return [answer(random.Random(key), call) for key in keys]

    return reply


def exchanges(model: ScriptedChat, latency: float) -> list[Exchange]:
    """Returns the log of a model whose answers hold names, each made by `new_name`.

    Args:
        model: The model.
        latency: Seconds that each answer took it.
    """
    return [
        Exchange(
            call.began,
            call.ended,
            call.prompt,
            tuple(_NAME.findall("\n".join(call.texts))),
            call.role,
            latency,
        )
        for call in model.seen
    ]


def critical_path(log: Sequence[Exchange], waits: Waits | None = None) -> float:
    """Returns the seconds of the longest chain of calls that each wait for the one before.

    Args:
        log: The calls, of the model and of the tools.
        waits: What calls wait for besides the outputs that their inputs contain. None: nothing.
    """
    ordered = sorted(log, key=lambda exchange: exchange.ended)
    longest: list[float] = []
    for at, later in enumerate(ordered):
        before = (
            longest[j]
            for j, earlier in enumerate(ordered[:at])
            if earlier.ended <= later.began
            and (shows(later, earlier) or (waits is not None and waits(earlier, later)))
        )
        longest.append(later.takes + max(before, default=0.0))
    return max(longest, default=0.0)


def shows(later: Exchange, earlier: Exchange) -> bool:
    """Returns whether a call's input contains an output of an earlier call."""
    return any(answer in later.prompt for answer in earlier.answers)
