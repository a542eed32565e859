"""Whatever an endpoint sends instead of an answer is one line, bounded in memory and in work."""

import gzip
import json
from typing import Any

import pytest
from support.asking import ASK, FAULTS, ONCE, completion, meter, numbered, port
from support.fake_server import FakeServer, Fault
from support.pools import few

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.exchange import LONGEST_COMPLETION, Draw

REPLY = numbered


MESSAGE = '{"choices":[{"message":{"role":"assistant","content":'
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
    "more than anybody reads": b"x" * ((16 << 20) + 1),
}
BAD = "an unreadable answer"
PACKED = {"Content-Encoding": "gzip"}
FAILURES: dict[str, tuple[Fault, str]] = {
    **FAULTS,
    "a failure told as an answer": (Fault(body='{"error": {"message": "overloaded"}}'), "overload"),
    "packed": (Fault(body=gzip.compress(bytes(65 << 20), 1), headers=PACKED), "was not asked for"),
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


@pytest.mark.parametrize(
    ("tokens", "letters"),
    [
        (50, 800),
        *(pytest.param(most, LONGEST_COMPLETION, marks=pytest.mark.ci) for most in (None, 10**5)),
    ],
)
async def test_of_a_completion_no_more_is_read_than_was_asked_for(
    server: FakeServer, tokens: int | None, letters: int
) -> None:
    server.reply = lambda seen: ["x" * 3_000_000, "y" * 3_000_000, "short"][: seen.n]
    texts = await port(server).sample(ASK, n=3, parameters={"max_tokens": tokens})
    assert texts == ["x" * letters, "y" * letters, "short"]


async def test_of_a_page_that_says_what_went_wrong_the_beginning_is_read(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed, loads = [0], json.loads

    def counted(text: Any, **more: Any) -> Any:
        parsed.append(len(text))
        return loads(text, **more)

    monkeypatch.setattr(json, "loads", counted)
    server.fault = lambda seen: Fault(400, body="[" + "{}," * (2 << 20))
    with pytest.raises(ModelError, match="HTTP 400"):
        await port(server, retry=ONCE).sample(ASK, n=5)
    assert 1 << 16 < max(parsed) <= 1 << 20


async def test_who_asks_for_much_gets_it(server: FakeServer) -> None:
    server.reply = lambda seen: "x, {[y" * 10_000
    assert len(await port(server).sample(ASK, n=128)) == 128
