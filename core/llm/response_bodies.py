"""Bodies of answers, read no further than an answer to what was asked can go.

A client builds objects of all that it is sent. A mebibyte of `{},{},…` keeps it busy for seconds,
so what is too large, or has more parts than were asked for, is refused before it is read.
"""

import asyncio
import json
import re
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from httpx2 import AsyncByteStream, Response

from thoughtgraph.llm.failures import Unacceptable

LARGEST = 64 << 20
"""Bytes of an answer that are read (ours): 128 samples of 100,000 tokens."""
LARGEST_REFUSAL = 1 << 20
"""Bytes that are read of a page that says what went wrong (ours)."""
LARGEST_UNPACKED = 8 << 20
"""Bytes that are unpacked of one that is compressed although it was not to be (ours): a thousand of
them cost its sender one."""
AT_ONCE = 16 << 10
"""Bytes that are handed on before others have their turn."""
UNPACKED_AT_ONCE = 64 << 10
PLAIN = ("", "identity")
PACKED = ("gzip", "x-gzip", "deflate")
"""Encodings that are understood beside plain ones, whatever packages are installed."""
MOST_VALUES = 2_000
"""ValueCounter of an answer beside its samples (ours): its usage, or how it fails."""
VALUES_A_SAMPLE = 100
"""ValueCounter of a sample (ours; OpenAI sends 20), and of each token of one that is streamed."""
MOST_TOKENS = 100_000
"""Tokens of a sample where the request does not say."""
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*+["\\]?')
_LENGTHS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


async def bound(response: Response) -> None:
    """Bounds the body of an answer, which is read later.

    Raises:
        Unacceptable: It is packed in a way that was not asked for and is not understood.
    """
    assert isinstance(response.stream, AsyncByteStream), "an asynchronous client gets these"
    encoding = response.headers.pop("Content-Encoding", "").strip().lower()
    body, most = response.stream, LARGEST
    if encoding in PACKED:
        body, most = _Unpacked(body), LARGEST_UNPACKED
    elif encoding not in PLAIN:
        raise Unacceptable(f"the answer is packed as {encoding[:20]!r}, which was not asked for")
    if response.is_success:
        response.stream = _Bounded(body, most, _values_asked(response.request.content))
    else:
        response.stream = _Begun(body, LARGEST_REFUSAL)


def _values_asked(request: bytes) -> int | None:
    """Returns how many values an answer to a request may have; None for any number."""
    asked: Any = None
    with suppress(ValueError, RecursionError):
        asked = json.loads(request)
    if not isinstance(asked, dict):
        return MOST_VALUES
    if asked.get("logprobs"):
        return None  # by whoever made the model himself: some hundreds for each token
    tokens = next((asked[name] for name in _LENGTHS if asked.get(name)), MOST_TOKENS)
    parts: int = (asked.get("n") or 1) + (tokens if asked.get("stream") else 0)
    return MOST_VALUES + VALUES_A_SAMPLE * parts


class _Wrapped(AsyncByteStream):
    """A body of which another is made."""

    def __init__(self, body: AsyncByteStream) -> None:
        self._body = body

    async def aclose(self) -> None:
        """Closes the body."""
        await self._body.aclose()


class _Begun(_Wrapped):
    """The beginning of a body."""

    def __init__(self, body: AsyncByteStream, most: int) -> None:
        super().__init__(body)
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for part in self._body:
            yield part[:left]
            left -= len(part)
            if left <= 0:
                return


class _Bounded(_Wrapped):
    """A body of which no more is read than so many bytes, and so many values of JSON."""

    def __init__(self, body: AsyncByteStream, most: int, values: int | None) -> None:
        super().__init__(body)
        self._most = most
        self._values = values

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read, values = 0, ValueCounter()
        async for part in self._body:
            read += len(part)
            if read > self._most:
                raise Unacceptable(f"the answer has more than {self._most >> 10} KiB")
            for at in range(0, len(part), AT_ONCE):
                piece = part[at : at + AT_ONCE]
                values.read(piece)
                if self._values is not None and values.count > self._values:
                    raise Unacceptable("the answer holds more than was asked for")
                yield piece
                await asyncio.sleep(0)


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


class _Unpacked(_Wrapped):
    """A packed body, unpacked in small parts: whoever reads it can stop."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header, gzip's or zlib's
        try:
            async for part in self._body:
                rest = part
                while rest and not unpacker.eof:
                    yield unpacker.decompress(rest, UNPACKED_AT_ONCE)
                    rest = unpacker.unconsumed_tail
            yield unpacker.flush()
        except zlib.error as error:
            raise Unacceptable("the answer cannot be unpacked") from error
