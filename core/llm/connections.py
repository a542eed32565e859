"""What is known of a chat model from outside: its name, its address, its keys, its connections."""

import asyncio
import sys
from collections.abc import AsyncIterator, Collection, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

from httpx2 import URL, Response
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from thoughtgraph.llm.failures import Unacceptable
from thoughtgraph.llm.response_bodies import bound
from thoughtgraph.llm.store import digest

if TYPE_CHECKING:
    # They take longer to import than everything else that is needed to check a command line.
    from langchain_openai.chat_models.base import BaseChatOpenAI
    from openai import DefaultAioHttpClient as AsyncClient

LENGTH = "max_tokens"
"""The longest completion, in OpenAI's words and most others'."""
OTHER_LENGTHS = ("max_output_tokens", "num_predict")
"""What Google's and Ollama's models call it."""
SHORTEST_SECRET = 8
"""Letters a key must have to be hidden in messages (ours): `none` and `EMPTY` are placeholders."""


def model_name(model: BaseChatModel) -> str:
    """Returns the name a model goes by at its endpoint."""
    for field in ("model_name", "model", "model_id"):
        name = getattr(model, field, None)
        if isinstance(name, str) and name:
            return name
    return str(model._llm_type)


def endpoint_of(model: BaseChatModel) -> str:
    """Returns what requests of a model share rates with: its address, else its kind."""
    client = getattr(model, "root_async_client", None)
    address = (
        getattr(client, "base_url", None)
        or getattr(model, "base_url", None)
        or getattr(model, "openai_api_base", None)
    )
    if not address:
        return str(model._llm_type)
    scheme, _, rest = str(address).rpartition("://")
    host, slash, path = rest.partition("/")
    # Whoever puts a password into the address does not want to read it in an error.
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}".rstrip("/")


def identity(model: BaseChatModel, name: str, endpoint: str) -> str:
    """Returns what stands for a model in the keys of recorded answers."""
    parameters = model._identifying_params
    return digest(
        {"name": name, "endpoint": endpoint, "type": model._llm_type, "parameters": parameters}
    )


def provider_of(model: BaseChatModel) -> str:
    """Returns who serves a model, in LangChain's words, such as `anthropic`; empty if unknown."""
    return str(model._get_ls_params().get("ls_provider", ""))


def secrets_of(model: BaseChatModel) -> list[str]:
    """Returns the keys a model holds, so that no message shows them."""
    values = (getattr(model, name, None) for name in type(model).model_fields)
    texts = (value.get_secret_value() for value in values if isinstance(value, SecretStr))
    return [text for text in texts if len(text) >= SHORTEST_SECRET]


def supported(parameters: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """Returns the parameters that are given, by the model's own names; what it lacks is left out.

    Args:
        parameters: `temperature`, `max_tokens` and the like.
        fields: The fields of the model's class.
    """
    known = {name: value for name, value in parameters.items() if value is not None}
    if LENGTH in known and LENGTH not in fields:
        length = known.pop(LENGTH)
        known.update((name, length) for name in OTHER_LENGTHS if name in fields)
    return {name: value for name, value in known.items() if name in fields}


def length_in(known: Mapping[str, Any]) -> int | None:
    """Returns the tokens of the longest completion that understood parameters ask for."""
    return next((known[name] for name in (LENGTH, *OTHER_LENGTHS) if name in known), None)


def arguments_of(
    model: BaseChatModel, parameters: Mapping[str, Any]
) -> tuple[BaseChatModel, dict[str, Any]]:
    """Returns the model to call, and its arguments: Ollama's reads parameters off itself alone."""
    if any(name in parameters for name in OTHER_LENGTHS):
        return model.model_copy(update=dict(parameters)), {}
    return model, dict(parameters)


def with_fields(
    model: BaseChatModel, arguments: Mapping[str, Any], **fields: Any
) -> dict[str, Any]:
    """Returns the arguments of a call whose request has further fields, of the server's own."""
    # An argument goes before the model's own field of that name, and would hide it.
    own = arguments.get("extra_body") or getattr(model, "extra_body", None) or {}
    return {**arguments, "extra_body": {**own, **fields}}


def is_openai(model: BaseChatModel) -> "TypeGuard[BaseChatOpenAI]":
    """Returns whether a model speaks OpenAI's protocol, by LangChain's class for it."""
    # A model of a class is at hand only where the class has been imported.
    module = sys.modules.get("langchain_openai.chat_models.base")
    return module is not None and isinstance(model, module.BaseChatOpenAI)


class Connections:
    """A chat model with connections of its own in every event loop.

    LangChain's OpenAI models share one pool of connections in the whole process, and a connection
    works only in the event loop it was opened in: the second `asyncio.run` of a program would find
    the pool full of dead ones. Here all models of one event loop share a pool, which is closed with
    the loop. A model that was given an HTTP client, or is no OpenAI model, is used as it is.

    Args:
        model: The chat model.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model
        self._own: dict[asyncio.AbstractEventLoop, tuple[AsyncClient, BaseChatModel]] = {}

    async def model(self) -> BaseChatModel:
        """Returns the model for the running event loop."""
        model = self._model
        if not is_openai(model) or model.http_async_client is not None:
            return model
        loop = asyncio.get_running_loop()
        client = await shared_pools().client(loop)
        if (own := self._own.get(loop)) is not None and own[0] is client:
            return own[1]
        _drop_closed(self._own)
        root = model.root_async_client.with_options(http_client=client)
        # The copy takes what is unset from the environment, meant for OpenAI or not.
        root.organization = model.root_async_client.organization
        root.project = model.root_async_client.project
        copy = model.model_copy(
            update={"root_async_client": root, "async_client": root.chat.completions}
        )
        self._own[loop] = client, copy
        return copy


class Pools:
    """The open connections of each event loop.

    They belong to the loop, not to whoever uses them: only its end can close them in order.
    """

    def __init__(self) -> None:
        self._open: dict[asyncio.AbstractEventLoop, tuple[AsyncClient, AsyncIterator[None]]] = {}

    async def client(self, loop: asyncio.AbstractEventLoop) -> "AsyncClient":
        """Returns the client of a loop, which is closed when the loop ends."""
        if (pool := self._open.get(loop)) is not None:
            return pool[0]
        _drop_closed(self._open)
        plain = {"Accept-Encoding": "identity"}
        # Of the SDK's two kinds the one on aiohttp: the other asks every idle connection, twice a
        # request, whether its server has closed it.
        client: AsyncClient = import_module("openai").DefaultAioHttpClient(
            headers=plain, event_hooks={"response": [_stay, bound]}
        )
        self._open[loop] = client, (keeper := self._keep(loop, client))
        await anext(keeper)
        return client

    async def _keep(
        self, loop: asyncio.AbstractEventLoop, client: "AsyncClient"
    ) -> AsyncIterator[None]:
        # A loop that ends closes its async generators.
        try:
            yield
        finally:
            self._open.pop(loop, None)
            await client.aclose()


@cache
def shared_pools() -> Pools:
    """Returns the pools that all models of the process share, as they share the rates."""
    return Pools()


async def _stay(response: Response) -> None:
    """Refuses to be sent to another server: an endpoint does not choose whom we ask.

    Raises:
        Unacceptable: It tries to.
    """
    if response.has_redirect_location:
        here, there = response.url, response.url.join(response.headers["Location"])
        if _origin(here) != _origin(there):
            raise Unacceptable(f"it points to {there}; name that address if you trust it")


def _origin(url: URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _drop_closed(kept: dict[asyncio.AbstractEventLoop, Any]) -> None:
    """Forgets the loops that ended without closing their async generators."""
    for loop in list(kept):
        if loop.is_closed():
            kept.pop(loop, None)
