"""What traces are told of an answer's size: once, whatever LangChain writes on each sample."""

from typing import Any

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata, add_usage, subtract_usage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.llm.exchange import Request, sent, sizes


class _SizeOnce(BaseCallbackHandler):
    """Tells the size of an answer once, before any tracer sees it.

    LangChain's OpenAI models write the size of several samples on every one of them, so that
    LangSmith adds it up n times, and the model's name on none, so that LangChain's own counter
    passes them over: it is told on the first. Some servers tell the size so far in every chunk of a
    stream, and LangChain adds that up: each chunk keeps what it tells beyond those before it.
    """

    run_inline = True

    def __init__(self, request: Request, n: int) -> None:
        self._request = request
        self._n = n
        self._told: UsageMetadata | None = None

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, **_: Any) -> None:
        message = getattr(chunk, "message", None)
        if isinstance(message, AIMessage) and (usage := message.usage_metadata):
            message.usage_metadata = subtract_usage(usage, self._told)
            self._told = add_usage(self._told, message.usage_metadata)

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        messages = [
            each.message for each in response.generations[0] if isinstance(each, ChatGeneration)
        ]
        first = messages[0] if len(messages) > 1 else None
        if not isinstance(first, AIMessage):
            return
        if told := first.usage_metadata:
            texts = sent(response, self._request, self._n)
            counts = sizes(response, self._request, texts)
            own = UsageMetadata(
                input_tokens=counts[0], output_tokens=counts[1], total_tokens=sum(counts)
            )
            first.usage_metadata = {**told, **own}
        first.response_metadata = {**(response.llm_output or {}), **first.response_metadata}
        for message in messages[1:]:
            if isinstance(message, AIMessage):
                message.usage_metadata = None


def callbacks(request: Request, n: int, *, openai: bool) -> BaseCallbackManager | list[Any] | None:
    """Returns the running graph's callbacks: traces and token streams nest under its node.

    Args:
        request: What is asked.
        n: How many samples the call asks for.
        openai: Whether the model speaks OpenAI's protocol, whose streams may tell the size often.
    """
    config = var_child_runnable_config.get()
    given = config.get("callbacks") if config else None
    if n == 1 and not openai:
        return given
    own = _SizeOnce(request, n)
    if not isinstance(given, BaseCallbackManager):
        return [own, *(given or ())]
    manager = given.copy()
    manager.handlers.insert(0, own)
    return manager
