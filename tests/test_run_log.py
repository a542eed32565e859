"""What a run logs: one line for each thing that happens, that says whose it is and no texts."""

import asyncio
import json
import logging
from collections.abc import Iterator
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


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(spell) as running:
        yield running


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
        for record in own:
            known = record.__dict__
            assert known["thoughtgraph_run"] == out["run"]
            assert known["thread_id"] == f"of {WORDS[at]}"
            assert (known["thoughtgraph_method"], known["thoughtgraph_task"]) == (
                "tot_bfs",
                "spelling",
            )
            said = record.getMessage()
            whose = f"method=tot_bfs task=spelling run={out['run']} run_id='{ids[at]}' thread_id="
            assert said.startswith(whose)
        first, *requests, last = lines(caplog, out["run"])
        assert first == "starts"
        assert last.startswith("ended: ") and f"requests={out['usage']['requests']} " in last
        assert len(requests) == out["usage"]["requests"]
        assert {line.split()[0] for line in requests} == {"generate", "value"}
        assert len(own) == len(requests) + 2
    assert len({out["run"] for out in outs}) == 2


async def test_the_lines_of_requests_add_up_to_what_the_run_spent(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "thoughtgraph"):
        out = await graph(server).ainvoke({"problem": "leaf"})
    requests = [line for line in lines(caplog, out["run"]) if " samples=" in line]
    for kind in ("prompt_tokens", "completion_tokens"):
        spent = sum(int(line.partition(f"{kind}=")[2].split()[0]) for line in requests)
        assert spent == out["usage"][kind]


async def test_retries_and_limits_are_lines_without_requests_at_info(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.fault = lambda seen: Fault(503) if seen.number == 1 else Fault()
    with caplog.at_level(logging.INFO, "thoughtgraph"):
        out = await graph(server).ainvoke({"problem": "leaf"}, context={"limit_requests": 3})
    first, retried, reached, last = lines(caplog, out["run"])
    assert (first, reached) == ("starts", "reached limit_requests=3")
    assert retried.startswith("value of thoughts ") and retried.endswith(" is retried: HTTP 503")
    assert last.startswith("ended: budget, ")


async def test_a_run_whose_model_fails_says_of_which_kind(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.fault = lambda seen: Fault(401)
    with caplog.at_level(logging.INFO, "thoughtgraph"):
        out = await graph(server).ainvoke({"problem": "leaf"}, context={"on_error": "report"})
    _, failed, last = lines(caplog, out["run"])
    assert failed == "generate of thoughts 0 failed for good: HTTP 401"
    assert last.startswith("ended: error, without an answer, ")


async def test_no_text_and_no_key_is_logged_though_an_endpoint_repeats_them(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    def echo(seen: Seen) -> Fault:
        told = json.dumps({"error": {"message": f"{seen.prompt} {seen.headers}"}})
        return Fault(503 if seen.number == 0 else 400, body=told) if seen.number != 1 else Fault()

    server.fault = echo
    server.reply = lambda seen: "anscanary\n-"
    with caplog.at_level(logging.DEBUG, "thoughtgraph"), pytest.raises(tg.ModelError):
        await graph(server).ainvoke({"problem": "promptcanary"})
    assert KEY in server.seen[0].headers["authorization"]
    assert "is retried: HTTP 503" in caplog.text and "failed for good: HTTP 400" in caplog.text
    everything = caplog.text + repr([record.__dict__ for record in caplog.records])
    for canary in (KEY, "promptcanary", "anscanary"):
        assert canary not in everything


async def test_texts_are_logged_where_the_user_asks_for_them_by_name(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "thoughtgraph.prompts"):
        out = await graph(server).ainvoke({"problem": "leaf"})
    own = [each for each in caplog.records if each.name == "thoughtgraph.prompts"]
    assert len(own) == out["usage"]["requests"]
    assert "generate asked ['leaf|'], answered ['l\\n-']" in own[0].getMessage()
    assert KEY not in caplog.text
