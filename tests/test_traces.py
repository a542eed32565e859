"""What a trace knows of each call: whose it is, what for, about which thoughts."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.tools import tool
from langchain_core.tracers import LangChainTracer
from langsmith import Client
from support.fake_server import FakeServer
from support.spelling import Spelling, speller

import thoughtgraph as tg


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


@pytest.mark.parametrize("fingerprint", [None, "b4321-1a2b3c4"])
@pytest.mark.parametrize("most", [1_000, 1])
async def test_traces_count_the_tokens_that_a_run_says_it_spent(
    fingerprint: str | None, most: int
) -> None:
    """Also where a server, as llama.cpp's does, counts the first of several samples alone."""
    smith, counter = Mock(spec=Client, tracing_queue=None), UsageMetadataCallbackHandler()
    with FakeServer() as server:
        server.fingerprint, server.most_choices = fingerprint, most
        graph = tg.build("cot_sc", task="game24", model=server.chat())
        config: Any = {"callbacks": [LangChainTracer(client=smith), counter]}
        out = await graph.ainvoke({"problem": "4 9 10 13"}, config, context={"n_generate": 8})
    assert out["usage"]["samples"] == 8, out["error"]
    kept = [call.kwargs["extra"]["metadata"] for call in smith.update_run.mock_calls]
    told = [metadata["usage_metadata"] for metadata in kept if "usage_metadata" in metadata]
    (counted,) = counter.usage_metadata.values()
    for kind, name in (("prompt", "input_tokens"), ("completion", "output_tokens")):
        spent = out["usage"][f"{kind}_tokens"]
        assert sum(each[name] for each in told) == dict(counted)[name] == spent
