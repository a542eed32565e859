"""Model specifiers: from a short text to a chat model.

| specifier | model |
|---|---|
| `local`, `local:smollm2`, `local:PATH.gguf` | llama.cpp inside this process |
| `openai:NAME` | OpenAI, or `$OPENAI_BASE_URL`, with `$OPENAI_API_KEY` |
| `http://HOST:PORT/v1#NAME` | any OpenAI-compatible server, with its key (`llm.api_keys`) |
| `PROVIDER:NAME`, such as `anthropic:NAME` | LangChain's model, with the provider's package, key |
"""

import os
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from thoughtgraph.errors import InputError
from thoughtgraph.llm.api_keys import key_for
from thoughtgraph.llm.connections import endpoint_of
from thoughtgraph.llm.limiter import Rates, shared_limiter
from thoughtgraph.llm.port import ChatPort, Replay
from thoughtgraph.llm.prices import FREE
from thoughtgraph.llm.retry import Retry, ServedRetry
from thoughtgraph.llm.specifiers import FORMS, check_specifier, default_specifier, takes_grammar
from thoughtgraph.llm.store import AnswerStore

if TYPE_CHECKING:
    from thoughtgraph.llm.local import Endpoint
    from thoughtgraph.llm.weights import Progress

LOCAL_TIMEOUT = 600.0
"""Seconds the embedded model has for one answer (ours): others may be decoded before it."""
OPENAI = "https://api.openai.com/v1"
PLACEHOLDER_KEY = "none"
EMBEDDED = "this process"
"""What the embedded model's requests are sent to, in errors and keys of recorded answers."""


def port_for(
    model: str | BaseChatModel | ChatPort,
    *,
    cache: AnswerStore | None = None,
    replay: Replay = "off",
    rates: Rates | None = None,
    retry: Retry | None = None,
    progress: "Progress | None" = None,
    served_as: str = "",
) -> ChatPort:
    """Returns the port to a model.

    Args:
        model: A specifier (empty: the default), a chat model, or a port, which is returned as is.
        cache: Where answers are kept; in memory when None.
        replay: Whether answers are recorded or replayed.
        rates: What the endpoint allows; from the environment when None. The embedded model has a
            cap of its own.
        retry: When failed requests are repeated; for 30 s when None.
        progress: Told about weights that are assembled or downloaded.
        served_as: The name by which a server's clients know the model. Errors then say no more than
            this and the kind of failure; the rest is logged.

    Raises:
        InputError: The specifier has no known form, its provider's package or key is missing, or it
            is no model at all.
        ModelUnavailable: The embedded model cannot be had here.
    """
    if isinstance(model, ChatPort):
        return model
    if not isinstance(model, str | BaseChatModel):
        raise InputError(
            f"a model is no {type(model).__name__}; give a LangChain chat model or a specifier: "
            f"{FORMS}"
        )
    if served_as:
        retry = ServedRetry(**asdict(retry or Retry()), name=served_as)
    specifier = "" if isinstance(model, BaseChatModel) else model or default_specifier()
    if specifier:
        check_specifier(specifier)
    held = takes_grammar(specifier)
    port = partial(ChatPort, cache=cache, replay=replay, retry=retry, takes_grammar=held)
    kind, _, rest = specifier.partition(":")
    if kind == "local":
        made = _local(rest, port, progress)
    else:
        chat = model if isinstance(model, BaseChatModel) else _remote(specifier, kind, rest)
        limiter = None if rates is None else shared_limiter(endpoint_of(chat), rates)
        made = port(chat, limiter=limiter)
    made.name = served_as or made.name
    return made


def _local(name: str, port: "partial[ChatPort]", progress: "Progress | None") -> ChatPort:
    # Only who asks for the embedded model loads what serves it.
    server = import_module("thoughtgraph.llm.local").serve_named(name or "local", progress)
    rates = Rates(concurrency=None, samples=server.samples, context=server.context)
    return port(
        _embedded(server),
        name=name or "local",
        # Not the address: its port is another one each time, and a recorded run is to be found.
        endpoint=EMBEDDED,
        limiter=shared_limiter(server.base_url, rates),
        timeout=LOCAL_TIMEOUT,
        # llama.cpp refuses more samples than it decodes together.
        choices=server.samples,
        price=FREE,
        seeded=True,
    )


def _embedded(server: "Endpoint") -> ChatOpenAI:
    given: dict[str, Any] = {"timeout": LOCAL_TIMEOUT}
    if server.prompts is None:
        return _chat(server.model, server.base_url, server.key, **given)
    kind = import_module("thoughtgraph.llm.embedded_chat").EmbeddedChat
    return _chat(server.model, server.base_url, server.key, kind, prompts=server.prompts, **given)


def _remote(specifier: str, kind: str, rest: str) -> BaseChatModel:
    if kind == "openai":
        server = os.environ.get("OPENAI_BASE_URL")
        return ChatOpenAI(
            model=rest,
            # Named here, or LangChain would send the key to $OPENAI_API_BASE if that is set.
            base_url=server or OPENAI,
            max_retries=0,
            cache=False,
        )
    if kind not in ("http", "https"):
        # LangChain's `init_chat_model` takes half a second to import.
        provider_models = import_module("thoughtgraph.llm.provider_models")
        return cast("BaseChatModel", provider_models.provider_model(specifier, FORMS))
    address, _, name = specifier.partition("#")
    return _chat(name, address, key_for(address) or PLACEHOLDER_KEY)


def _chat(
    name: str, address: str, key: str, kind: type[ChatOpenAI] = ChatOpenAI, **more: Any
) -> ChatOpenAI:
    """Returns the model of a server that is not OpenAI's, and learns nothing meant for OpenAI."""
    chat = kind(
        model=name,
        base_url=address,
        api_key=SecretStr(key),
        # Named here, or the SDK would take it from $OPENAI_CUSTOM_HEADERS.
        default_headers={"Authorization": f"Bearer {key}"},
        use_responses_api=False,
        max_retries=0,
        cache=False,
        **more,
    )
    chat.root_async_client.organization = chat.root_async_client.project = None
    return chat
