"""What a run logs: one line for each thing that happens, that says whose it is and no texts."""

import asyncio
import json
import logging
from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.fake_server import FakeServer, Fault, Seen
from support.spelling import Spelling, spell

import thoughtgraph as tg
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.retry import Retry

KEY = "tg-canary-key-0123456789"
WORDS = ("leaf", "oak")
QUICK = Retry(first_wait=0.001)


REPLY = spell


def graph(server: FakeServer, **more: Any) -> Any:
    asked = ChatPort(server.chat(api_key=KEY), retry=QUICK)
    return tg.build("tot_bfs", task=Spelling(), model=asked, **more)


def lines(caplog: pytest.LogCaptureFixture, run: str) -> list[str]:
    """The texts of one run's records, less what they begin with."""
    own = [each for each in caplog.records if getattr(each, "thoughtgraph_run", None) == run]
    assert all(f" run={run}" in each.getMessage() for each in own)
    return [each.getMessage().partition(": ")[2] for each in own]


async def test_two_searches_side_by_side_are_told_apart(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    running = graph(server, checkpointer=InMemorySaver())
    ids = [uuid4() for _ in WORDS]

    def search(at: int) -> Any:
        config = {"run_id": ids[at], "configurable": {"thread_id": f"of {WORDS[at]}"}}
        given = {"problem": WORDS[at]}
        return running.ainvoke(given, config, context={"steps": len(WORDS[at])})

    with caplog.at_level(logging.DEBUG, "thoughtgraph"):
        outs = await asyncio.gather(search(0), search(1))
    for at, out in enumerate(outs):
        own = [r for r in caplog.records if r.__dict__["run_id"] == str(ids[at])]
        known = {"run": out["run"], "method": "tot_bfs", "task": "spelling"}
        whose = f"method=tot_bfs task=spelling run={out['run']} run_id='{ids[at]}' thread_id="
        for record in own:
            assert {name: record.__dict__[f"thoughtgraph_{name}"] for name in known} == known
            assert record.__dict__["thread_id"] == f"of {WORDS[at]}"
            assert record.getMessage().startswith(whose)
        first, *requests, last = lines(caplog, out["run"])
        assert first == "starts"
        assert last.startswith("ended: ") and f"requests={out['usage']['requests']} " in last
        assert len(requests) == out["usage"]["requests"] == len(own) - 2
        assert {line.split()[0] for line in requests} == {"generate", "value"}
        for kind in ("prompt_tokens", "completion_tokens"):
            spent = sum(int(line.partition(f"{kind}=")[2].split()[0]) for line in requests)
            assert spent == out["usage"][kind]
    assert len({out["run"] for out in outs}) == 2


async def test_retries_limits_and_failures_are_lines_without_requests_at_info(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.fault = lambda seen: Fault(503) if seen.number == 1 else Fault()
    with caplog.at_level(logging.INFO, "thoughtgraph"):
        out = await graph(server).ainvoke({"problem": "leaf"}, context={"limit_requests": 3})
        first, retried, reached, last = lines(caplog, out["run"])
        assert (first, reached) == ("starts", "reached limit_requests=3")
        assert retried.startswith("value of thoughts ") and retried.endswith(" retried: HTTP 503")
        assert last.startswith("ended: budget, ")
        server.fault = lambda seen: Fault(401)
        out = await graph(server).ainvoke({"problem": "leaf"}, context={"on_error": "report"})
        _, failed, last = lines(caplog, out["run"])
    assert failed == "generate of thoughts 0 failed for good: HTTP 401"
    assert last.startswith("ended: error, without an answer, ")


async def test_no_key_is_logged_and_texts_only_where_the_user_asks_for_them_by_name(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "thoughtgraph.prompts"):
        out = await graph(server).ainvoke({"problem": "leaf"})
    own = [each for each in caplog.records if each.name == "thoughtgraph.prompts"]
    assert len(own) == out["usage"]["requests"]
    assert "generate asked ['leaf|'], answered ['l\\n-']" in own[0].getMessage()
    assert KEY not in caplog.text

    def echo(seen: Seen) -> Fault:
        """An endpoint that repeats what it was sent."""
        told = json.dumps({"error": {"message": f"{seen.prompt} {seen.headers}"}})
        status = {0: 503, 1: 200}.get(seen.number, 400)
        return Fault() if status == 200 else Fault(status, body=told)

    caplog.clear()
    server.seen.clear()
    server.fault = echo
    server.reply = lambda seen: "anscanary\n-"
    with caplog.at_level(logging.DEBUG, "thoughtgraph"), pytest.raises(tg.ModelError):
        await graph(server).ainvoke({"problem": "promptcanary"})
    assert KEY in server.seen[0].headers["authorization"]
    assert "is retried: HTTP 503" in caplog.text and "failed for good: HTTP 400" in caplog.text
    everything = caplog.text + repr([record.__dict__ for record in caplog.records])
    for canary in (KEY, "promptcanary", "anscanary"):
        assert canary not in everything
