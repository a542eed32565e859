"""One call of a chat model, made again without each parameter that its server refuses."""

import logging
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, merge_message_runs
from langchain_core.messages.ai import UsageMetadata, add_usage, subtract_usage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.llm.connections import endpoint_of, is_openai
from thoughtgraph.llm.exchange import DRAW, ROLE, Request, read, sizes
from thoughtgraph.llm.meter import LABEL, tell
from thoughtgraph.llm.refused import (
    INSTEAD,
    LENGTH,
    OPENAIS_LENGTH,
    OTHER_LENGTHS,
    SEED,
    SIZE,
    STREAM,
    SYSTEM,
    left_out,
)
from thoughtgraph.llm.store import Answer

FIELDS = ("stop", "temperature", "top_p", SEED, LENGTH)
"""Parameters that may also be fields of the model."""


class Prepared(NamedTuple):
    """A call without what its server refuses."""

    model: BaseChatModel
    messages: list[BaseMessage]
    arguments: dict[str, Any]


async def send(
    model: BaseChatModel, request: Request, at: int, n: int, refused: set[str], place: str
) -> Answer:
    """Makes a call, again without what its server refuses, and reads its answer.

    Args:
        model: The model, with connections of the running event loop.
        request: What is asked.
        at: Index, within the request, of the first sample.
        n: How many samples the call asks for.
        refused: What the server is known to refuse. What this call shows is added, and told once,
            when the server has answered: a request may be refused for another reason.
        place: Names the model and its endpoint in the log.
    """
    openai, tried, draw = is_openai(model), set(refused), request.draw
    told = {
        **request.labels,
        ROLE: request.role,
        DRAW: None if draw is None else list(draw._replace(first=draw.first + at)),
        f"{LABEL}sample": at,
    }
    while True:
        call = prepared(model, request, at, n, tried)
        try:
            result = await call.model.agenerate(
                [call.messages],
                callbacks=callbacks(request, once=n > 1 or openai),
                metadata=told,
                tags=[f"role:{request.role}"],
                **call.arguments,
            )
        except Exception as error:
            own = {name for name in FIELDS if getattr(call.model, name, None) is not None}
            sent = own | {*call.arguments, *call.arguments.get("extra_body", {})}
            sent |= {SYSTEM} & {message.type for message in call.messages}
            name = left_out(error, sent, n, tried)
            if not name:
                raise
            tried.add(name)
            continue
        answer = read(result, request, n, openai=openai)
        for name in sorted(tried - refused - {SIZE, STREAM}):
            line = "%s: the server refuses %r: it is left out from now on%s"
            tell(logging.WARNING, request.labels, line, place, name, INSTEAD.get(name, ""))
        refused |= tried
        return answer


def prepared(
    model: BaseChatModel, request: Request, at: int, n: int, refused: set[str]
) -> Prepared:
    """Returns a call without what is refused."""
    arguments, extra, unset = dict(request.parameters), dict[str, Any](), set(refused)
    if any(name in arguments for name in OTHER_LENGTHS):  # Ollama's reads them off itself alone
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
        unset.add(LENGTH)
        # LangChain sends OpenAI's newer name everywhere. Ollama, LM Studio, TGI, llama-cpp-python
        # and older llama.cpp ignore it in silence; Mistral and older vLLM refuse it. They all, and
        # Groq, Together, vLLM and DeepSeek, take `max_tokens`, which OpenAI's and Azure's reasoning
        # models refuse. Both names at once would be refused by strict servers.
        host = f".{urlsplit(endpoint_of(model)).hostname or ''}"
        openais = model.use_responses_api or host.endswith((".openai.com", ".azure.com"))
        names = (OPENAIS_LENGTH, LENGTH) if openais else (LENGTH, OPENAIS_LENGTH)
        best = next((name for name in names if name not in refused), "")
        if best == OPENAIS_LENGTH:
            arguments[best] = bound
        elif best:
            extra[best] = bound  # LangChain would rename an argument
    arguments = {name: value for name, value in arguments.items() if name not in unset}
    if extra:
        # An argument goes before the model's own field of that name, and would hide it.
        own = arguments.get("extra_body") or getattr(model, "extra_body", None) or {}
        arguments["extra_body"] = {**own, **extra}
    update: dict[str, Any] = {
        name: None for name in FIELDS if name in unset and getattr(model, name, None) is not None
    }
    if "streaming" in type(model).model_fields:
        # LangChain asks OpenAI's own address alone for a size; elsewhere it leaves this unset.
        if SIZE not in unset and getattr(model, "stream_usage", True) is None:
            update["stream_usage"] = True
        if n > 1 or STREAM in unset:  # no stream carries several samples
            arguments[STREAM] = False
    messages = list(request.messages)
    if SYSTEM in unset:
        users = [HumanMessage(m.content) if m.type == SYSTEM else m for m in messages]
        messages = merge_message_runs(users, chunk_separator="\n\n")
    return Prepared(model.model_copy(update=update) if update else model, messages, arguments)


def callbacks(request: Request, *, once: bool) -> BaseCallbackManager | list[Any] | None:
    """Returns the running graph's callbacks: traces and token streams nest under its node.

    Args:
        request: What is asked.
        once: Whether the model may tell the size of its answer more than once.
    """
    config = var_child_runnable_config.get()
    given = config.get("callbacks") if config else None
    if not once:
        return given
    own = _SizeOnce(request)
    if not isinstance(given, BaseCallbackManager):
        return [own, *(given or ())]
    manager = given.copy()
    manager.handlers.insert(0, own)
    return manager


class _SizeOnce(BaseCallbackHandler):
    """Tells the size of an answer once, before any tracer sees it.

    LangChain's OpenAI models write the size of several samples on every one of them, so that
    LangSmith adds it up n times, and the model's name on none, so that LangChain's own counter
    passes them over: it is told on the first. Some servers tell the size so far in every chunk of a
    stream, and LangChain adds that up: each chunk keeps what it tells beyond those before it.
    """

    run_inline = True

    def __init__(self, request: Request) -> None:
        self._request = request
        self._told: UsageMetadata | None = None

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, **_: Any) -> None:
        message = getattr(chunk, "message", None)
        if isinstance(message, AIMessage) and (usage := message.usage_metadata):
            message.usage_metadata = subtract_usage(usage, self._told)
            self._told = add_usage(self._told, message.usage_metadata)

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        generations = response.generations[0]
        messages = [each.message for each in generations if isinstance(each, ChatGeneration)]
        own = [each for each in messages if isinstance(each, AIMessage)]
        if len(own) < 2:
            return
        first = own[0]
        if told := first.usage_metadata:
            size = sizes(response, self._request, self._request.texts(generations))
            first.usage_metadata = {
                **told,
                "input_tokens": size[0],
                "output_tokens": size[1],
                "total_tokens": sum(size),
            }
        first.response_metadata = {**(response.llm_output or {}), **first.response_metadata}
        for message in own[1:]:
            message.usage_metadata = None
