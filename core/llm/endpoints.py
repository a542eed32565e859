"""Opens the chat model that a specifier names.

| specifier | model |
|---|---|
| `local`, `local:smollm2`, `local:PATH.gguf` | llama.cpp inside this process |
| `openai:NAME` | OpenAI, or `$OPENAI_BASE_URL`, with `$OPENAI_API_KEY` |
| `http://HOST:PORT/v1#NAME` | any OpenAI-compatible server, with its key (`llm.specifiers`) |
| `PROVIDER:NAME`, such as `anthropic:NAME` | LangChain's, by the provider's package, with its key |
"""

import os
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr, ValidationError

from thoughtgraph.errors import InputError
from thoughtgraph.llm.connections import endpoint_of
from thoughtgraph.llm.limiter import Rates, shared_limiter
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.prices import FREE
from thoughtgraph.llm.retry import Retry, is_endpoint_failure
from thoughtgraph.llm.specifiers import FORMS, check_specifier, default_specifier, key_for
from thoughtgraph.llm.store import AnswerStore, Replay

if TYPE_CHECKING:
    from thoughtgraph.llm.local import Endpoint
    from thoughtgraph.llm.weights import Progress

LOCAL_TIMEOUT = 600.0
"""Seconds for one answer of the embedded model (ours): others may be decoded before it."""
OPENAI = "https://api.openai.com/v1"
PLACEHOLDER_KEY = "none"
EMBEDDED = "this process"
"""The embedded model's endpoint in errors and in keys of recorded answers."""


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
        cache: The store of answers; in memory when None.
        replay: Whether answers are recorded or replayed.
        rates: The endpoint's rates; from the environment when None. The embedded model has caps of
            its own.
        retry: How failed requests are retried; for 30 s when None.
        progress: Called while weights are assembled or downloaded.
        served_as: The name by which a server's clients know the model; see `ChatPort`.

    Raises:
        InputError: The specifier has no known form, its provider's package or key is missing, or
            `model` is not a model at all.
        ModelUnavailable: The embedded model is not available here.
    """
    if isinstance(model, ChatPort):
        return model
    port = partial(ChatPort, cache=cache, replay=replay, retry=retry, served_as=served_as)
    if isinstance(model, str):
        specifier = model or default_specifier()
        check_specifier(specifier)
        kind, _, rest = specifier.partition(":")
        if kind == "local":
            return _local(rest, port, progress)
        model = _remote(specifier, kind, rest)
    if not isinstance(model, BaseChatModel):
        raise InputError(
            f"a model is no {type(model).__name__}; give a LangChain chat model or a specifier: "
            f"{FORMS}"
        )
    limiter = None if rates is None else shared_limiter(endpoint_of(model), rates)
    return port(model, limiter=limiter)


def _local(name: str, port: "partial[ChatPort]", progress: "Progress | None") -> ChatPort:
    # Loaded for the embedded model only.
    local = import_module("thoughtgraph.llm.local")
    server: Endpoint = local.serve(name or "local", progress)
    chat_class, options = ChatOpenAI, dict[str, Any](timeout=LOCAL_TIMEOUT)
    if server.prompts is not None:
        chat_class = import_module("thoughtgraph.llm.embedded_chat").EmbeddedChat
        options["prompts"] = server.prompts
    rates = Rates(concurrency=None, samples=local.SLOTS, context=local.CONTEXT)
    return port(
        _chat(server.model, server.base_url, server.key, chat_class, **options),
        name=name or "local",
        # Not the address: its port changes, and recorded answers must be found again.
        endpoint=EMBEDDED,
        limiter=shared_limiter(server.base_url, rates),
        timeout=LOCAL_TIMEOUT,
        # llama.cpp refuses more samples than it has slots.
        choices=local.SLOTS,
        price=FREE,
        seeded=True,
        takes_grammar=True,
    )


def _remote(specifier: str, kind: str, rest: str) -> BaseChatModel:
    if kind == "openai":
        # Set here, or LangChain would send the key to $OPENAI_API_BASE if that is set.
        server = os.environ.get("OPENAI_BASE_URL") or OPENAI
        return ChatOpenAI(model=rest, base_url=server, max_retries=0, cache=False)
    if kind not in ("http", "https"):
        return _of_provider(specifier, kind, rest)
    address, _, name = specifier.partition("#")
    return _chat(name, address, key_for(address) or PLACEHOLDER_KEY)


def _chat(
    name: str, address: str, key: str, kind: type[ChatOpenAI] = ChatOpenAI, **more: Any
) -> ChatOpenAI:
    """Returns the model of a server that is not OpenAI's; no key or id for OpenAI goes there."""
    chat = kind(
        model=name,
        base_url=address,
        api_key=SecretStr(key),
        # Set here, or the SDK would take it from $OPENAI_CUSTOM_HEADERS.
        default_headers={"Authorization": f"Bearer {key}"},
        use_responses_api=False,
        max_retries=0,
        cache=False,
        **more,
    )
    chat.root_async_client.organization = chat.root_async_client.project = None
    return chat


def _of_provider(specifier: str, provider: str, name: str) -> BaseChatModel:
    """Returns a model from `init_chat_model`; the provider's package reads its own key."""
    try:
        # The import takes half a second. No retries: the port makes and counts them.
        make = import_module("langchain.chat_models").init_chat_model
        if provider == "ollama":
            # Otherwise LangChain would take an outdated class of langchain-community.
            import_module("langchain_ollama")
        model: BaseChatModel = make(name, model_provider=provider, max_retries=0)
    except Exception as error:
        expected = isinstance(error, ImportError | ValueError | TypeError)
        if not expected and not is_endpoint_failure(error):
            raise
        _refuse(specifier, error)
    # Some packages notice a missing key only when the first request fails. Others take OpenAI's
    # key, which would then go to their own address.
    for field, variable in model.lc_secrets.items():
        key = getattr(model, field, None)
        text = key.get_secret_value() if isinstance(key, SecretStr) else key
        borrowed = text == os.environ.get("OPENAI_API_KEY") and not os.environ.get(variable)
        if field.endswith("api_key") and (not text or borrowed):
            raise InputError(f"{specifier!r} needs a key: set {variable}")
    return model


def _refuse(specifier: str, error: Exception) -> NoReturn:
    """Raises a one-line error in place of one that a provider's package raised."""
    if isinstance(error, ValidationError):
        why = error.errors(include_input=False)[0]["msg"]
    else:
        why = " ".join(str(error).split())
    line = f"model {specifier!r} cannot be used: {why}"
    if isinstance(error, ImportError):
        missing = getattr(error.__cause__ or error, "name", None) or "langchain"
        package = missing.partition(".")[0].replace("_", "-")
        line = f"model {specifier!r} needs the package {package}: `uv pip install {package}`"
    elif why.startswith("Unsupported"):
        line = f"unknown model {specifier!r}; write {FORMS}"
    raise InputError(line) from None  # the package's error may show the key
