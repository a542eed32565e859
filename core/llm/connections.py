"""A chat model's connections: a pool for each event loop, whose answers are bounded.

A client builds objects of all that it is sent. A mebibyte of `{},{},…` keeps it busy for seconds,
so what is too large, or has more parts than were asked for, is refused before it is read.
"""

import asyncio
import json
import re
import sys
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

from httpx2 import AsyncByteStream, Response
from langchain_core.language_models import BaseChatModel

from thoughtgraph.llm.retry import Unacceptable

if TYPE_CHECKING:
    # They take longer to import than everything else that is needed to check a command line.
    from langchain_openai.chat_models.base import BaseChatOpenAI
    from openai import DefaultAioHttpClient as AsyncClient

LARGEST = 64 << 20
"""Bytes of an answer that are read (ours): 128 samples of 100,000 tokens."""
LARGEST_REFUSAL = 1 << 20
"""Bytes that are read of a page that says what went wrong (ours)."""
LARGEST_UNPACKED = 8 << 20
"""Bytes that are unpacked of an answer that is compressed although it was not to be (ours): a
thousand of them cost its sender one."""
AT_ONCE = 16 << 10
"""Bytes that are handed on before others have their turn."""
PACKED = ("gzip", "x-gzip", "deflate")
"""Encodings that are understood beside plain ones, whatever packages are installed."""
MOST_VALUES, VALUES_A_SAMPLE = 2_000, 100
"""JSON values allowed outside the samples (ours): its usage, or how it fails; and for each sample
(OpenAI sends 20), or each token of one that is streamed."""
MOST_TOKENS = 100_000
"""Tokens of a sample where the request does not say."""
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*+["\\]?')
_LENGTHS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


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


@dataclass
class Connected:
    """A chat model with connections of its own in every event loop.

    LangChain's OpenAI models share one pool of connections in the whole process, and a connection
    works only in the event loop it was opened in: the second `asyncio.run` of a program would find
    the pool full of dead ones. Here all models of one event loop share a pool, which is closed with
    the loop. A model that was given an HTTP client, or is no OpenAI model, is used as it is.
    """

    _model: BaseChatModel
    _own: "dict[asyncio.AbstractEventLoop, tuple[AsyncClient, BaseChatModel]]" = field(
        default_factory=dict
    )

    async def model(self) -> BaseChatModel:
        """Returns the model for the running event loop."""
        model = self._model
        if not is_openai(model) or model.http_async_client is not None:
            return model
        loop = asyncio.get_running_loop()
        client = await _client(loop)
        own = self._own.get(loop)
        if own is None or own[0] is not client:
            _drop_closed(self._own)
            root = model.root_async_client.with_options(http_client=client)
            # The copy takes what is unset from the environment, meant for OpenAI or not.
            root.organization = model.root_async_client.organization
            root.project = model.root_async_client.project
            update = {"root_async_client": root, "async_client": root.chat.completions}
            own = self._own[loop] = client, model.model_copy(update=update)
        return own[1]


@cache
def _pools() -> "dict[asyncio.AbstractEventLoop, tuple[AsyncClient, AsyncIterator[None]]]":
    """Returns the open clients of the process by their loops, whose end alone can close them."""
    return {}


async def _client(loop: asyncio.AbstractEventLoop) -> "AsyncClient":
    if (pool := _pools().get(loop)) is not None:
        return pool[0]
    _drop_closed(_pools())
    # Of the SDK's two kinds the one on aiohttp: the other asks every idle connection, twice a
    # request, whether its server has closed it.
    client: AsyncClient = import_module("openai").DefaultAioHttpClient(
        headers={"Accept-Encoding": "identity"}, event_hooks={"response": [_check]}
    )

    async def keep() -> AsyncIterator[None]:
        # A loop that ends closes its async generators.
        try:
            yield
        finally:
            _pools().pop(loop, None)
            await client.aclose()

    _pools()[loop] = client, (keeper := keep())
    await anext(keeper)
    return client


def _drop_closed(kept: dict[asyncio.AbstractEventLoop, Any]) -> None:
    """Forgets the loops that ended without closing their async generators."""
    for loop in [each for each in kept if each.is_closed()]:
        kept.pop(loop, None)


async def _check(response: Response) -> None:
    """Bounds the body of an answer, which is read later, and refuses what may not be followed."""
    if response.has_redirect_location:  # an endpoint does not choose whom we ask
        here, there = response.url, response.url.join(response.headers["Location"])
        if (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port):
            raise Unacceptable(f"it points to {there}; name that address if you trust it")
    assert isinstance(response.stream, AsyncByteStream), "an asynchronous client gets these"
    encoding = response.headers.pop("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", *PACKED):
        raise Unacceptable(f"the answer is packed as {encoding[:20]!r}, which was not asked for")
    response.stream = _Body(response, response.stream, packed=encoding in PACKED)


class _Body(AsyncByteStream):
    """A body of which no more is read than so many bytes, and so many values of JSON."""

    def __init__(self, response: Response, body: AsyncByteStream, *, packed: bool) -> None:
        self._body, self._refusal = body, not response.is_success
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None
        most = LARGEST_UNPACKED if packed else LARGEST
        self._most = LARGEST_REFUSAL if self._refusal else most
        asked: Any = None
        with suppress(ValueError, RecursionError):
            asked = json.loads(response.request.content)
        self._values: float = MOST_VALUES
        if isinstance(asked, dict):
            tokens = next((asked[name] for name in _LENGTHS if asked.get(name)), MOST_TOKENS)
            parts = (asked.get("n") or 1) + (tokens if asked.get("stream") else 0)
            self._values += VALUES_A_SAMPLE * parts
            if asked.get("logprobs"):  # of somebody's own model: some hundreds for each token
                self._values = float("inf")

    async def aclose(self) -> None:
        await self._body.aclose()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read, values = 0, ValueCounter()
        async for piece in self._pieces():
            read += len(piece)
            if read > self._most and self._refusal:
                return  # its beginning says what went wrong
            if read > self._most:
                raise Unacceptable(f"the answer has more than {self._most >> 10} KiB")
            values.read(piece)
            if values.count > self._values and not self._refusal:
                raise Unacceptable("the answer holds more than was asked for")
            yield piece
            await asyncio.sleep(0)

    async def _pieces(self) -> AsyncIterator[bytes]:
        unpacker = self._unpacker
        if unpacker is None:
            async for part in self._body:
                for at in range(0, len(part), AT_ONCE):
                    yield part[at : at + AT_ONCE]
            return
        try:
            async for part in self._body:
                rest = part
                while rest and not unpacker.eof:
                    yield unpacker.decompress(rest, AT_ONCE)
                    rest = unpacker.unconsumed_tail
            yield unpacker.flush()
        except zlib.error as error:
            raise Unacceptable("the answer cannot be unpacked") from error


class ValueCounter:
    """Counts the values of a text of JSON, or of events: by what begins or parts them.

    What stands in strings does not count. No string goes over the end of a line.
    """

    def __init__(self) -> None:
        self.count = 0
        self._open = ""

    def read(self, piece: bytes) -> None:
        """Goes on with the next piece of the text."""
        text = self._open + piece.decode("latin-1")
        outside = _STRING.sub("", text)
        self.count += sum(map(outside.count, "{[,"))
        last = text[max(text.rfind("\n"), text.rfind("\r")) + 1 :].replace(r"\\", "")
        inside = last.replace(r"\"", "").count('"') % 2
        self._open = ('"\\' if last.endswith("\\") else '"') * inside
