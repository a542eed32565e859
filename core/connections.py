"""What is known of a chat model from outside: its name, its address, its keys, its connections."""

import asyncio
from collections.abc import AsyncIterator

import openai
from langchain_core.language_models import BaseChatModel
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import SecretStr

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


def secrets_of(model: BaseChatModel) -> list[str]:
    """Returns the keys a model holds, so that no message shows them."""
    values = (getattr(model, name, None) for name in type(model).model_fields)
    texts = (value.get_secret_value() for value in values if isinstance(value, SecretStr))
    return [text for text in texts if len(text) >= SHORTEST_SECRET]


class Connections:
    """A chat model with connections of its own in every event loop.

    LangChain's OpenAI models share one pool of connections in the whole process, and a connection
    works only in the event loop it was opened in: the second `asyncio.run` of a program would find
    the pool full of dead ones. A model that was given an HTTP client of its own, or is no OpenAI
    model, is used as it is.

    Args:
        model: The chat model.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model
        self._kept: dict[asyncio.AbstractEventLoop, tuple[BaseChatModel, AsyncIterator[None]]] = {}

    async def model(self) -> BaseChatModel:
        """Returns the model for the running event loop."""
        loop = asyncio.get_running_loop()
        if (kept := self._kept.get(loop)) is not None:
            return kept[0]
        model = self._model
        if not isinstance(model, BaseChatOpenAI) or model.http_async_client is not None:
            return model
        for old in [old for old in self._kept if old.is_closed()]:
            del self._kept[old]
        client = openai.DefaultAsyncHttpxClient()
        root = model.root_async_client.with_options(http_client=client)
        # The copy takes what is unset from the environment, meant for OpenAI or not.
        root.organization = model.root_async_client.organization
        root.project = model.root_async_client.project
        own = model.model_copy(
            update={"root_async_client": root, "async_client": root.chat.completions}
        )
        self._kept[loop] = own, (keeper := self._keep(loop, client))
        await anext(keeper)
        return own

    async def _keep(
        self, loop: asyncio.AbstractEventLoop, client: openai.DefaultAsyncHttpxClient
    ) -> AsyncIterator[None]:
        """Closes the connections when the loop ends, which closes its async generators."""
        try:
            yield
        finally:
            self._kept.pop(loop, None)
            await client.aclose()
