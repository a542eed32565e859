"""A run whose answers arrive token by token comes out as one without."""

from typing import Any

import pytest
from support.fake_server import OK, FakeServer, Fault
from support.players import play

import thoughtgraph as tg

REFUSED = Fault(400, body='{"error": {"message": "stream_options is not supported"}}')
PROBLEM = {"problem": "4 9 10 13"}
USAGE = ("requests", "samples", "prompt_tokens", "completion_tokens")
REPLY = play


async def streamed(running: Any, problem: Any = PROBLEM, **context: Any) -> tuple[int, Any]:
    """Returns how many messages a run sent, and its result."""
    modes = ["messages", "values"]
    parts = [each async for each in running.astream(problem, context=context, stream_mode=modes)]
    values = [part for mode, part in parts if mode == "values"]
    return len(parts) - len(values), values[-1]


def graph(model: Any) -> Any:
    return tg.build("tot_bfs", task="game24", model=model, breadth=2)


async def smooth(server: FakeServer) -> Any:
    out = await graph(server.chat()).ainvoke(PROBLEM)
    assert not any(seen.body.get("stream") for seen in server.seen)
    server.seen.clear()
    return out


def tree(out: Any) -> dict[str, Any]:
    return {key: (each["text"], each.get("value")) for key, each in out["tree"].items()}


@pytest.mark.parametrize("retries", [0, 1])
async def test_a_streamed_run_is_one_that_is_not(server: FakeServer, retries: int) -> None:
    """A stream without a finish reason is a failed attempt."""
    whole = await smooth(server)
    server.finishes = lambda seen, index: None if seen.number < retries else "stop"
    messages, out = await streamed(graph(server.specifier))
    assert tree(out) == tree(whole)
    assert messages > out["usage"]["requests"], "token by token"
    assert {name: out["usage"][name] for name in USAGE} == {n: whole["usage"][n] for n in USAGE}
    assert out["usage"].get("retries", 0) == retries
    asked = [seen.body.get("stream_options") for seen in server.seen]
    wanted = [None if seen.n > 1 else {"include_usage": True} for seen in server.seen]
    assert asked == wanted, "no stream carries several samples"


async def test_who_refuses_to_tell_a_streams_size_is_asked_without(server: FakeServer) -> None:
    whole = await smooth(server)
    server.fault = lambda seen: REFUSED if "stream_options" in seen.body else OK
    messages, out = await streamed(graph(server.specifier))
    assert tree(out) == tree(whole) and messages > out["usage"]["requests"]
    assert len(server.seen) == out["usage"]["requests"] + 1


async def test_a_model_without_streams_is_sent_none(server: FakeServer) -> None:
    whole = await smooth(server)
    _, out = await streamed(graph(server.chat(disable_streaming=True)))
    assert tree(out) == tree(whole)
    assert not any(seen.body.get("stream") for seen in server.seen)


@pytest.mark.parametrize(("code", "final"), [(402, True), (429, False)])
async def test_an_error_inside_a_stream_is_read_by_its_code(
    server: FakeServer, code: int, final: bool
) -> None:
    failure = {"error": {"message": "why not", "code": code}}
    server.events = lambda chunks: [failure] if len(server.seen) == 1 else chunks
    _, out = await streamed(graph(server.specifier), on_error="report")
    assert (out["stop_reason"] == "error") == (len(server.seen) == 1) == final


SIZES: list[list[tuple[int, int] | None]] = [
    [None, None, None, None, (10, 4)],
    [(10, 1), None, (10, 3), None, (10, 4)],
    [(0, 1), (0, 2), (0, 3), (10, 4), (10, 4)],
]
"""What a stream's chunks tell of the size: three of text, one with the finish reason, one beside
no choice."""


@pytest.mark.parametrize("told", SIZES, ids=lambda _: "")
async def test_the_size_of_a_stream_is_the_largest_that_it_tells(
    server: FakeServer, told: list[tuple[int, int] | None]
) -> None:
    def events(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rest = {k: v for k, v in chunks[0].items() if k not in ("choices", "usage")}
        parts = [{"content": word} for word in ("The answer ", "is ", "42")] + [{}]
        choices = [[{"index": 0, "delta": each, "finish_reason": None}] for each in parts]
        choices[-1][0]["finish_reason"] = "stop"
        sent = [{**rest, "choices": each} for each in (*choices, [])]
        for chunk, size in zip(sent, told, strict=True):
            if size:
                names = ("prompt_tokens", "completion_tokens", "total_tokens")
                chunk["usage"] = dict(zip(names, (*size, sum(size)), strict=True))
        return sent

    server.reply, server.events = lambda seen: "The answer is 42", events
    running = tg.build("cot", task="gsm8k", model=server.specifier)
    _, out = await streamed(running, {"problem": "6 * 7?"})
    assert (out["usage"]["prompt_tokens"], out["usage"]["completion_tokens"]) == (10, 4)
