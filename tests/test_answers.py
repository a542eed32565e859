"""Whatever an endpoint sends instead of an answer is one line, bounded in memory and in work."""

import gzip
import json
import tracemalloc
import zlib
from typing import Any

import pytest
from support.asking import ASK, FAULTS, ONCE, completion, meter, numbered, port
from support.fake_server import FakeServer, Fault
from support.pools import few

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.connections import ValueCounter
from thoughtgraph.llm.exchange import LONGEST, Draw
from thoughtgraph.llm.port import ChatPort

REPLY = numbered


MESSAGE = '{"choices":[{"message":{"role":"assistant","content":'
CHOICES = '{{"choices":[{}]}}'
DEEP = 100_000
BODIES: dict[str, str | bytes] = {
    "brackets": "[" * DEEP,
    "brackets for a text": MESSAGE + "[" * 900 + "]" * 900 + "}}]}",
    "brackets for calls": MESSAGE + '"x","tool_calls":' + "[" * 300 + "]" * 300 + "}}]}",
    "binary": b"\x00\xff\xfe\x1b" * 99,
    "null": "null",
    "a list of numbers": "[1, 2]",
    "an empty list of choices": '{"choices": []}',
    "no choice": '{"choices":[null]}',
    "a number for a text": json.dumps(completion(5)),
    "a text for usage": json.dumps(completion("x", usage="lots")),
    "more than anybody reads": b"x" * ((64 << 20) + 1),
}
BAD = "an unreadable answer"
PACKED = {"Content-Encoding": "gzip"}
FAILURES: dict[str, tuple[Fault, str]] = {
    **FAULTS,
    "a failure told as an answer": (Fault(body='{"error": {"message": "overloaded"}}'), "overload"),
    "what nobody unpacks": (Fault(body=b"not packed at all", headers=PACKED), BAD),
    **{name: (Fault(body=body), BAD) for name, body in BODIES.items()},
}


@pytest.mark.parametrize("name", few(FAILURES, 15))
async def test_a_failing_endpoint_is_explained_in_one_line(server: FakeServer, name: str) -> None:
    fault, remedy = FAILURES[name]
    server.fault = lambda seen: fault
    spent = meter()
    with pytest.raises(ModelError) as caught:
        await port(server, retry=ONCE, timeout=0.1 if fault.hang else 60.0).sample(ASK, meter=spent)
    message = str(caught.value)
    assert remedy in message and "after 1 attempt" in message
    assert f"fake at {server.url}: " in message
    assert message.isprintable() and len(message) < 600
    assert spent.error == message
    assert caught.value.__cause__ is caught.value.__context__ is None, "an SDK's holds the key"
    assert "requests" not in spent.usage(), "what was not answered is not counted"


async def test_samples_that_arrived_are_not_lost(server: FakeServer) -> None:
    server.most_choices = 1
    server.fault = lambda seen: Fault(500) if seen.number % 4 == 3 else Fault()
    spent = meter()
    texts = await port(server, retry=ONCE).sample(ASK, n=8, draw=Draw("p", "0"), meter=spent)
    assert texts == ["text 0"] * 6
    assert spent.usage()["samples"] == 6
    assert "HTTP 500" in spent.error


async def test_a_packed_answer_is_bounded_by_what_it_becomes(server: FakeServer) -> None:
    """None is asked for, but a proxy may pack; a small one must not become hundreds of MB."""
    small = json.dumps(completion("packed " * 100)).encode()
    bomb = gzip.compress(bytes(65 << 20), 1)

    def sends(body: bytes, name: str) -> None:
        server.fault = lambda seen: Fault(body=body, headers={"Content-Encoding": name})

    for name, packed in (("gzip", gzip.compress(small)), ("deflate", zlib.compress(small))):
        sends(packed, name)
        assert await port(server, retry=ONCE).sample(ASK) == ["packed " * 100]
    for name in ("gzip", "br", "zstd", "gzip, gzip"):
        sends(bomb, name)
        tracemalloc.start()
        with pytest.raises(ModelError, match=r"more than 8192 KiB|was not asked for"):
            await port(server, retry=ONCE).sample(ASK)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 32 << 20


@pytest.mark.parametrize(
    ("tokens", "letters"),
    [(50, 800), *(pytest.param(most, LONGEST, marks=pytest.mark.ci) for most in (None, 10**5))],
)
async def test_of_a_completion_no_more_is_read_than_was_asked_for(
    server: FakeServer, tokens: int | None, letters: int
) -> None:
    server.reply = lambda seen: ["x" * 3_000_000, "y" * 3_000_000, "short"][: seen.n]
    texts = await port(server).sample(ASK, n=3, parameters={"max_tokens": tokens})
    assert texts == ["x" * letters, "y" * letters, "short"]


MANY = ("1", '{"choices":[{}]}')
FLOODS = [
    *(
        (Fault(body=CHOICES.format(",".join([each] * ((1 << 20) // len(each))))), "than was asked")
        for each in MANY
    ),
    (Fault(400, body="[" + "{}," * (2 << 20)), "HTTP 400"),
]


@pytest.mark.parametrize(("flood", "said"), FLOODS, ids=lambda _: "")
async def test_of_a_body_nothing_is_made_that_was_not_asked_for(
    server: FakeServer, flood: Fault, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mebibyte of small objects kept a client busy for seconds, and took hundreds of MB."""
    parsed, loads = [0], json.loads

    def counted(text: Any, **more: Any) -> Any:
        parsed.append(len(text))
        return loads(text, **more)

    monkeypatch.setattr(json, "loads", counted)
    server.fault = lambda seen: flood
    with pytest.raises(ModelError, match=said):
        await port(server, retry=ONCE).sample(ASK, n=5)
    if flood.status == 200:
        assert max(parsed) < 1 << 16
    else:
        assert 1 << 16 < max(parsed) <= 1 << 20, "the beginning of what went wrong is read"


async def test_who_asks_for_much_gets_it(server: FakeServer) -> None:
    """128 samples, and the probabilities of somebody's own model."""
    server.reply = lambda seen: "x, {[y" * 200
    assert len(await port(server).sample(ASK, n=128)) == 128
    told = {"content": [{"token": "a", "logprob": -1.0, "top_logprobs": [{}] * 20}] * 999}
    body = completion("x")
    body["choices"][0]["logprobs"] = told
    server.fault = lambda seen: Fault(body=json.dumps(body))
    own = ChatPort(server.chat(logprobs=True), retry=ONCE)
    assert await own.sample(ASK) == ["x"]


def test_a_quote_that_is_never_closed_hides_nothing_of_the_next_event() -> None:
    for begin in (b': "', b'event: \\"', b'data: {"a": "\\', b'"\\'):
        for end in (b"\n", b"\r", b"\r\n"):
            counted = ValueCounter()
            for piece in (begin, end, b"data: [{},{}]"):
                counted.read(piece)
            assert counted.count - begin.count(b"{") == 4
