"""How an endpoint sends an answer: token by token with its size, token by token, or whole.

Nothing here streams by itself. LangGraph's mode `messages`, and models made with `streaming=True`,
have LangChain ask for a stream. An endpoint that refuses one, or answers with a whole completion
instead, is asked again without (`llm.refused`).
"""

import json
from contextlib import suppress
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import LLMResult

from thoughtgraph.llm.completions import finish_reason, metadata_of
from thoughtgraph.llm.connections import is_openai
from thoughtgraph.llm.failures import BadAnswer, status_of

REFUSES_STREAMS = frozenset({400, 405, 422, 501})
"""How servers refuse a stream, or the option that tells its size."""
NO_EVENTS = "No generations found in stream."
"""LangChain's words for an answer in which no event was: most often a whole completion."""
SIZE = "stream_options"
"""The parameter that has a stream tell its size."""
STREAM = "stream"
ENDS = frozenset({"finish_reason", "status"})
"""What says that a completion ended: of chats, and of OpenAI's Responses."""


def refused_stream(error: BaseException) -> list[str]:
    """Returns what to leave out where a stream failed, the least first; nothing if it is no matter.

    Args:
        error: The failure of a call.
    """
    if isinstance(error, ValueError) and str(error) == NO_EVENTS:
        return [STREAM]
    return [SIZE, STREAM] if status_of(error) in REFUSES_STREAMS and _asked_stream(error) else []


def _asked_stream(error: BaseException) -> bool:
    """Returns whether the request that failed asked for a stream."""
    request = getattr(getattr(error, "response", None), "request", None)
    asked: Any = None
    with suppress(ValueError, RecursionError):
        asked = json.loads(getattr(request, "content", b""))
    return isinstance(asked, dict) and bool(asked.get(STREAM))


def completed(result: LLMResult, model: BaseChatModel) -> LLMResult:
    """Returns an answer without the completions that an error ended at the server.

    Args:
        result: What the model returned.
        model: The model.

    Raises:
        BadAnswer: A stream of OpenAI's protocol does not say why it ended, or no completion is
            left, or one of several, which would look as if the server returned no more.
    """
    sent = [(each, metadata_of(each)) for each in result.generations[0]]
    # LangChain names the provider in what a server sent; a double for tests may say nothing at all.
    silent = [told for _, told in sent if "model_provider" in told and not ENDS & told.keys()]
    if silent and is_openai(model):
        raise BadAnswer("the stream ended without a finish reason")
    whole = [each for each, told in sent if "error" not in finish_reason(told)]
    if len(whole) < min(2, len(sent)):
        raise BadAnswer("the server says that an error ended the completion")
    return LLMResult(generations=[whole], llm_output=result.llm_output)
