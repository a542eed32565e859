"""What traces and logs tell of a run."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.tools import tool
from langchain_core.tracers import LangChainTracer
from langgraph.checkpoint.memory import InMemorySaver
from langsmith import Client
from support.fake_server import FakeServer, Fault, Seen
from support.spelling import Spelling, spell, speller

import thoughtgraph as tg
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.retry import Retry


class Trace(AsyncCallbackHandler):
    """Keeps what LangChain tells tracers such as LangSmith's."""

    def __init__(self) -> None:
        self.models: list[tuple[dict[str, Any], list[str]]] = []
        self.tools: list[dict[str, Any]] = []

    async def on_chat_model_start(self, serialized: Any, messages: Any, **told: Any) -> None:
        self.models.append((told["metadata"], told["tags"]))

    async def on_tool_start(self, serialized: Any, input_str: str, **told: Any) -> None:
        self.tools.append(told["metadata"])


async def test_each_call_of_a_model_says_what_it_is_about() -> None:
    trace = Trace()
    graph = tg.build("tot_bfs", task=Spelling(), model=speller())
    config: Any = {"callbacks": [trace], "run_name": "mine", "tags": ["nightly"]}
    out = await graph.ainvoke({"problem": "leaf"}, config)
    assert len(trace.models) == out["usage"]["requests"]
    judged = set[str]()
    for metadata, tags in trace.models:
        role, thoughts = metadata["thoughtgraph_role"], metadata["thoughtgraph_thoughts"]
        assert metadata["thoughtgraph_method"] == "tot_bfs"
        assert metadata["thoughtgraph_run"] == out["run"]
        assert {f"role:{role}", "nightly"} <= set(tags)
        assert out["tree"][thoughts[0]]["depth"] == metadata["thoughtgraph_depth"]
        judged |= set(thoughts) if role == "value" else set()
    assert judged <= out["tree"].keys() - {"0"}


@tool
async def price_list(product: str) -> str:
    """Looks a product up."""
    return "20 users"


async def test_so_does_each_call_of_a_tool(tmp_path: Path) -> None:
    corpus = tmp_path / "pages.jsonl"
    corpus.write_text(json.dumps({"title": "Milan", "text": "A city."}))

    def act(call: Any) -> str:
        known = "20 users" in call.prompt
        return f"Thought: so.\nAction: {'Finish[20]' if known else 'price_list[team]'}"

    trace = Trace()
    model = tg.ScriptedChat(reply={"generate": act})
    graph = tg.build("react", task="hotpotqa", model=model, tools=[price_list])
    config: Any = {"callbacks": [trace]}
    context: Any = {"corpus": str(corpus), "examples": "none"}
    out = await graph.ainvoke({"problem": "How many?"}, config, context=context)
    metadata, *_ = trace.tools  # Finish comes after it
    assert metadata["thoughtgraph_method"] == "react"
    assert metadata["thoughtgraph_thoughts"] == ["1"]
    assert out["answer"] == "20"


@pytest.mark.parametrize("most", [1_000, 1])
async def test_traces_count_the_tokens_that_a_run_says_it_spent(most: int) -> None:
    smith = Mock(spec=Client, tracing_queue=None)
    with FakeServer() as server:
        server.most_choices = most
        graph = tg.build("cot_sc", task="game24", model=server.chat())
        config: Any = {"callbacks": [LangChainTracer(client=smith)]}
        out = await graph.ainvoke({"problem": "4 9 10 13"}, config, context={"n_generate": 8})
    kept = [call.kwargs["extra"]["metadata"] for call in smith.update_run.mock_calls]
    told = [metadata["usage_metadata"] for metadata in kept if "usage_metadata" in metadata]
    for kind, name in (("prompt", "input_tokens"), ("completion", "output_tokens")):
        assert sum(each[name] for each in told) == out["usage"][f"{kind}_tokens"]


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
