"""A small OpenAI-compatible server on 127.0.0.1, whose faults can be switched while it runs."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from pydantic import SecretStr

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI


@dataclass
class Fault:
    """What the server does instead of answering."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | bytes | None = None
    """Sent instead of a completion."""
    drop: bool = False
    """Close the connection without a word."""
    truncate: bool = False
    """Close it in the middle of the body."""
    hang: bool = False
    """Never answer; close the connection on `release`."""
    hold: bool = False
    """Answer on `release`, not before."""
    delay: float = 0.0
    """Seconds before it does any of this, or answers."""


@dataclass
class Seen:
    """One request that reached the server."""

    number: int
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return "\n".join(str(message["content"]) for message in self.body["messages"])

    @property
    def n(self) -> int:
        return int(self.body.get("n") or 1)


Reply = Callable[[Seen], str | Sequence[str]]
Faults = Callable[[Seen], Fault]
OK = Fault()
NOT_FOUND = Fault(404)
PATH = "/v1/chat/completions"


def after(number: int, fault: Fault) -> Faults:
    """Lets so many requests through; all further ones meet the fault."""
    return lambda seen: fault if seen.number >= number else OK


class FakeServer:
    """Serves chat completions from a thread of its own, so that it serves any event loop, and none.

    Args:
        reply: The text of every choice, or one text a choice. It is called for one request at a
            time, after `latency`, and just before the answer is sent.
        fault: What a request meets instead of an answer.
    """

    def __init__(
        self,
        reply: Reply = lambda seen: "4 + 9 = 13 (left: 10 13 13)",
        fault: Faults = lambda seen: OK,
    ) -> None:
        self.reply = reply
        self.fault = fault
        self.latency = 0.0
        self.most_choices = 1_000
        """Choices an answer may hold; what is asked beyond is ignored."""
        self.usage: Any = ...
        """What is reported as usage; counted by words when `...`."""
        self.finishes: Callable[[Seen, int], str | None] = lambda seen, index: "stop"
        """Why each choice of an answer ended; None: nothing is said of it."""
        self.events: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = list
        """What becomes of the events of a stream before they are sent."""
        self.fingerprint: Any = None
        """What the server says it is."""
        self.seen: list[Seen] = []
        self.answered: list[str] = []
        """The prompts that `reply` answered."""
        self.in_flight = 0
        self.peak = 0
        self.port = 0
        self._hanging = 0
        self._changed = threading.Condition()
        self._released, self._stop = asyncio.Event(), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._busy: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def specifier(self) -> str:
        return f"{self.url}#fake"

    def chat(self, **settings: Any) -> "ChatOpenAI":
        """A model of this server with the settings that the library's own specifiers use."""
        # Its import takes seconds, which tests that ask no server need not wait for.
        kind: type[ChatOpenAI] = import_module("langchain_openai").ChatOpenAI
        key = settings.pop("api_key", SecretStr("none"))
        return kind(model="fake", base_url=self.url, api_key=key, max_retries=0, **settings)

    def wait_for_held(self, seconds: float = 60.0, least: int = 1) -> None:
        """Waits until so many requests hang or are held, and every other one is answered."""

        def held() -> bool:
            return least <= self._hanging == self.in_flight

        with self._changed:
            reached = self._changed.wait_for(held, seconds)
        assert reached, f"{self._hanging} hang after {len(self.answered)} answers"

    def release(self) -> None:
        """Answers what is held and what comes later; closes the connections of what hangs."""
        self.fault = lambda seen: OK
        self._loop.call_soon_threadsafe(self._let_go)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(5)
        return self

    def __exit__(self, *failure: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**24)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._busy:
            task.cancel()
        await asyncio.gather(*self._busy, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._busy.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client hung up, or the server ends
        finally:
            self._busy.discard(task)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; says whether the connection stays."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin1")
        first, *lines = head.split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
            if name
        }
        sent = await reader.readexactly(int(headers.get("content-length", 0)))
        if first.split()[1] != PATH:
            return await self._send(writer, NOT_FOUND, b"{}", "application/json")
        seen = Seen(len(self.seen), headers, json.loads(sent))
        self.seen.append(seen)
        with self._counted():
            fault = self.fault(seen)
            if fault.hang or fault.hold:
                await self._hang()
            if fault.hang:
                return False
            await asyncio.sleep(self.latency + fault.delay)
            if fault.drop:
                return False
            content = self._content(seen, fault)
        return await self._send(writer, fault, *content)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._changed:
            self.in_flight += 1
            self.peak = max(self.peak, self.in_flight)
        try:
            yield
        finally:
            with self._changed:
                self.in_flight -= 1
                self._changed.notify_all()

    async def _hang(self) -> None:
        with self._changed:
            self._hanging += 1
            self._changed.notify_all()
        try:
            await self._released.wait()
        finally:
            self._hanging -= 1

    def _let_go(self) -> None:
        self._released.set()
        self._released = asyncio.Event()

    async def _send(
        self, writer: asyncio.StreamWriter, fault: Fault, content: bytes, kind: str
    ) -> bool:
        """Sends an answer, or half of it; says whether the connection stays."""
        told = {"Content-Type": kind, "Content-Length": len(content), **fault.headers}
        lines = [f"HTTP/1.1 {fault.status} X", *(f"{name}: {told[name]}" for name in told), "", ""]
        writer.write("\r\n".join(lines).encode("latin1"))
        writer.write(content[: len(content) // 2] if fault.truncate else content)
        await writer.drain()
        return not fault.truncate

    def _content(self, seen: Seen, fault: Fault) -> tuple[bytes, str]:
        kind = "application/json"
        if fault.body is not None:
            return fault.body.encode() if isinstance(fault.body, str) else fault.body, kind
        if fault.status != 200:
            return json.dumps({"error": {"message": "no luck"}}).encode(), kind
        if seen.body.get("stream"):
            return self._stream(seen), "text/event-stream"
        return json.dumps(self._completion(seen)).encode(), kind

    def _texts(self, seen: Seen) -> list[str]:
        self.answered.append(seen.prompt)
        replied = self.reply(seen)
        texts = [replied] * seen.n if isinstance(replied, str) else list(replied)
        return texts[: self.most_choices]

    def _completion(self, seen: Seen) -> dict[str, Any]:
        texts = self._texts(seen)
        prompt = len(seen.prompt.split())
        completion = sum(len(text.split()) for text in texts)
        counted = {"prompt_tokens": prompt, "completion_tokens": completion}
        counted["total_tokens"] = prompt + completion
        answers = [{"role": "assistant", "content": text} for text in texts]
        choices = [
            {"index": at, "finish_reason": self.finishes(seen, at), "message": answer}
            for at, answer in enumerate(answers)
        ]
        answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "fake"}
        usage = counted if self.usage is ... else self.usage
        told = {"usage": usage, "system_fingerprint": self.fingerprint}
        return {**answer, "choices": choices, **told}

    def _stream(self, seen: Seen) -> bytes:
        """Sends the choices word by word, one after the other, as real servers may."""
        whole = self._completion(seen)
        common = {"id": "x", "object": "chat.completion.chunk", "model": "fake"}
        chunks = []
        for each in whole["choices"]:
            for word in re.findall(r" ?[^ ]*", each["message"]["content"]):
                delta = {"role": "assistant", "content": word}
                chunks.append({**common, "choices": [{"index": each["index"], "delta": delta}]})
            end = {"index": each["index"], "delta": {}, "finish_reason": each["finish_reason"]}
            chunks += [{**common, "choices": [end]}] if end["finish_reason"] else []
        if (seen.body.get("stream_options") or {}).get("include_usage"):
            chunks.append({**common, "choices": [], "usage": whole["usage"]})
        events = [f"data: {json.dumps(chunk)}\n\n" for chunk in self.events(chunks)]
        return "".join([*events, "data: [DONE]\n\n"]).encode()
