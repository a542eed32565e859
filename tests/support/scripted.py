"""A scripted chat model: its answers are a function of role, prompt and draw, never of call
order."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field, PrivateAttr


class Call:
    """One request the model saw."""

    def __init__(
        self, role: str, prompt: str, draw: tuple[Any, ...] | None, n: int, stop: Any
    ) -> None:
        self.role = role
        self.prompt = prompt
        self.draw = draw
        self.n = n
        self.stop = stop
        self.began = time.perf_counter()
        self.ended = 0.0


Reply = Callable[[Call], Sequence[str] | str]


class ScriptedChat(BaseChatModel):
    """Answers by a function of the call; a text stands for n equal samples. Records every call."""

    reply: Reply
    delay: float | Callable[[Call], float] = 0.0
    n: int = 1
    temperature: float | None = None
    max_tokens: int | None = None
    seen: list[Any] = Field(default_factory=list)
    _in_flight: int = PrivateAttr(0)
    peak: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        raise RuntimeError("the graphs are async: nothing may call the model synchronously")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        metadata = (run_manager.metadata if run_manager else None) or {}
        draw = metadata.get("thoughtgraph_draw")
        call = Call(
            metadata.get("thoughtgraph_role", ""),
            "\n".join(str(m.content) for m in messages),
            None if draw is None else tuple(draw),
            kwargs.get("n", 1),
            stop,
        )
        self.seen.append(call)
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        try:
            if delay := self.delay(call) if callable(self.delay) else self.delay:
                await asyncio.sleep(delay)
            replied = self.reply(call)
        finally:
            self._in_flight -= 1
            call.ended = time.perf_counter()
        texts = [replied] * call.n if isinstance(replied, str) else list(replied)
        assert len(texts) == call.n, (
            f"the script gave {len(texts)} samples where {call.n} were asked for"
        )
        usage = {
            "prompt_tokens": len(call.prompt) // 4,
            "completion_tokens": sum(map(len, texts)) // 4,
        }
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage(text)) for text in texts],
            llm_output={"token_usage": usage},
        )


def rng(*key: object) -> random.Random:
    """A generator that depends on the key alone."""
    return random.Random(repr(key))
