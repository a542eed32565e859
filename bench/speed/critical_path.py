"""The time a search needs at least: a chat model with a fixed latency, its log, the longest chain.

The critical path of a log is the longest chain of calls whose input contains an earlier output; no
search that makes these calls can be faster. What a call waits for without showing it, a decision,
is told to the measure by the caller.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field


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


class Request(NamedTuple):
    """What an answer of a scripted model may depend on."""

    role: str
    prompt: str
    draw: Any
    """The thought and the sibling that it is for."""
    sample: int


class Reply(NamedTuple):
    """What a scripted model answers."""

    text: str
    shown: str = ""
    """What later inputs show of it."""


class DelayedModel(BaseChatModel):
    """Answers each request by a function of it alone, after a latency, and keeps a log."""

    answer: Callable[[Request], Reply]
    latency: float = 0.0
    n: int = 1
    log: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "delayed"

    def _generate(self, *given: Any, **more: Any) -> ChatResult:
        raise NotImplementedError("asked asynchronously only")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **more: Any,
    ) -> ChatResult:
        began = time.perf_counter()
        metadata = (run_manager.metadata if run_manager else None) or {}
        role, draw = metadata["thoughtgraph_role"], metadata.get("thoughtgraph_draw")
        prompt = "\n".join(str(message.content) for message in messages)
        await asyncio.sleep(self.latency)
        replies = [
            self.answer(Request(role, prompt, draw, sample)) for sample in range(more.get("n", 1))
        ]
        shown = tuple(reply.shown for reply in replies if reply.shown)
        self.log.append(Exchange(began, time.perf_counter(), prompt, shown, role, self.latency))
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(reply.text)) for reply in replies]
        )


def drawing(
    seed: int, answer: Callable[[random.Random, Request], Reply]
) -> Callable[[Request], Reply]:
    """Returns an answer that draws at random, by seed, role, prompt and sample alone."""

    def reply(asked: Request) -> Reply:
        return answer(random.Random(f"{seed} {asked.role} {asked.prompt} {asked.sample}"), asked)

    return reply


def new_name(draws: random.Random) -> str:
    """Returns a text that no other answer holds."""
    return f"text {draws.randrange(10**11, 10**12)}"


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
