"""Connections of chat models: one pool for each event loop, with bounded response bodies."""

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
    # This import takes longer than all the others that checking a command line requires.
    from langchain_openai.chat_models.base import BaseChatOpenAI

LARGEST = 16 << 20
"""Largest answer that is read, in bytes (ours): 128 samples of 30,000 tokens."""
LARGEST_REFUSAL = 1 << 20
"""Bytes of an error page that are read (ours)."""


def model_name(model: BaseChatModel) -> str:
    """Returns a model's name at its endpoint; LangChain's type of the model if it has none."""
    names = (getattr(model, name, None) for name in ("model_name", "model", "model_id"))
    first = next((name for name in names if isinstance(name, str) and name), None)
    return first or str(model._llm_type)


def endpoint_of(model: BaseChatModel) -> str:
    """Returns the name under which requests share rates: the model's address, else its type."""
    client = getattr(model, "root_async_client", None)
    fields = getattr(model, "base_url", None), getattr(model, "openai_api_base", None)
    address = next(filter(None, (getattr(client, "base_url", None), *fields)), None)
    if not address:
        return str(model._llm_type)
    scheme, _, rest = str(address).rpartition("://")
    host, slash, path = rest.partition("/")
    # The address may hold a password, which no error may show.
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}".rstrip("/")


def is_openai(model: BaseChatModel) -> "TypeGuard[BaseChatOpenAI]":
    """Returns whether a model is of LangChain's class for OpenAI's protocol."""
    # The import is slow, and without it no object can be of this class.
    module = sys.modules.get("langchain_openai.chat_models.base")
    return module is not None and isinstance(model, module.BaseChatOpenAI)


async def connected(model: BaseChatModel, copies: dict[Any, BaseChatModel]) -> BaseChatModel:
    """Returns a model that uses the connection pool of the running event loop.

    LangChain's OpenAI models share one connection pool in the whole process, but a connection works
    only in the event loop that opened it: the second `asyncio.run` of a program would find the pool
    full of dead connections. A model with an HTTP client of its own, or of another class, is
    returned unchanged.

    Args:
        copies: Holds the copy of the model for the last pool, to be reused.
    """
    if not is_openai(model) or model.http_async_client is not None:
        return model
    client = await _client(asyncio.get_running_loop())
    if (copy := copies.get(client)) is None:
        root = model.root_async_client.with_options(http_client=client)
        # with_options fills unset values from the environment, even those meant for OpenAI only.
        root.organization = model.root_async_client.organization
        root.project = model.root_async_client.project
        update = {"root_async_client": root, "async_client": root.chat.completions}
        copies.clear()
        copy = copies[client] = model.model_copy(update=update)
    return copy


@cache
def _pools() -> dict[asyncio.AbstractEventLoop, tuple[Any, AsyncIterator[None]]]:
    """Returns the process's open clients by event loop; only the end of its loop closes one."""
    return {}


async def _client(loop: asyncio.AbstractEventLoop) -> Any:
    """Returns the HTTP client, and so the pool, that all models of an event loop share."""
    pools = _pools()
    if loop in pools:
        return pools[loop][0]
    # The SDK's client on aiohttp: its other one checks, twice a request, whether the server has
    # closed any of the idle connections.
    client = import_module("openai").DefaultAioHttpClient(
        headers={"Accept-Encoding": "identity"}, event_hooks={"response": [_check]}
    )

    async def close_with_loop() -> AsyncIterator[None]:
        # A loop closes its async generators when it ends.
        try:
            yield
        finally:
            pools.pop(loop, None)
            await client.aclose()

    for ended in [each for each in pools if each.is_closed()]:
        pools.pop(ended, None)  # such a loop did not close its generators
    pools[loop] = client, (closer := close_with_loop())
    await anext(closer)
    return client


async def _check(response: Response) -> None:
    """Bounds the body, which is read later; refuses redirects elsewhere and compressed answers."""
    if response.has_redirect_location:  # an endpoint must not choose another server
        source, target = response.url, response.url.join(response.headers["Location"])
        if (source.scheme, source.host, source.port) != (target.scheme, target.host, target.port):
            raise Unacceptable(
                "it redirects to another server; if you trust that one, name its address instead, "
                f"up to /v1: {target}"
            )
    # A compressed answer may unpack to any size.
    encoding = response.headers.pop("Content-Encoding", "").strip().lower()
    if response.is_success and encoding not in ("", "identity"):
        raise Unacceptable(f"the answer is packed as {encoding[:20]!r}, which was not asked for")
    response.stream = _Body(response)


class _Body(AsyncByteStream):
    """A response body that is read up to a limit in bytes."""

    def __init__(self, response: Response) -> None:
        assert isinstance(response.stream, AsyncByteStream), "an asynchronous client gets these"
        self._body, self._is_error = response.stream, not response.is_success

    async def aclose(self) -> None:
        await self._body.aclose()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        limit, size = LARGEST_REFUSAL if self._is_error else LARGEST, 0
        async for piece in self._body:
            size += len(piece)
            if size > limit and self._is_error:
                return  # the beginning of an error page is enough
            if size > limit:
                raise Unacceptable(f"the answer has more than {limit >> 10} KiB")
            yield piece
