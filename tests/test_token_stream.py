"""Whatever an endpoint makes of being asked for a stream, a run comes out as without one."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from support.fake_server import OK, FakeServer, Fault
from support.players import play

import thoughtgraph as tg
from thoughtgraph.llm.endpoints import port_for

REFUSED = Fault(400, body='{"error": {"message": "not supported"}}')
PROBLEM = {"problem": "4 9 10 13"}
NARROW = {"breadth": 2}
USAGE = ("requests", "samples", "prompt_tokens", "completion_tokens")


REPLY = play


def graph(model: Any) -> Any:
    return tg.build("tot_bfs", task="game24", model=model)


async def streamed(running: Any, problem: Any = PROBLEM, **context: Any) -> tuple[int, Any]:
    """Returns how many messages a run sent, and its result."""
    modes = ["messages", "values"]
    parts = [each async for each in running.astream(problem, context=context, stream_mode=modes)]
    values = [part for mode, part in parts if mode == "values"]
    return len(parts) - len(values), values[-1]


def set_up(**attributes: Any) -> Callable[[FakeServer], None]:
    return lambda server: vars(server).update(attributes)


class Stream(NamedTuple):
    """What an endpoint makes of it."""

    set_up: Callable[[FakeServer], None]
    tried: int = 0
    """Requests besides those of the search: it is learnt by one."""
    tokens: bool = True
    """Whether they come one by one all the same."""
    exact: bool = True
    """Whether the size is told, and no estimate."""
    retries: int = 0


STREAMS = {
    "plain": Stream(set_up()),
    "refused": Stream(
        set_up(fault=lambda seen: REFUSED if seen.body.get("stream") else OK), 2, tokens=False
    ),
    "its size refused": Stream(
        set_up(fault=lambda seen: REFUSED if "stream_options" in seen.body else OK), 1, exact=False
    ),
    "answered whole": Stream(set_up(streams=False), 1, tokens=False),
    "without a finish reason": Stream(
        set_up(finishes=lambda seen, index: None if seen.number == 0 else "stop"), 1, retries=1
    ),
}


@pytest.mark.parametrize("name", STREAMS)
async def test_a_streamed_run_is_one_that_is_not(server: FakeServer, name: str) -> None:
    smooth = await graph(port_for(server.specifier)).ainvoke(PROBLEM, context=NARROW)
    assert not any(seen.body.get("stream") for seen in server.seen)
    case = STREAMS[name]
    server.seen.clear()
    case.set_up(server)
    messages, out = await streamed(graph(port_for(server.specifier)), **NARROW)
    assert out["answer"] == smooth["answer"] is not None
    trees = [{k: (t["text"], t.get("value")) for k, t in o["tree"].items()} for o in (out, smooth)]
    assert trees[0] == trees[1]
    usage = out["usage"]
    assert (messages > usage["requests"]) == case.tokens, "token by token"
    assert len(server.seen) == usage["requests"] + case.tried
    assert usage.get("retries", 0) == case.retries
    if case.exact:
        spent = [{name: run["usage"][name] for name in USAGE} for run in (out, smooth)]
        assert spent[0] == spent[1]
    if case.exact and case.tokens:
        asked = [seen.body.get("stream_options") for seen in server.seen]
        wanted = [None if seen.n > 1 else {"include_usage": True} for seen in server.seen]
        assert asked == wanted, "no stream carries several samples"


async def test_a_request_refused_for_its_own_sake_stops_no_later_stream(server: FakeServer) -> None:
    running = graph(port_for(server.specifier))
    server.fault = lambda seen: REFUSED
    with pytest.raises(tg.ModelError, match="HTTP 400"):
        await streamed(running, **NARROW)
    server.fault = lambda seen: OK
    messages, out = await streamed(running, **NARROW)
    assert out["answer"] and messages > out["usage"]["requests"]


@pytest.mark.parametrize(("code", "final"), [(402, True), (429, False)])
async def test_an_error_inside_a_stream_is_read_by_its_code(
    server: FakeServer, code: int, final: bool
) -> None:
    failure = {"error": {"message": "why not", "code": code}}
    server.events = lambda chunks: [failure] if len(server.seen) == 1 else chunks
    _, out = await streamed(graph(port_for(server.specifier)), on_error="report", **NARROW)
    assert (out["stop_reason"] == "error") == (len(server.seen) == 1) == final


SIZES: dict[str, list[tuple[int, int] | None]] = {
    "none told": [None, None, None, None, None],
    "the last alone": [None, None, None, None, (10, 4)],
    "with the finish reason and again": [None, None, None, (10, 4), (10, 4)],
    "so far": [(10, 1), (10, 2), (10, 3), (10, 4), None],
    "so far, with gaps": [(10, 1), None, (10, 3), None, (10, 4)],
    "the prompt last": [(0, 1), (0, 2), (0, 3), (10, 4), None],
    "all first": [(10, 4), None, None, None, None],
    "nothing in between": [(0, 0), (0, 0), (0, 0), (0, 0), (10, 4)],
    "the prompt grows": [(4, 1), (8, 2), (10, 3), (10, 4), None],
}
"""What a stream's chunks tell of the size: three of text, one with the finish reason, one beside
no choice."""


@pytest.mark.parametrize("name", SIZES)
async def test_the_size_of_a_stream_is_the_largest_that_it_tells(
    server: FakeServer, name: str
) -> None:
    told = SIZES[name]

    def events(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rest = {k: v for k, v in chunks[0].items() if k not in ("choices", "usage")}
        parts = [{"content": word} for word in ("The answer ", "is ", "42")] + [{}]
        sent: list[dict[str, Any]] = [
            {**rest, "choices": [{"index": 0, "delta": each, "finish_reason": None}]}
            for each in parts
        ]
        sent[-1]["choices"][0]["finish_reason"] = "stop"
        sent.append({**rest, "choices": []})
        for chunk, size in zip(sent, told, strict=True):
            if size:
                names = ("prompt_tokens", "completion_tokens", "total_tokens")
                chunk["usage"] = dict(zip(names, (*size, sum(size)), strict=True))
        return sent if told[-1] else sent[:-1]

    server.reply, server.events = lambda seen: "The answer is 42", events
    running = tg.build("cot", task="gsm8k", model=port_for(server.specifier))
    _, out = await streamed(running, {"problem": "6 * 7?"})
    assert out["answer"] == "42"
    spent = out["usage"]["prompt_tokens"], out["usage"]["completion_tokens"]
    assert spent == (10, 4) or not any(told)
