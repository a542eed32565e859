"""Which failures are tried again, for how long, and what is said in the end."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from support.asking import ASK, port
from support.clock import Clock
from support.fake_server import OK, FakeServer, Fault, Seen
from support.scripted import ScriptedChat

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.retry import Retry, explained, retry_after, status_of
from thoughtgraph.usage import Limits, Usage


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    ours = Clock()
    ours.rule(monkeypatch, "thoughtgraph.llm.retry", "tenacity")
    return ours


def fine(seen: Seen) -> str:
    return "fine"


REPLY = fine


LASTING = {
    400: "context length",
    401: "OPENAI_API_KEY",
    402: "credit",
    403: "may use this model",
    404: "/v1",
    405: "/v1",
    413: "the prompt is too long",
    422: "the request was refused",
    429: "credit",
}


@pytest.mark.parametrize("status", LASTING)
async def test_lasting_refusals_are_not_tried_again(server: FakeServer, status: int) -> None:
    used_up = status == 429  # a quota that is used up is no rate limit
    error = {"message": "why\n\nnot", "code": "insufficient_quota" if used_up else None}
    server.fault = lambda seen: Fault(status, body=json.dumps({"error": error}))
    with pytest.raises(ModelError, match="fake at http") as caught:
        await port(server).sample(ASK)
    assert len(server.seen) == 1
    assert caught.value.status == (402 if used_up else status)
    message = str(caught.value)
    assert LASTING[status] in message and "why" in message and "\n" not in message
    assert ("no such model" in message) == (status == 404)


@pytest.mark.parametrize("kind", [KeyError, TypeError, RuntimeError])
async def test_mistakes_of_a_program_pass_unchanged(kind: type[Exception]) -> None:
    def reply(call: Any) -> str:
        raise mistake

    mistake, model = kind("no such prompt"), ScriptedChat(reply=reply)
    with pytest.raises(kind) as caught:
        await ChatPort(model).sample(ASK)
    assert (caught.value, len(model.seen)) == (mistake, 1)


TOLD: dict[int | None, list[dict[str, Any]]] = {
    400: [{"type": "invalid_request_error", "param": "model"}],
    401: [{"code": "invalid_api_key", "type": "invalid_request_error"}],
    402: [{"code": "402"}, {"code": None, "type": "insufficient_quota"}],
    429: [{"code": 429}, {"code": 8, "status": "RESOURCE_EXHAUSTED"}],
    503: [{"code": "503"}, {"type": "server_error", "code": None}],
    None: [{"code": code} for code in (40303, 200, 4.02, "4020")] + [{"message": "no"}, {}],
}


@pytest.mark.parametrize("status", TOLD)
def test_what_an_error_inside_an_answer_says_is_its_status(status: int | None) -> None:
    for told in TOLD[status]:
        streamed = RuntimeError("in a stream")
        streamed.body = told  # type: ignore[attr-defined]
        assert status_of(ValueError(told)) == status_of(streamed) == status, told


async def test_a_completion_that_an_error_ended_is_asked_for_again(server: FakeServer) -> None:
    server.reply = lambda seen: [f"{seen.number}.{k}" for k in range(seen.n)]
    server.finishes = lambda seen, k: "error" if seen.number == 0 and k == 1 else "stop"
    assert await port(server).sample(ASK, n=3) == ["0.0", "0.2", "1.0"]
    assert [seen.n for seen in server.seen] == [3, 1], "what is whole is kept"


async def test_it_gives_up_in_time_after_waits_that_grow(server: FakeServer, clock: Clock) -> None:
    server.fault = lambda seen: Fault(500)
    with pytest.raises(ModelError, match=r"HTTP 500 after \d+ attempts in (1[0-9.]+|20.0) s"):
        await port(server, retry=Retry(20.0, first_wait=0.5, longest_wait=3.0)).sample(ASK)
    longest = [0.5, 1.0, 2.0, *[3.0] * 20]
    assert all(most / 2 <= wait <= most for wait, most in zip(clock.slept, longest, strict=False))
    assert len(server.seen) == len(clock.slept) + 1
    assert 17.0 < sum(clock.slept) <= 20.0
    clock.slept.clear()
    with pytest.raises(ModelError, match="HTTP 500"):
        await port(server, retry=Retry()).sample(ASK)
    assert 22.0 < sum(clock.slept) <= 30.0, "an endpoint that answers is there: 30 s by default"


@pytest.mark.parametrize(("wait", "attempts"), [("25", 2), ("31", 1)])
async def test_the_endpoint_says_how_long_to_wait_unless_it_is_too_long(
    server: FakeServer, clock: Clock, wait: str, attempts: int
) -> None:
    refusal = Fault(429, headers={"Retry-After": wait})
    server.fault = lambda seen: refusal if seen.number == 0 else OK
    if attempts > 1:
        assert await port(server, retry=Retry()).sample(ASK) == ["fine"]
    else:
        with pytest.raises(ModelError, match="THOUGHTGRAPH_RPM"):
            await port(server, retry=Retry()).sample(ASK)
    assert clock.slept == [float(wait)] * (attempts - 1)


async def test_a_server_that_is_not_there_is_told_at_once_and_given_up_soon(clock: Clock) -> None:
    with FakeServer() as gone:
        pass
    told: list[str] = []
    watch = Meter(Limits(), Usage(), tell=told.append)
    with pytest.raises(ModelError, match=r"no connection after .* is the server running"):
        await port(gone, retry=Retry()).sample(ASK, meter=watch)
    assert "no connection after 1 attempt" in told[0] and gone.url in told[0]
    assert 1.0 < sum(clock.slept) <= 4.5, "within five seconds, though others are given thirty"


def after(wait: str) -> float:
    error = ValueError()
    error.response = SimpleNamespace(headers={"retry-after": wait})  # type: ignore[attr-defined]
    return retry_after(error)


@pytest.mark.parametrize("status", [408, 429, 529])
async def test_passing_refusals_are_tried_again(
    server: FakeServer, clock: Clock, status: int
) -> None:
    server.fault = lambda seen: Fault(status) if seen.number < 2 else OK
    assert await port(server).sample(ASK) == ["fine"]
    assert (len(server.seen), len(clock.slept)) == (3, 2)


def test_retry_after_is_read_in_both_forms() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(hours=9), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(hours=9), usegmt=True)
    assert (after("7"), after("2.5")) == (7, 2.5)
    assert 8.5 * 3600 < after(soon) <= 9 * 3600
    assert after(past) == retry_after(ValueError()) == 0
    for nonsense in ("", "soon", "-3", "nan"):
        assert after(nonsense) == 0


def test_no_key_and_no_terminal_code_reach_the_message() -> None:
    key = "sk-secret-0123456789"
    # One of the keys lies across the place where a long message is cut.
    error = ValueError(f"bad key {key} \x1b[31m\x00 " + "y" * 162 + key + "z" * 1_000)
    failure = explained(error, "m at e", "1 attempt in 0.0 s", [key])
    message = str(failure.error)
    assert "sk-" not in message and "***" in message
    assert message.isprintable() and len(message) < 500
