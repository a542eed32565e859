"""How an endpoint sends an answer: token by token with its size, token by token, or whole.

Nothing here streams by itself. LangGraph's mode `messages`, and models made with `streaming=True`,
have LangChain ask for a stream. An endpoint that refuses one, or answers with a whole completion
instead, is asked again in the next way, and from then on in the way that it took.
"""

import json
from contextlib import suppress
from enum import IntEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import LLMResult

from thoughtgraph.llm.completions import finish_reason, metadata_of
from thoughtgraph.llm.connections import is_openai
from thoughtgraph.llm.failures import BadAnswer, status_of

if TYPE_CHECKING:
    from thoughtgraph.llm.refused import Outgoing

REFUSES_STREAMS = frozenset({400, 405, 422, 501})
"""How servers refuse a stream, or the option that tells its size."""
NO_EVENTS = "No generations found in stream."
"""LangChain's words for an answer in which no event was: most often a whole completion."""
ENDS = frozenset({"finish_reason", "status"})
"""What says that a completion ended: of chats, and of OpenAI's Responses."""


class Way(IntEnum):
    """A way to send an answer; a higher one asks less of the endpoint."""

    SIZED = 0
    TOKENS = 1
    WHOLE = 2


class TokenStream:
    """The way in which one chat model is asked, as far as its endpoint is known.

    Args:
        model: The model. Whether it asks a stream for its size is left as it is where it was set.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self.streams = "streaming" in type(model).model_fields
        # LangChain asks OpenAI's own address alone for it; elsewhere it leaves this unset.
        unset = getattr(model, "stream_usage", True) is None
        first = Way.SIZED if unset else Way.TOKENS
        self.way = first if self.streams else Way.WHOLE

    def trial(self, outgoing: "Outgoing", n: int) -> "Trial":
        """Returns what asks in the ways that are left, one after the other.

        Args:
            outgoing: The call; what its server refuses of it is left out.
            n: How many samples are asked for: no stream carries several.
        """
        return Trial(self, outgoing, several=n > 1)


class Trial:
    """Gives a call and further arguments; ends it without a word where it is refused.

    It is entered until its body comes to an end.
    """

    def __init__(self, stream: TokenStream, outgoing: "Outgoing", *, several: bool) -> None:
        self._stream = stream
        self._outgoing = outgoing
        self._several = several
        self._way = Way.WHOLE if several else stream.way

    def __enter__(self) -> tuple[BaseChatModel, dict[str, Any]]:
        model = self._outgoing.model
        if self._way is Way.SIZED:
            return model.model_copy(update={"stream_usage": True}), {}
        whole = self._way is Way.WHOLE and self._stream.streams
        return model, {"stream": False} if whole else {}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> bool:
        if error is None:
            if not self._several:
                # Only now: a request may be refused for reasons of its own.
                self._stream.way = max(self._stream.way, self._way)
            return False
        if self._outgoing.drop(error):
            return True
        before = self._way
        if isinstance(error, ValueError) and str(error) == NO_EVENTS:
            self._way = Way.WHOLE
        elif before < Way.WHOLE and status_of(error) in REFUSES_STREAMS and _asked_stream(error):
            self._way = Way(before + 1)
        return self._way > before


def _asked_stream(error: BaseException) -> bool:
    """Returns whether the request that failed asked for a stream."""
    request = getattr(getattr(error, "response", None), "request", None)
    asked: Any = None
    with suppress(ValueError, RecursionError):
        asked = json.loads(getattr(request, "content", b""))
    return isinstance(asked, dict) and bool(asked.get("stream"))


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
