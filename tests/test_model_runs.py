"""What a run makes of its model's server: limits, retries, records, shared answers, keys."""

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.fake_server import FakeServer, Fault, Seen, after
from support.players import play
from support.searches import untimed

import thoughtgraph as tg
from thoughtgraph.llm.limiter import Limiter
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.store import SqliteStore

PROBLEM = {"problem": "4 9 10 13"}
NARROW = {"breadth": 2, "on_error": "report"}
QUICK = tg.Retry(give_up_after=60.0, first_wait=0.001, longest_wait=0.01)
REPLY = play


def graph(server: FakeServer, **settings: Any) -> Any:
    port = ChatPort(server.chat(), **{"retry": QUICK, **settings})
    return tg.build("tot_bfs", task="game24", model=port)


async def run(running: Any, **context: Any) -> Any:
    return await running.ainvoke(PROBLEM, context={**NARROW, **context})


def tree(out: Any) -> dict[str, Any]:
    """A tree without what it cost, as calls for one sample each read the prompt several times."""
    return untimed(out["tree"])


FAULTS = (Fault(503), Fault(drop=True), Fault(truncate=True), Fault(body='{"choices": ['))


def fails_often(server: FakeServer) -> None:
    server.fault = lambda seen: FAULTS[seen.number // 3 % 4] if seen.number % 3 == 1 else Fault()


def has_one_sample_only(server: FakeServer) -> None:
    refusal = Fault(400, body='{"error": {"message": "n must be 1"}}')
    server.fault = lambda seen: refusal if seen.n > 1 else Fault()


@pytest.mark.parametrize("trouble", [fails_often, has_one_sample_only])
async def test_what_can_be_overcome_changes_no_tree(
    server: FakeServer, trouble: Callable[[FakeServer], None]
) -> None:
    smooth = await run(graph(server))
    server.seen.clear()
    trouble(server)
    rough = await run(graph(server))
    assert tree(rough) == tree(smooth)
    assert rough["answer"] == smooth["answer"] is not None
    assert rough["usage"]["requests"] == smooth["usage"]["requests"]
    assert (rough["usage"].get("retries", 0) > 0) == (trouble is fails_often)


@pytest.mark.parametrize("limits", [{"limit_tokens": 1_000}, {"limit_dollars": 0.001}])
async def test_tokens_and_dollars_are_exceeded_by_calls_in_flight_only(
    server: FakeServer, limits: Any
) -> None:
    cap, sizes = 3, list[int]()

    def reply(seen: Seen) -> str:
        text = play(seen)
        sizes.append(len(seen.prompt.split()) + seen.n * len(text.split()))
        return text

    server.reply = reply
    narrow = graph(server, limiter=Limiter(tg.Rates(concurrency=cap)))
    out = await run(narrow, prices={"fake": (1.0, 1.0)}, **limits)
    used = out["usage"]["prompt_tokens"] + out["usage"]["completion_tokens"]
    assert out["stop_reason"] == "budget"
    assert 1_000 <= used < 1_000 + cap * max(sizes)
    assert out["usage"]["dollars"] == pytest.approx(used / 1e6)


async def test_concurrent_runs_share_a_cap_and_with_leave_their_evaluations(
    server: FakeServer,
) -> None:
    alone = await run(graph(server))
    requests = len(server.seen)
    server.seen.clear()
    server.peak, server.latency = 0, 0.01
    port = ChatPort(server.chat(), retry=QUICK, limiter=Limiter(tg.Rates(concurrency=3)))
    graphs = [tg.build("tot_bfs", task="game24", model=port) for _ in range(3)]
    outs = await asyncio.gather(*(run(each, share_evaluations=True) for each in graphs))
    assert server.peak == 3
    assert all(out["answer"] == alone["answer"] for out in outs)
    evaluations = [seen.prompt for seen in server.seen if "valuate" in seen.prompt]
    assert len(evaluations) == len(set(evaluations)), "each was asked once for all three runs"
    assert sum(out["usage"]["requests"] for out in outs) == len(server.seen) < 3 * requests


async def test_a_key_reaches_its_server_and_nothing_else(
    server: FakeServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = "tg-0123456789-secret"
    cache = SqliteStore(tmp_path / "a.sqlite")
    asked = ChatPort(server.chat(api_key=key), cache=cache, replay="record", retry=QUICK)
    running: Any = tg.build("tot_bfs", task="game24", model=asked)
    told = {"error": {"message": f"bad Bearer {key}"}}
    server.fault = after(3, Fault(401, body=json.dumps(told)))
    with caplog.at_level(logging.DEBUG):
        steps = running.astream(PROBLEM, context=NARROW, stream_mode="debug")
        seen = [str(chunk) async for chunk in steps]
    assert server.seen[0].headers["authorization"] == f"Bearer {key}"
    assert any("OPENAI_API_KEY" in text and "***" in text for text in seen), "it was repeated"
    assert not any(key in text for text in (*seen, caplog.text))
    files = list(tmp_path.iterdir())
    assert files and all(key.encode() not in file.read_bytes() for file in files)
