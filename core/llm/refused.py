"""Parameters that a server refuses: which one an error means, and the call without it."""

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, merge_message_runs
from langchain_core.outputs import LLMResult

from thoughtgraph.llm.connections import LENGTH, arguments_of, endpoint_of, is_openai, with_fields
from thoughtgraph.llm.exchange import SEED, Request
from thoughtgraph.llm.failures import status_of
from thoughtgraph.llm.token_stream import SIZE, STREAM, completed, refused_stream
from thoughtgraph.llm.trace_size import callbacks

if TYPE_CHECKING:
    from langchain_openai.chat_models.base import BaseChatOpenAI

STATUSES = frozenset({400, 422, 500, 501})
"""How servers refuse a parameter; 404 is about the model or the path."""
REFUSES_N = frozenset({400, 422, 501})
"""How servers that return one sample a request answer a call for several, whatever they say."""
OPENAIS_LENGTH = "max_completion_tokens"
SYSTEM = "system"
"""A system message, among the parameters."""
FIELDS = ("stop", "temperature", "top_p", SEED, LENGTH)
"""Parameters that may also be fields of the model."""
INSTEAD = {
    "stop": ", and completions are cut when they arrive",
    "n": ", and each sample is asked for alone",
    SYSTEM: ", and its text goes before the first user message",
}
"""What is done about a refused parameter besides."""

_MENTION = re.compile(
    r"(?P<stop>(?<!please )\bstop(?:\b|_?seq))|(?P<temperature>temperature)|(?P<seed>\bseed\b)"
    r"|(?P<top_p>top[_ -]?p\b|nucleus)|(?P<max_tokens>\bmax_?tokens)"
    r"|(?P<max_completion_tokens>max_?completion_?tokens)"
    r"|(?P<n>\bn\b|n_cmpl|candidate_?count|num_return_sequences|best_of"
    r"|(?:one|multiple|number of) (?:chat |completion )?"
    r"(?:choice|completion|candidate|output|response|sample|generation|sequence))"
    r"|(?P<system>\broles?\b|[\"'`]system|(?:system|developer)[ _-]?(?:message|prompt|instruction)"
    r"|(?:user|first) message)",
    re.A,
)
_REFUSAL = re.compile(
    r"\bnot?\b|n't|\bcannot|must|only|should|require|\bun(?:supported|recogni|known|expected)"
    r"|\binvalid\b|incompatible|disabled|deprecated|fixed|exclusive|range|out of|instead|'param': '"
    r"|不|无效|サポート|지원"
)
_TOO_LARGE = re.compile(r"context|too |at least|maxim|exceed| than|limit|range")
_UNSUPPORTED = re.compile(
    "n.?t (?:be )?(?:support|allow|permit)|unsupported|unknown|unrecogni|extra"
)
_TOGETHER = re.compile("both|together|exclusive|same time|only one|同时")


def refused_parameter(error: BaseException, sent: Collection[str]) -> str:
    """Returns the parameter that a server refuses; empty where its error names none that was sent.

    It is the first that is named. Of two that exclude each other, `temperature` stays. A bound that
    is too large is no refused parameter: without it completions would have no end.

    Args:
        error: The failure of a call.
        sent: The parameters that were sent, `system` for a system message.
    """
    # Without the escapes of JSON in JSON.
    text = f"{error} {getattr(error, 'body', '')}".lower().replace("\\n", "\n")
    if status_of(error) not in STATUSES or not _REFUSAL.search(text):
        return ""
    named = [each.lastgroup or "" for each in _MENTION.finditer(text)]
    too_large = _TOO_LARGE.search(text) and not _UNSUPPORTED.search(text)
    bounds = {LENGTH, OPENAIS_LENGTH} if too_large else set()
    named = [name for name in named if name in sent and name not in bounds]
    if "top_p" in named and _TOGETHER.search(text):
        return "top_p"
    return next(iter(named), "")


class Outgoing:
    """One call, which is sent again without each parameter that its server refuses.

    Args:
        model: The model, with connections of the running event loop.
        request: What is asked.
        at: Index, within the request, of the first sample.
        n: How many samples the call asks for: no stream carries several.
        refused: What the server is known to refuse. What this call shows is added once the server
            has answered it: a request may be refused for another reason.
    """

    def __init__(
        self, model: BaseChatModel, request: Request, at: int, n: int, refused: set[str]
    ) -> None:
        self._request, self._at, self._n = request, at, n
        self._known, self._refused = refused, set(refused)
        self._sent_to = model
        self._model, self._whole = arguments_of(model, request.parameters)
        if SEED in self._whole:
            self._whole[SEED] = request.seed(at)
        if n > 1:
            self._whole["n"] = n
        if request.stop:
            self._whole["stop"] = list(request.stop)
        if request.grammar:
            self._whole = with_fields(model, self._whole, grammar=request.grammar)
        self._prepare()

    async def send(self) -> LLMResult:
        """Sends the call, again without what its server refuses, and returns its answer."""
        while True:
            try:
                result = await self.model.agenerate([self.messages], **self._keywords())
            except Exception as error:
                if not self._leaves_out(error):
                    raise
            else:
                return completed(result, self._sent_to)

    def _leaves_out(self, error: BaseException) -> bool:
        """Leaves out what the error of an attempt is about; says whether there is such a thing."""
        sent = {*_own(self.model), *self.arguments, *self.arguments.get("extra_body", {})}
        sent |= {SYSTEM} & {message.type for message in self.messages}
        names = [refused_parameter(error, sent - self._refused)]
        names += ["n"] if self._n > 1 and status_of(error) in REFUSES_N else refused_stream(error)
        name = next((each for each in names if each and each not in self._refused), None)
        if name:
            self._refused.add(name)
            self._prepare()
        return name is not None

    def _keywords(self) -> dict[str, Any]:
        """Returns the arguments of the call besides its messages."""
        return {
            "callbacks": callbacks(self._request, self._n, openai=is_openai(self.model)),
            "metadata": self._request.metadata(self._at),
            "tags": [f"role:{self._request.role}"],
            **self.arguments,
        }

    def accepted(self) -> list[str]:
        """Keeps what was left out, as the call was answered.

        Returns:
            One line for each parameter that the server was not known to refuse.
        """
        new = sorted(self._refused - self._known - {SIZE, STREAM})
        self._known |= self._refused
        told = "the server refuses {!r}: it is left out from now on{}"
        return [told.format(name, INSTEAD.get(name, "")) for name in new]

    def _prepare(self) -> None:
        """Makes the call without what is refused."""
        model, unset, arguments = self._model, set(self._refused), self._whole
        if is_openai(model) and (bound := arguments.get(LENGTH) or model.max_tokens):
            unset.add(LENGTH)
            names = [name for name in _lengths(model) if name not in self._refused]
            if names[:1] == [LENGTH]:  # LangChain would rename an argument
                arguments = with_fields(model, arguments, **{LENGTH: bound})
            elif names:
                arguments = {**arguments, OPENAIS_LENGTH: bound}
        self.arguments = {name: each for name, each in arguments.items() if name not in unset}
        fields: dict[str, Any] = dict.fromkeys(unset & _own(model))
        if "streaming" in type(model).model_fields:
            # LangChain asks OpenAI's own address alone for a size; elsewhere it leaves this unset.
            if SIZE not in unset and getattr(model, "stream_usage", True) is None:
                fields["stream_usage"] = True
            if self._n > 1 or STREAM in unset:
                self.arguments[STREAM] = False
        self.model = model.model_copy(update=fields) if fields else model
        self.messages = list(self._request.messages)
        if SYSTEM in unset:
            users = [HumanMessage(m.content) if m.type == SYSTEM else m for m in self.messages]
            self.messages = merge_message_runs(users, chunk_separator="\n\n")


def _own(model: BaseChatModel) -> set[str]:
    return {name for name in FIELDS if getattr(model, name, None) is not None}


def _lengths(model: "BaseChatOpenAI") -> tuple[str, str]:
    """Returns the names by which a server may take the bound, best first.

    LangChain sends OpenAI's newer name everywhere. Ollama, LM Studio, TGI, llama-cpp-python and
    older llama.cpp ignore it in silence; Mistral and older vLLM refuse it. They all, and Groq,
    Together, vLLM and DeepSeek, take `max_tokens`, which OpenAI's and Azure's reasoning models
    refuse. Both names at once would be refused by strict servers.
    """
    host = f".{urlsplit(endpoint_of(model)).hostname or ''}"
    openais = model.use_responses_api or host.endswith((".openai.com", ".azure.com"))
    return (OPENAIS_LENGTH, LENGTH) if openais else (LENGTH, OPENAIS_LENGTH)
