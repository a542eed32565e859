"""Whatever an endpoint makes of being asked for a stream, a run comes out as without one."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.fake_server import OK, FakeServer, Fault, Seen
from support.spelling import Spelling, spell

import thoughtgraph as tg
from thoughtgraph.llm.endpoints import port_for

REFUSED = Fault(400, body='{"error": {"message": "not supported"}}')
USAGE = ("requests", "samples", "prompt_tokens", "completion_tokens", "retries")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(spell) as running:
        yield running


def graph(server: FakeServer, **more: Any) -> Any:
    return tg.build("tot_bfs", task=Spelling(), model=port_for(server.specifier), **more)


async def streamed(running: Any) -> tuple[int, dict[str, Any]]:
    """Returns how many messages a run sent, and its result."""
    messages, out = 0, {}
    async for mode, part in running.astream(
        {"problem": "leaf"}, stream_mode=["messages", "values"]
    ):
        if mode == "messages":
            messages += 1
        else:
            out = part
    return messages, out


def refuses_streams(server: FakeServer) -> None:
    server.fault = lambda seen: REFUSED if seen.body.get("stream") else OK


def refuses_to_tell_the_size(server: FakeServer) -> None:
    server.fault = lambda seen: REFUSED if "stream_options" in seen.body else OK


def answers_whole(server: FakeServer) -> None:
    server.streams = False


def texts(out: dict[str, Any]) -> dict[str, str]:
    return {key: thought["text"] for key, thought in out["tree"].items()}


def what_it_spent(out: dict[str, Any]) -> dict[str, Any]:
    return {name: out["usage"][name] for name in USAGE}


async def test_a_streamed_run_counts_the_tokens_of_one_that_is_not(server: FakeServer) -> None:
    smooth = await graph(server).ainvoke({"problem": "leaf"})
    assert not any(seen.body.get("stream") for seen in server.seen)
    server.seen.clear()
    messages, out = await streamed(graph(server))
    assert messages > out["usage"]["requests"], "token by token"
    assert all(seen.body["stream_options"] == {"include_usage": True} for seen in server.seen)
    assert out["answer"] == smooth["answer"] == "leaf"
    assert what_it_spent(out) == what_it_spent(smooth)


@pytest.mark.parametrize(
    ("fault", "tried", "tokens"),
    [(refuses_streams, 2, False), (refuses_to_tell_the_size, 1, True), (answers_whole, 1, False)],
)
async def test_what_an_endpoint_does_not_stream_comes_otherwise(
    server: FakeServer, fault: Callable[[FakeServer], None], tried: int, tokens: bool
) -> None:
    smooth = await graph(server).ainvoke({"problem": "leaf"})
    server.seen.clear()
    fault(server)
    running = graph(server)
    messages, out = await streamed(running)
    assert out["answer"] == "leaf" and texts(out) == texts(smooth)
    assert (messages > out["usage"]["requests"]) == tokens
    if not tokens:  # else the size is an estimate
        assert what_it_spent(out) == what_it_spent(smooth)
    assert len(server.seen) == out["usage"]["requests"] + tried, "it is learnt by one request"


async def test_a_request_refused_for_its_own_sake_stops_no_later_stream(server: FakeServer) -> None:
    running = graph(server)
    server.fault = lambda seen: REFUSED
    with pytest.raises(tg.ModelError, match="HTTP 400"):
        await streamed(running)
    server.fault = lambda seen: OK
    server.seen.clear()
    messages, out = await streamed(running)
    assert out["answer"] == "leaf" and messages > out["usage"]["requests"]


async def test_a_model_that_is_told_not_to_ask_for_sizes_does_not(server: FakeServer) -> None:
    model = server.chat(stream_usage=False)
    await streamed(tg.build("tot_bfs", task=Spelling(), model=model))
    assert server.seen[0].body["stream"] and "stream_options" not in server.seen[0].body


async def test_a_model_that_always_streams_gets_whole_answers_where_streams_are_refused(
    server: FakeServer,
) -> None:
    def refuses(seen: Seen) -> Fault:
        return REFUSED if seen.body.get("stream") else OK

    server.fault = refuses
    model = server.chat(streaming=True)
    out = await tg.build("tot_bfs", task=Spelling(), model=model).ainvoke({"problem": "leaf"})
    assert out["answer"] == "leaf"


async def test_a_stream_without_a_finish_reason_is_a_failed_attempt(server: FakeServer) -> None:
    smooth = await graph(server).ainvoke({"problem": "leaf"})
    server.seen.clear()
    server.finishes = lambda seen, index: None if seen.number == 0 else "stop"
    _, out = await streamed(graph(server))
    assert out["answer"] == "leaf" and texts(out) == texts(smooth)
    assert out["usage"]["retries"] == 1
    assert out["usage"]["completion_tokens"] == smooth["usage"]["completion_tokens"]


async def test_a_stream_with_a_finish_reason_is_whole_without_its_last_event(
    server: FakeServer,
) -> None:
    server.done = False
    _, out = await streamed(graph(server))
    assert out["answer"] == "leaf" and not out["usage"].get("retries")


def told_so_far(chunks: list[dict[str, Any]], last: bool) -> list[dict[str, Any]]:
    """Has each chunk tell the size so far, and the last one again, or not."""
    tokens = [chunk for chunk in chunks if chunk["choices"]]
    whole = chunks[-1]["usage"]
    for chunk, left in zip(tokens, range(len(tokens) - 1, -1, -1), strict=True):
        completion = max(0, whole["completion_tokens"] - left)
        chunk["usage"] = {**whole, "completion_tokens": completion, "total_tokens": 0}
    return chunks if last else tokens


@pytest.mark.parametrize("last", [True, False])
async def test_sizes_in_every_chunk_are_not_added_up(server: FakeServer, last: bool) -> None:
    smooth = await graph(server).ainvoke({"problem": "leaf"})
    server.events = lambda chunks: told_so_far(chunks, last)
    _, out = await streamed(graph(server))
    assert what_it_spent(out) == what_it_spent(smooth)


async def test_a_refused_parameter_leaves_the_stream_as_it_is(server: FakeServer) -> None:
    refusal = Fault(400, body='{"error": {"message": "temperature is not supported"}}')
    server.fault = lambda seen: refusal if "temperature" in seen.body else OK
    messages, out = await streamed(graph(server))
    assert out["answer"] == "leaf" and messages > out["usage"]["requests"], "token by token"
    assert len(server.seen) == out["usage"]["requests"] + 1
    assert all("stream_options" in seen.body for seen in server.seen)


@pytest.mark.parametrize(("code", "stop_reason"), [(402, "error"), (429, "finished")])
async def test_an_error_inside_a_stream_is_read_by_its_code(
    server: FakeServer, code: int, stop_reason: str
) -> None:
    failure = {"error": {"message": "why not", "code": code}}
    server.events = lambda chunks: [failure] if len(server.seen) == 1 else chunks
    _, out = await streamed(graph(server))
    assert (out["stop_reason"] == "error") == (stop_reason == "error")
    assert (len(server.seen) == 1) == (stop_reason == "error")
