"""Which failures are tried again, for how long, and what is said in the end."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from support.asking import ASK, QUICK, port
from support.clock import Clock
from support.fake_server import OK, FakeServer, Fault

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.failures import explained, retry_after, status_of
from thoughtgraph.llm.retry import Retry


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    ours = Clock()
    ours.rule(monkeypatch, "thoughtgraph.llm.retry", "tenacity")
    return ours


class Refusal(Exception):
    def __init__(self, status: int, text: str = "", **headers: str) -> None:
        super().__init__(text)
        self.status_code = status
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response = SimpleNamespace(headers=named, status_code=status)


class Endpoint:
    """Fails as told, then answers."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return "answer"


async def run(
    endpoint: Endpoint, retry: Retry = QUICK, hide: Sequence[str] = ()
) -> tuple[str, int]:
    retries: list[int] = []
    loop = retry.loop(endpoint="m at e", retried=lambda failure: retries.append(1), hide=hide)
    return await loop(endpoint), len(retries)


@pytest.mark.parametrize(
    "failure",
    [
        *map(Refusal, (408, 409, 425, 429, 500, 502, 503, 529)),
        TimeoutError(),
        ConnectionResetError("reset by peer"),
    ],
)
async def test_passing_failures_are_tried_again(failure: Exception, clock: Clock) -> None:
    assert await run(Endpoint(failure, failure)) == ("answer", 2)


async def test_a_body_that_was_cut_off_is_asked_for_again(clock: Clock) -> None:
    bodies = ['{"choices": [', "[3]"]

    async def call() -> object:
        return json.loads(bodies.pop(0))

    assert await QUICK.loop(endpoint="e", retried=lambda failure: None)(call) == [3]


LASTING = {
    400: "context length",
    401: "OPENAI_API_KEY",
    402: "credit",
    403: "may use this model",
    404: "/v1",
    405: "/v1",
    413: "the prompt is too long",
    **dict.fromkeys((418, 422), "the request was refused"),
    429: "credit",
}


@pytest.mark.parametrize("status", LASTING)
async def test_lasting_refusals_are_not_tried_again(status: int) -> None:
    refusal = Refusal(status, "why\n\nnot")
    used_up = status == 429  # a quota that is used up is no rate limit
    refusal.code = "insufficient_quota" if used_up else ""  # type: ignore[attr-defined]
    endpoint = Endpoint(refusal)
    with pytest.raises(ModelError, match="m at e") as caught:
        await run(endpoint)
    assert endpoint.calls == 1
    assert caught.value.status == (402 if used_up else status)
    message = str(caught.value)
    assert LASTING[status] in message and "(why not)" in message and "\n" not in message


def test_the_remedy_for_a_wrong_path_is_told_for_a_wrong_path_alone() -> None:
    for status in (400, 401, 402, 403, 409, 413, 415, 418, 422, 431, 451, 500, 501):
        line = explained(Refusal(status), "e", attempt=1, seconds=0, hide=())
        assert "no such model" not in str(line)


TOLD: dict[int | None, list[dict[str, Any]]] = {
    400: [{"type": "invalid_request_error", "param": "model"}],
    401: [
        {"code": 401, "message": "No auth credentials found"},
        {"code": "invalid_api_key", "type": "invalid_request_error"},
        {"type": "authentication_error"},
    ],
    402: [
        {"code": 402},
        {"code": "402"},
        {"code": None, "type": "insufficient_quota"},
        {"code": "insufficient_quota", "type": "invalid_request_error"},
    ],
    403: [{"type": "permission_error"}],
    404: [{"code": "model_not_found"}],
    429: [
        {"code": 429},
        {"code": 8, "status": "RESOURCE_EXHAUSTED"},
        {"type": "rate_limit_error"},
        {"code": "rate_limit_exceeded", "type": "tokens"},
    ],
    502: [{"code": 502, "metadata": {"raw": "x"}}],
    503: [{"code": "503"}, {"type": "overloaded_error"}, {"type": "server_error", "code": None}],
    529: [{"status": 529}],
    None: [{"code": code} for code in (40303, 200, 4.02, "4020")] + [{"message": "no"}, {}],
}


@pytest.mark.parametrize("status", TOLD)
def test_what_an_error_inside_an_answer_says_is_its_status(status: int | None) -> None:
    for told in TOLD[status]:
        streamed = RuntimeError("in a stream")
        streamed.body = told  # type: ignore[attr-defined]
        assert status_of(ValueError(told)) == status_of(streamed) == status, told


@pytest.mark.parametrize(("code", "tries"), [(402, 1), (401, 1), (429, 2), (500, 2), ("503", 2)])
async def test_an_error_inside_an_answer_is_final_or_tried_again_by_its_code(
    code: Any, tries: int
) -> None:
    body = json.dumps({"error": {"message": "why not", "code": code}})
    with FakeServer(lambda seen: "fine") as server:
        server.fault = lambda seen: Fault(body=body) if seen.number == 0 else OK
        if tries > 1:
            assert await port(server).sample(ASK) == ["fine"]
        else:
            with pytest.raises(ModelError, match=r"credit|key was refused"):
                await port(server).sample(ASK)
        assert len(server.seen) == tries


async def test_a_completion_that_an_error_ended_is_asked_for_again() -> None:
    with FakeServer(lambda seen: [f"{seen.number}.{k}" for k in range(seen.n)]) as server:
        server.finishes = lambda seen, k: "error" if seen.number == 0 and k == 1 else "stop"
        assert await port(server).sample(ASK, n=3) == ["0.0", "0.2", "1.0"]
        assert [seen.n for seen in server.seen] == [3, 1], "what is whole is kept"
        server.seen.clear()
        server.finishes = lambda seen, k: "error" if seen.number == 0 else "stop"
        assert await port(server).sample(ASK) == ["1.0"]


@pytest.mark.parametrize("kind", [KeyError, TypeError, AssertionError, RuntimeError])
async def test_mistakes_of_a_program_pass_unchanged(kind: type[Exception]) -> None:
    endpoint = Endpoint(mistake := kind("x"))
    with pytest.raises(kind) as caught:
        await run(endpoint)
    assert (caught.value, endpoint.calls) == (mistake, 1)


async def test_it_gives_up_in_time_after_waits_that_grow(clock: Clock) -> None:
    endpoint = Endpoint(*[Refusal(500)] * 10_000)
    with pytest.raises(ModelError, match=r"HTTP 500 after \d+ attempts in 1[0-9.]+ s"):
        await run(endpoint, Retry(give_up_after=20.0, first_wait=0.5, longest_wait=3.0))
    longest = [0.5, 1.0, 2.0, *[3.0] * 20]
    assert all(most / 2 <= wait <= most for wait, most in zip(clock.slept, longest, strict=False))
    assert endpoint.calls == len(clock.slept) + 1
    assert 17.0 < sum(clock.slept) <= 20.0


@pytest.mark.parametrize(("wait", "calls"), [("2.5", 2), ("3600", 1)])
async def test_the_endpoint_says_how_long_to_wait_unless_it_is_too_long(
    clock: Clock, wait: str, calls: int
) -> None:
    endpoint = Endpoint(Refusal(429, retry_after=wait))
    if calls > 1:
        assert await run(endpoint, Retry()) == ("answer", 1)
    else:
        with pytest.raises(ModelError, match="THOUGHTGRAPH_RPM"):
            await run(endpoint, Retry())
    assert clock.slept == [2.5] * (calls - 1)
    assert endpoint.calls == calls


def test_retry_after_is_read_in_both_forms() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(hours=9), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(hours=9), usegmt=True)
    assert retry_after(Refusal(429, retry_after="7")) == 7
    assert 8.5 * 3600 < retry_after(Refusal(429, retry_after=soon)) <= 9 * 3600
    assert retry_after(Refusal(429, retry_after=past)) == 0
    for nonsense in ("", "soon", "-3", "nan"):
        assert retry_after(Refusal(429, retry_after=nonsense)) == 0
    assert retry_after(ValueError()) == 0


async def test_no_key_and_no_terminal_code_reach_the_message() -> None:
    key = "sk-secret-0123456789"
    # One of the keys lies across the place where a long message is cut.
    text = f"bad key {key} \x1b[31m\x00 " + "y" * 162 + key + "z" * 1_000
    with pytest.raises(ModelError) as caught:
        await run(Endpoint(Refusal(401, text)), hide=[key])
    message = str(caught.value)
    assert "sk-" not in message and "***" in message
    assert message.isprintable() and len(message) < 500
    assert caught.value.__cause__ is None and caught.value.__context__ is None
