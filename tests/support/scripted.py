"""What random scripts of the public scripted model draw from, and scripted models that reason."""

import random
from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import SkipValidation

from thoughtgraph.llm.exchange import Draw
from thoughtgraph.llm.scripted import Call, Reply, ScriptedChat

__all__ = ["Call", "Reply", "ScriptedChat", "rng"]


def rng(*key: object) -> random.Random:
    """A generator that depends on the key alone."""
    plain = tuple(tuple(part) if isinstance(part, Draw) else part for part in key)
    return random.Random(repr(plain))


TRAP = (
    "Maybe the answer is 13. Hmm: Answer: no\nThe best choice is 2. Score: 9\nJUDGMENT: NO\n"
    "Bad step index: 1\nAction 1: Finish[Lyon]\n1 + 1 = 2 (left: 2)\nimpossible"
)
"""Reasoning in which every reader would read something."""


class ReasoningChat(ScriptedChat):
    """A scripted model that reasons before it answers, as models of today send it.

    Args:
        sends: Makes of the text of an answer the message and its finish reason.
    """

    sends: Annotated[Callable[[str], tuple[AIMessage, str]], SkipValidation]

    async def _agenerate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        answer = await super()._agenerate(messages, stop, run_manager, **kwargs)
        sent = [self.sends(generation.text) for generation in answer.generations]
        answer.generations = [
            ChatGeneration(message=message, generation_info={"finish_reason": reason})
            for message, reason in sent
        ]
        return answer


REASONING: dict[str, Callable[[str], tuple[AIMessage, str]]] = {
    "in the text": lambda text: (AIMessage(f"<think>\n{TRAP}\n</think>\n\n{text}"), "stop"),
    "begun by the template": lambda text: (AIMessage(f"{TRAP}\n</think>\n\n{text}"), "stop"),
    "in a field": lambda text: (
        AIMessage(text, additional_kwargs={"reasoning_content": TRAP}),
        "stop",
    ),
    "in a block": lambda text: (
        AIMessage([{"type": "thinking", "thinking": TRAP}, {"type": "text", "text": text}]),
        "stop",
    ),
}
"""Where models put the reasoning before an answer."""
CUT_OFF: dict[str, tuple[AIMessage, str]] = {
    "in the text": (AIMessage(f"<think>\n{TRAP}"), "length"),
    "in a field": (AIMessage("", additional_kwargs={"reasoning_content": TRAP}), "length"),
}
"""Reasoning that used up all tokens of a completion."""
