"""A scripted chat model, for tests of code that asks a model.

Its answers depend on each call alone, never on the order of calls, because searches make them
concurrently. A call without an answer in the script is an error, and every call is recorded:

    model = ScriptedChat(reply={"generate": ["6 + 6 = 12", "4 * 6 = 24"], "value": "sure"})
    graph = thoughtgraph.build("tot_bfs", task="game24", model=model)
    …
    assert {call.role for call in model.seen} == {"generate", "value"}
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field, PrivateAttr, SkipValidation

from thoughtgraph.llm.exchange import DRAW, LETTERS_A_TOKEN, ROLE, Draw

Text = str | Sequence[str]
"""One completion, repeated n times, or a sequence of n."""


@dataclass(slots=True)
class Call:
    """One call that the model saw."""

    role: str
    """The role of the call, such as `generate` or `value`; empty if it has none."""
    prompt: str
    """The texts of its messages, joined by line breaks."""
    draw: Draw | None
    """The thought and sample that the call generates; None for an evaluation."""
    n: int
    """Number of samples."""
    stop: Sequence[str] | None
    texts: Sequence[str] = ()
    """The completions it got; empty until it is answered."""


Reply = Callable[[Call], Text]
"""Answers a call; it may raise an error for the model to fail with."""


class UnexpectedCall(AssertionError):
    """The script has no answer for a call, or another number of samples than it asks for."""


class AsyncChat(BaseChatModel):
    """A chat model without a sync call, as graphs make only async ones."""

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        raise NotImplementedError(f"a model of type {self._llm_type} is async, as the graphs are")


class ScriptedChat(AsyncChat):
    """A chat model that answers from a script.

    Args:
        reply: The script: a function of the call, or answers by role, each a text, n texts or a
            function.
        delay: Seconds that an answer takes, or a function of the call (0).
        seen: The calls so far, in the order of their arrival.
        peak: The most calls that were in flight at once.
        n: As in OpenAI's models; the field shows that one call may ask for several samples.
        temperature: As in OpenAI's models; it changes nothing.
        max_tokens: As in OpenAI's models; it changes nothing.
    """

    reply: Annotated[Reply | Mapping[str, Text | Reply], SkipValidation]
    delay: float | Callable[[Call], float] = 0.0
    seen: Annotated[list[Call], SkipValidation] = Field(default_factory=list)
    peak: int = 0
    n: int = 1
    temperature: float | None = None
    max_tokens: int | None = None
    _in_flight: int = PrivateAttr(0)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        metadata = (run_manager.metadata if run_manager else None) or {}
        draw = metadata.get(DRAW)
        call = Call(
            role=metadata.get(ROLE, ""),
            prompt="\n".join(str(message.content) for message in messages),
            draw=Draw(*draw) if draw else None,
            n=kwargs.get("n", self.n),
            stop=stop,
        )
        self.seen.append(call)
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        try:
            if delay := self.delay(call) if callable(self.delay) else self.delay:
                await asyncio.sleep(delay)
            call.texts = self.texts(call)
            generations = [ChatGeneration(message=AIMessage(text)) for text in call.texts]
            size = {
                "prompt_tokens": len(call.prompt) // LETTERS_A_TOKEN,
                "completion_tokens": sum(map(len, call.texts)) // LETTERS_A_TOKEN,
            }
            return ChatResult(generations=generations, llm_output={"token_usage": size})
        finally:
            self._in_flight -= 1

    def texts(self, call: Call) -> Sequence[str]:
        """Returns the completions that the script has for a call.

        Raises:
            UnexpectedCall: It has none, or another number of samples than the call asks for.
        """
        script = self.reply
        answer = script.get(call.role) if isinstance(script, Mapping) else script
        if answer is None:
            raise UnexpectedCall(f"the script has no answer for {call}")
        text = answer if isinstance(answer, str | Sequence) else answer(call)
        texts = [text] * call.n if isinstance(text, str) else text
        if len(texts) != call.n:
            raise UnexpectedCall(f"the script has {len(texts)} samples for {call}")
        return texts
