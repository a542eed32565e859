"""One call of a chat model, repeated without each parameter that its server refuses."""

import logging
import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, merge_message_runs
from langchain_core.messages.ai import UsageMetadata, add_usage, subtract_usage
from langchain_core.outputs import LLMResult
from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.llm.connections import endpoint_of, is_openai
from thoughtgraph.llm.exchange import DRAW, ROLE, Request, read
from thoughtgraph.llm.meter import LABEL, tell
from thoughtgraph.llm.retry import status_of
from thoughtgraph.llm.store import Answer

STATUSES = frozenset({400, 422, 500, 501})
"""Statuses by which servers refuse a parameter; 404 is about the model or the path."""
REFUSES_N = frozenset({400, 422, 501})
"""Statuses of servers that refuse several samples in one request, whatever the error says."""
LENGTH, OPENAIS_LENGTH = "max_tokens", "max_completion_tokens"
"""Names of the bound on completions, at most servers and in OpenAI's newer API."""
OTHER_LENGTHS = ("max_output_tokens", "num_predict")
"""Names of `max_tokens` in Google's and Ollama's models."""
SEED = "seed"
"""Name of the parameter that seeds the sampler."""
SYSTEM = "system"
"""Name of the system message among the parameters that a server may refuse."""
SIZE = "stream_options"
"""Name of the parameter that requests the token counts of a stream."""
INSTEAD = {
    "stop": ", and completions are cut when they arrive",
    "n": ", and each sample is asked for alone",
    SYSTEM: ", and its text goes before the first user message",
}
"""End of the log line about a refused parameter: what replaces it."""
FIELDS = ("stop", "temperature", "top_p", SEED, LENGTH)
"""Parameters that may also be fields of the model."""
_MENTION = re.compile(
    r"(?P<stop>(?<!please )\bstop(?:\b|_?seq))|(?P<temperature>temperature)|(?P<seed>\bseed\b)"
    r"|(?P<top_p>top[_ -]?p\b|nucleus)|(?P<max_tokens>\bmax_?tokens)"
    r"|(?P<max_completion_tokens>max_?completion_?tokens)|(?P<stream_options>\bstream_options)"
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


class Prepared(NamedTuple):
    """A call without the parameters that its server refuses."""

    model: BaseChatModel
    messages: list[BaseMessage]
    arguments: dict[str, Any]


async def send(
    model: BaseChatModel, request: Request, at: int, n: int, refused: set[str], place: str
) -> Answer:
    """Makes a call, repeats it without the parameters its server refuses, and reads the answer.

    Args:
        at: Index, within the request, of the first of n samples.
        refused: Parameters that the server is known to refuse. New ones are added, and logged once,
            only after an answer: the server may refuse a request for another reason.
        place: Names the model and its endpoint in the log.
    """
    openai, omitted, draw = is_openai(model), set(refused), request.draw
    call_metadata = {
        **request.labels,
        ROLE: request.role,
        DRAW: None if draw is None else list(draw._replace(first=draw.first + at)),
        f"{LABEL}sample": at,
    }
    # Callbacks of the running graph: traces and token streams nest under its node.
    callbacks = (var_child_runnable_config.get() or {}).get("callbacks")
    if isinstance(callbacks, BaseCallbackManager):
        callbacks = callbacks.copy()
        callbacks.handlers.insert(0, _SizeOnce())
    while True:
        call = prepared(model, request, at, n, omitted)
        try:
            result = await call.model.agenerate(
                [call.messages],
                callbacks=callbacks,
                metadata=call_metadata,
                tags=[f"role:{request.role}"],
                **call.arguments,
            )
        except Exception as error:
            name = _next_omitted(error, call, n, omitted)
            if not name:
                raise
            omitted.add(name)
            continue
        answer = read(result, request, n, openai=openai)
        for name in sorted(omitted - refused):
            line = "%s: the server refuses %r: it is left out from now on%s"
            tell(logging.WARNING, request.labels, line, place, name, INSTEAD.get(name, ""))
        refused |= omitted
        return answer


def prepared(
    model: BaseChatModel, request: Request, at: int, n: int, refused: set[str]
) -> Prepared:
    """Returns a call without the refused parameters."""
    arguments, extra, omitted = dict(request.parameters), dict[str, Any](), set(refused)
    if any(name in arguments for name in OTHER_LENGTHS):  # Ollama's reads only its own fields
        model, arguments = model.model_copy(update=arguments), {}
    if SEED in arguments:
        arguments[SEED] = request.seed(at)
    if n > 1:
        arguments["n"] = n
    if request.stop:
        arguments["stop"] = list(request.stop)
    if request.grammar:
        extra["grammar"] = request.grammar
    if is_openai(model) and (bound := arguments.get(LENGTH) or model.max_tokens):
        omitted.add(LENGTH)
        # LangChain sends OpenAI's newer name everywhere. Ollama, LM Studio, TGI, llama-cpp-python
        # and older llama.cpp ignore it in silence; Mistral and older vLLM refuse it. They all, and
        # Groq, Together, vLLM and DeepSeek, take `max_tokens`, which OpenAI's and Azure's reasoning
        # models refuse. Strict servers would refuse both names at once.
        host = f".{urlsplit(endpoint_of(model)).hostname or ''}"
        openais = model.use_responses_api or host.endswith((".openai.com", ".azure.com"))
        names = (OPENAIS_LENGTH, LENGTH) if openais else (LENGTH, OPENAIS_LENGTH)
        best = next((name for name in names if name not in refused), "")
        if best == OPENAIS_LENGTH:
            arguments[best] = bound
        elif best:
            extra[best] = bound  # LangChain would rename an argument
    arguments = {name: value for name, value in arguments.items() if name not in omitted}
    if extra:
        # An argument overrides the model's own field of that name, so it takes the field's values.
        body = arguments.get("extra_body") or getattr(model, "extra_body", None) or {}
        arguments["extra_body"] = {**body, **extra}
    update: dict[str, Any] = {
        name: None for name in FIELDS if name in omitted and getattr(model, name, None) is not None
    }
    if "streaming" in type(model).model_fields:
        # LangChain requests a stream's size only at OpenAI's own address; elsewhere this is None.
        if SIZE in omitted or getattr(model, "stream_usage", True) is None:
            update["stream_usage"] = SIZE not in omitted
        if n > 1:  # no stream carries several samples
            arguments["stream"] = False
    messages = _system_as_user(request.messages) if SYSTEM in omitted else list(request.messages)
    return Prepared(model.model_copy(update=update) if update else model, messages, arguments)


def _system_as_user(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Returns a conversation with its system message merged into the first user message."""
    conversation = [HumanMessage(m.content) if m.type == SYSTEM else m for m in messages]
    return merge_message_runs(conversation, chunk_separator="\n\n")


def refused_parameter(error: BaseException, parameters: Collection[str]) -> str:
    """Returns the parameter that a server refuses; empty if its error names none of `parameters`.

    The first parameter that the error names counts. If `top_p` excludes another one, it is `top_p`,
    so `temperature` stays. A bound that is too large is not refused: completions need a bound.
    """
    # Undoes the escapes of JSON in JSON.
    text = f"{error} {getattr(error, 'body', '')}".lower().replace("\\n", "\n")
    if status_of(error) not in STATUSES or not _REFUSAL.search(text):
        return ""
    mentions = [each.lastgroup or "" for each in _MENTION.finditer(text)]
    too_large = _TOO_LARGE.search(text) and not _UNSUPPORTED.search(text)
    bounds = {LENGTH, OPENAIS_LENGTH} if too_large else set()
    mentions = [name for name in mentions if name in parameters and name not in bounds]
    if "top_p" in mentions and _TOGETHER.search(text):
        return "top_p"
    return next(iter(mentions), "")


def _next_omitted(error: Exception, call: Prepared, n: int, omitted: set[str]) -> str:
    """Returns the parameter to omit from the next try of a call for n samples; empty for none."""
    own = {name for name in FIELDS if getattr(call.model, name, None) is not None}
    parameters = own | {*call.arguments, *call.arguments.get("extra_body", {})}
    parameters |= {SYSTEM} & {message.type for message in call.messages}
    parameters |= {SIZE} if getattr(call.model, "stream_usage", None) else set()
    refuses_n = n > 1 and "n" not in omitted and status_of(error) in REFUSES_N
    return refused_parameter(error, parameters - omitted) or ("n" if refuses_n else "")


class _SizeOnce(BaseCallbackHandler):
    """Corrects the token counts of an answer, so that they count once, before any tracer sees them.

    Some servers send the counts so far in every chunk of a stream, and LangChain adds these up, so
    each chunk keeps only its increase. LangChain copies the counts of several samples to every one
    of them, so only the first keeps them.
    """

    run_inline = True

    _counted: UsageMetadata | None = None

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, **_: Any) -> None:
        message = getattr(chunk, "message", None)
        if isinstance(message, AIMessage) and (usage := message.usage_metadata):
            message.usage_metadata = subtract_usage(usage, self._counted)
            self._counted = add_usage(self._counted, message.usage_metadata)

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        for each in response.generations[0][1:]:
            if isinstance(message := getattr(each, "message", None), AIMessage):
                message.usage_metadata = None
