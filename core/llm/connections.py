"""A chat model's connections: a pool for each event loop, whose answers are bounded."""

import asyncio
import sys
from collections.abc import AsyncIterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

from httpx2 import AsyncByteStream, Response
from langchain_core.language_models import BaseChatModel

from thoughtgraph.llm.retry import Unacceptable

if TYPE_CHECKING:
    # It takes longer to import than everything else that is needed to check a command line.
    from langchain_openai.chat_models.base import BaseChatOpenAI

LARGEST = 16 << 20
"""Bytes of an answer that are read (ours): 128 samples of 30,000 tokens."""
LARGEST_REFUSAL = 1 << 20
"""Bytes that are read of a page that says what went wrong (ours)."""


def model_name(model: BaseChatModel) -> str:
    """Returns the name a model goes by at its endpoint."""
    names = (getattr(model, name, None) for name in ("model_name", "model", "model_id"))
    named = next((name for name in names if isinstance(name, str) and name), None)
    return named or str(model._llm_type)


def endpoint_of(model: BaseChatModel) -> str:
    """Returns what requests of a model share rates with: its address, else its kind."""
    client = getattr(model, "root_async_client", None)
    fields = getattr(model, "base_url", None), getattr(model, "openai_api_base", None)
    address = next(filter(None, (getattr(client, "base_url", None), *fields)), None)
    if not address:
        return str(model._llm_type)
    scheme, _, rest = str(address).rpartition("://")
    host, slash, path = rest.partition("/")
    # Whoever puts a password into the address does not want to read it in an error.
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}".rstrip("/")


def is_openai(model: BaseChatModel) -> "TypeGuard[BaseChatOpenAI]":
    """Returns whether a model speaks OpenAI's protocol, by LangChain's class for it."""
    # A model of a class is at hand only where the class has been imported.
    module = sys.modules.get("langchain_openai.chat_models.base")
    return module is not None and isinstance(model, module.BaseChatOpenAI)


async def connected(model: BaseChatModel, own: dict[Any, BaseChatModel]) -> BaseChatModel:
    """Returns a model with connections of the running event loop.

    LangChain's OpenAI models share one pool of connections in the whole process, and a connection
    works only in the event loop it was opened in: the second `asyncio.run` of a program would find
    the pool full of dead ones. A model that was given an HTTP client, or is no OpenAI model, is
    returned as it is.

    Args:
        own: What was returned for the last pool, which is used again.
    """
    if not is_openai(model) or model.http_async_client is not None:
        return model
    client = await _client(asyncio.get_running_loop())
    if (made := own.get(client)) is None:
        root = model.root_async_client.with_options(http_client=client)
        # The copy takes what is unset from the environment, meant for OpenAI or not.
        root.organization = model.root_async_client.organization
        root.project = model.root_async_client.project
        update = {"root_async_client": root, "async_client": root.chat.completions}
        own.clear()
        made = own[client] = model.model_copy(update=update)
    return made


@cache
def _pools() -> dict[asyncio.AbstractEventLoop, tuple[Any, AsyncIterator[None]]]:
    """Returns the open clients of the process by their loops, whose end alone can close them."""
    return {}


async def _client(loop: asyncio.AbstractEventLoop) -> Any:
    """Returns the pool that all models of an event loop share."""
    pools = _pools()
    if loop in pools:
        return pools[loop][0]
    # Of the SDK's two kinds the one on aiohttp: the other asks every idle connection, twice a
    # request, whether its server has closed it.
    client = import_module("openai").DefaultAioHttpClient(
        headers={"Accept-Encoding": "identity"}, event_hooks={"response": [_check]}
    )

    async def keep() -> AsyncIterator[None]:
        # A loop that ends closes its async generators.
        try:
            yield
        finally:
            pools.pop(loop, None)
            await client.aclose()

    for ended in [each for each in pools if each.is_closed()]:
        pools.pop(ended, None)  # it did not close its generators
    pools[loop] = client, (keeper := keep())
    await anext(keeper)
    return client


async def _check(response: Response) -> None:
    """Bounds the body of an answer, which is read later, and refuses what may not be followed."""
    if response.has_redirect_location:  # an endpoint does not choose whom we ask
        here, there = response.url, response.url.join(response.headers["Location"])
        if (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port):
            raise Unacceptable(
                "it redirects to another server; if you trust that one, name its address instead, "
                f"up to /v1: {there}"
            )
    # Of a packed answer nobody knows how large it becomes.
    encoding = response.headers.pop("Content-Encoding", "").strip().lower()
    if response.is_success and encoding not in ("", "identity"):
        raise Unacceptable(f"the answer is packed as {encoding[:20]!r}, which was not asked for")
    response.stream = _Body(response)


class _Body(AsyncByteStream):
    """A body of which no more is read than so many bytes."""

    def __init__(self, response: Response) -> None:
        assert isinstance(response.stream, AsyncByteStream), "an asynchronous client gets these"
        self._body, self._refusal = response.stream, not response.is_success

    async def aclose(self) -> None:
        await self._body.aclose()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        most, read = LARGEST_REFUSAL if self._refusal else LARGEST, 0
        async for piece in self._body:
            read += len(piece)
            if read > most and self._refusal:
                return  # its beginning says what went wrong
            if read > most:
                raise Unacceptable(f"the answer has more than {most >> 10} KiB")
            yield piece
