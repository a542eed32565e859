"""Every method by a server's public endpoints alone: graph, streams, history, fork, edit, review,
MCP."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from langgraph_sdk.client import LangGraphClient as Client
from support.place import PROSE, Place, Start

from thoughtgraph import registry
from thoughtgraph.bench.questions.scene_questions import generate

pytestmark = pytest.mark.ci

METHODS = [method for method in registry.METHODS if method != "reflexion"]
"""All that a client can run: reflexion needs a task that checks or judges answers, as none does."""


class Case(NamedTuple):
    """A search of some steps."""

    problem: str
    context: dict[str, str]


GAME = Case("4 9 10 13", {"task": "game24", "model": "play"})
STEPS = Case("One? Two.", {"task": "gsm8k", "model": "steps"})
PLANS = Case(generate("ptr", "sum", 1, 0)[0].problem(), {"task": "ptr", "model": "plans"})
PAGES = Case("Is A near B?", {"task": "hotpotqa", "model": "walk", "corpus": "few"})
CASES = {
    **dict.fromkeys(("io", "cot", "cot_sc", "adaptive", "tot_bfs", "tot_dfs"), GAME),
    **dict.fromkeys(("rollback", "chain", "level_tot"), STEPS),
    **dict.fromkeys(("tomt_one_stop", "tomt_tot", "tomt_os", "tomt_block"), PLANS),
    "refine": Case(PROSE, {"task": "creative_writing", "model": "prose"}),
}
"""Of the other methods: `PAGES`."""
REVIEWED = ("tot_bfs", "refine", "fgdip", "tomt_os")
OFTEN = (*REVIEWED, "adaptive", "tot_dfs", "rollback", "react", "itot_a_star")
"""Methods of each family; the others are edited and reviewed on a server in the slow tests."""


def often(methods: Sequence[str]) -> list[Any]:
    """Cases of all methods, of which these are no slow ones."""
    slow = pytest.mark.slow
    return [each if each in methods else pytest.param(each, marks=slow) for each in METHODS]


@pytest.fixture(scope="module", params=["dev", pytest.param("aegra", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, start: Start) -> Place:
    return start(str(request.param))


async def search(client: Client, method: str, **more: Any) -> tuple[str, list[Any]]:
    """Streams one search on a thread of its own; returns the thread and the parts."""
    case = CASES.get(method, PAGES)
    context: Any = {"limit_requests": 12, "limit_rounds": 12, **case.context, **more}
    thread = (await client.threads.create())["thread_id"]
    modes: Any = ["updates", "values", "custom", "tasks"]
    stream = client.runs.stream(
        thread, method, input={"problem": case.problem}, context=context, stream_mode=modes
    )
    return thread, [part async for part in stream]


def last(parts: list[Any]) -> Any:
    return [part.data for part in parts if part.event == "values"][-1]


async def wait(client: Client, thread: str, method: str, **run: Any) -> Any:
    return await client.runs.wait(thread, method, raise_error=False, **run)


async def test_every_method_runs_to_an_end_and_blocks_no_event_loop(
    client: Client, place: Place
) -> None:
    """`langgraph dev` raises an error where a node does."""
    for _, parts in await asyncio.gather(*(search(client, method) for method in METHODS)):
        assert last(parts)["stop_reason"] and last(parts)["tree"]
        assert not [part for part in parts if part.event == "error"], parts[-1]
    assert "BlockingError" not in place.server.log.read_text()


@pytest.mark.parametrize("method", often(OFTEN))
async def test_a_client_sees_all_of_a_search_goes_back_in_it_and_edits_it(
    client: Client, place: Place, method: str
) -> None:
    (assistant, *_) = await client.assistants.search(graph_id=method)
    graph: Any = await client.assistants.get_graph(assistant["assistant_id"], xray=True)
    assert {"start", "__start__", "__end__"} <= {node["id"] for node in graph["nodes"]}
    thread, parts = await search(client, method)
    assert {"updates", "values", "custom", "tasks"} <= {part.event for part in parts}
    end = last(parts)
    made = [p.data["id"] for p in parts if p.event == "custom" and p.data.get("event") == "made"]
    assert made == [key for key in end["tree"] if key != "0"]
    state: Any = await client.threads.get_state(thread)
    assert state["values"]["tree"] == end["tree"]
    history: Any = await client.threads.get_history(thread, limit=1000)
    middle = next(
        h for h in history[::-1] if h["next"] and len(h["values"].get("thoughts", {})) > 1
    )
    checkpoint = middle["checkpoint"]["checkpoint_id"]
    again = await wait(client, thread, method, input=None, checkpoint_id=checkpoint)
    assert again["tree"].keys() == end["tree"].keys() and again["answer"] == end["answer"]
    await _edit(client, place, thread, method, history[::-1])


async def _edit(client: Client, place: Place, thread: str, method: str, history: list[Any]) -> None:
    """Prunes an open thought at three states of a thread; the searches from there leave it so."""
    edited = 0
    for past in history:
        tree = past["values"].get("thoughts", {})
        open_ones = [key for key, t in tree.items() if key != "0" and t["status"] == "open"]
        if not past["next"] or not open_ones or edited > 2:
            continue
        key = open_ones[-1]
        values = {"thoughts": {key: {"status": "pruned", "note": "no"}}}
        body = {"values": values, "checkpoint_id": past["checkpoint"]["checkpoint_id"]}
        answer = place.ask("POST", f"/threads/{thread}/state", body)
        assert answer.status == 200 or "prune it" in answer.text, answer.text[:500]
        if answer.status == 200:
            edited += 1
            fork = answer.body["checkpoint"]["checkpoint_id"]
            out = await wait(client, thread, method, input=None, checkpoint_id=fork)
            assert out["tree"][key]["status"] == "pruned"
            assert not [t for t in out["tree"].values() if t["parent"] == key and key not in tree]


@pytest.mark.parametrize("method", often(REVIEWED))
async def test_a_client_reviews_the_answer(client: Client, method: str) -> None:
    thread, parts = await search(client, method, review="answer")
    (paused,) = last(parts)["__interrupt__"]
    assert paused["value"]["review"] == "answer"
    out = await wait(client, thread, method, command={"resume": {"note": "hm"}})
    assert out["__interrupt__"][0]["value"]["error"]
    out = await wait(client, thread, method, command={"resume": {"answer": "mine"}})
    assert out["answer"] == "mine"


def test_every_method_is_a_tool_of_mcp(dev: Place) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepted = {"Accept": "application/json, text/event-stream"}
    answer = dev.ask("POST", "/mcp", body, **accepted)
    text = answer.text.removeprefix("event: message\n").removeprefix("data: ")
    tools = {tool["name"] for tool in json.loads(text)["result"]["tools"]}
    assert set(registry.METHODS) <= tools
