"""What a trace knows of each call: whose it is, what for, about which thoughts."""

import json
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.tools import tool
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
    for metadata, tags in trace.models:
        role = metadata["thoughtgraph_role"]
        assert (metadata["thoughtgraph_method"], metadata["thoughtgraph_run"]) == (
            "tot_bfs",
            out["run"],
        )
        assert {f"role:{role}", "nightly"} <= set(tags)
        (first, *_) = metadata["thoughtgraph_thoughts"]
        assert out["tree"][first]["depth"] == metadata["thoughtgraph_depth"]
    judged = [
        m["thoughtgraph_thoughts"] for m, _ in trace.models if m["thoughtgraph_role"] == "value"
    ]
    assert {key for keys in judged for key in keys} <= out["tree"].keys() - {"0"}


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
    given: Any = {"problem": "How many?"}
    out = await graph.ainvoke(given, config, context={"corpus": str(corpus), "examples": "none"})
    metadata, *_ = trace.tools  # Finish comes after it
    assert metadata["thoughtgraph_method"] == "react"
    assert metadata["thoughtgraph_thoughts"] == ["1"]
    assert out["answer"] == "20"
