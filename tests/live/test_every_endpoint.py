"""Every method by a server's public endpoints alone: schemas, graph, streams, history, fork, edit,
review, assistants, MCP."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.drawing import PAGES, scribble, steps, walk
from support.fake_server import FakeServer, Seen
from support.players import play
from support.serving import Server, ask, copied, missing, serving

from thoughtgraph import registry
from thoughtgraph.cli import demo

pytest.importorskip("langgraph_sdk", reason="langgraph-sdk is not installed")

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient as Client

pytestmark = pytest.mark.ci


def prose(seen: Seen) -> str:
    """Writes, and is never content."""
    return "Passage:\nIt rained. The kettle hummed. Nobody came. She slept.\nNot good enough."


PLAYERS = {"play": play, "walk": walk, "steps": steps, "plans": scribble, "prose": prose}
"""Who answers, by the name of a model."""
QUESTION = {"problem": "Is A near B?"}
PUZZLE = {"problem": "4 9 10 13"}
METHODS = [method for method in registry.METHODS if method != "reflexion"]
"""All that a client can run: reflexion needs a task that checks or judges answers, as none does."""
SOLVED = ("io", "cot", "cot_sc", "adaptive", "refine", "tot_bfs", "tot_dfs")
REASONED = ("rollback", "chain", "level_tot")


class Case(NamedTuple):
    """A search of some steps."""

    input: dict[str, Any]
    context: dict[str, Any]


def case(method: str) -> Case:
    limits = {"limit_requests": 12, "limit_rounds": 12}
    if method in SOLVED:
        task = "creative_writing" if method == "refine" else "game24"
        text = "It rained. The kettle hummed. Nobody came. She slept."
        given = {"problem": text} if method == "refine" else PUZZLE
        player = "prose" if method == "refine" else "play"
        return Case(given, {"task": task, "model": player, **limits})
    if method in REASONED:
        return Case({"problem": "One? Two."}, {"task": "gsm8k", "model": "steps", **limits})
    if method.startswith("tomt"):
        return Case(
            {"problem": demo.demonstration(0).problem}, {"task": "ptr", "model": "plans", **limits}
        )
    return Case(QUESTION, {"task": "hotpotqa", "model": "walk", "corpus": "few", **limits})


@pytest.fixture(scope="module", params=["dev", "aegra"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which server it is."""
    if reason := missing(request.param):
        pytest.skip(reason)
    return str(request.param)


@pytest.fixture(scope="module")
def server(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("endpoints")
    corpus = folder / "pages.json"
    corpus.write_text(json.dumps(PAGES))
    with ExitStack() as stack:
        players = {n: stack.enter_context(FakeServer(reply)) for n, reply in PLAYERS.items()}
        models = ",".join(f"{name}={fake.specifier}" for name, fake in players.items())
        variables = {
            "THOUGHTGRAPH_SERVED_MODELS": models,
            "THOUGHTGRAPH_SERVED_CORPORA": f"few={corpus}",
        }
        yield stack.enter_context(
            serving(kind, folder, copied(folder, "langgraph.json"), **variables)
        )


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    async with get_client(url=server.url) as opened:
        yield opened


async def search(client: Client, method: str, **more: Any) -> tuple[str, list[Any]]:
    """Streams one search on a thread of its own; returns the thread and the parts."""
    given = case(method)
    thread = (await client.threads.create())["thread_id"]
    context: Any = {**given.context, **more}
    modes: Any = ["updates", "values", "custom", "tasks"]
    stream = client.runs.stream(
        thread, method, input=given.input, context=context, stream_mode=modes
    )
    return thread, [part async for part in stream]


def states(parts: list[Any]) -> list[Any]:
    return [part.data for part in parts if part.event == "values"]


async def wait(client: Client, thread: str, method: str, **given: Any) -> Any:
    return await client.runs.wait(thread, method, raise_error=False, **given)


@pytest.mark.parametrize("method", METHODS)
async def test_a_client_sees_all_of_a_search_and_goes_back_in_it(
    client: Client, method: str
) -> None:
    (assistant,) = await client.assistants.search(graph_id=method)
    graph: Any = await client.assistants.get_graph(assistant["assistant_id"], xray=True)
    assert {"start", "__start__", "__end__"} <= {node["id"] for node in graph["nodes"]}
    thread, parts = await search(client, method)
    assert not [part for part in parts if part.event == "error"], parts[-1]
    assert {"updates", "values", "custom", "tasks"} <= {part.event for part in parts}
    last = states(parts)[-1]
    assert last["stop_reason"] and last["tree"]
    made = [p.data["id"] for p in parts if p.event == "custom" and p.data.get("event") == "made"]
    assert made == [key for key in last["tree"] if key != "0"]
    state: Any = await client.threads.get_state(thread)
    assert state["values"]["tree"] == last["tree"]
    history: Any = await client.threads.get_history(thread, limit=1000)
    middle = next(h for h in history[::-1] if h["next"] and len(h["values"].get("tree", {})) > 1)
    again: Any = await wait(
        client, thread, method, input=None, checkpoint_id=middle["checkpoint"]["checkpoint_id"]
    )
    assert again["tree"].keys() == last["tree"].keys() and again["answer"] == last["answer"]


@pytest.mark.parametrize("method", METHODS)
async def test_a_client_edits_a_thread_in_its_middle(
    client: Client, server: Server, method: str
) -> None:
    thread, parts = await search(client, method)
    history: Any = await client.threads.get_history(thread, limit=1000)
    edited = 0
    for past in history[::-1]:
        tree = past["values"].get("tree", {})
        open_ones = [key for key, t in tree.items() if key != "0" and t["status"] == "open"]
        if not past["next"] or not open_ones or edited > 2:
            continue
        key = open_ones[-1]
        body = {
            "values": {"tree": {key: {"status": "pruned", "note": "no"}}},
            "checkpoint_id": past["checkpoint"]["checkpoint_id"],
        }
        answer = ask(server, "POST", f"/threads/{thread}/state", body)
        assert answer.status == 200 or "prune it" in answer.text, answer.text[:500]
        if answer.status != 200:
            continue
        edited += 1
        fork = answer.body["checkpoint"]["checkpoint_id"]
        out: Any = await wait(client, thread, method, input=None, checkpoint_id=fork)
        assert out["tree"][key]["status"] == "pruned"
        assert not [t for t in out["tree"].values() if t["parent"] == key and key not in tree]
    assert states(parts)


@pytest.mark.parametrize("method", METHODS)
async def test_a_client_reviews_the_answer(client: Client, method: str) -> None:
    thread, parts = await search(client, method, review="answer")
    (paused,) = states(parts)[-1]["__interrupt__"]
    assert paused["value"]["review"] == "answer"
    out: Any = await wait(client, thread, method, command={"resume": {"note": "hm"}})
    assert out["__interrupt__"][0]["value"]["error"]
    out = await wait(client, thread, method, command={"resume": {"answer": "mine"}})
    assert out["answer"] == "mine"


async def test_a_client_chooses_among_thoughts(client: Client) -> None:
    thread, parts = await search(client, "tot_bfs", review="select", breadth=2)
    (paused,) = states(parts)[-1]["__interrupt__"]
    keep = paused["value"]["thoughts"][-1]["id"]
    out: Any = await wait(client, thread, "tot_bfs", command={"resume": {"keep": [keep]}})
    while "__interrupt__" in out:
        out = await wait(client, thread, "tot_bfs", command={"resume": {"accept": True}})
    assert {t["parent"] for t in out["tree"].values() if t["depth"] == 2} == {keep}


@pytest.mark.parametrize(
    "values",
    [
        {"tree": {"1": {"status": "terminal"}}},
        {"tree": {"1": {"value": "high"}}},
        {"tree": {"99": {"parent": "77", "text": "x"}}},
        {"tree": {"1": {"tool_state": {"page": 1}}}},
        {"tree": "x"},
        {"usage": {"requests": -1000}},
        {"stack": []},
    ],
    ids=str,
)
async def test_what_makes_no_sense_is_refused_in_a_line(
    client: Client, server: Server, kind: str, values: dict[str, Any]
) -> None:
    thread, _ = await search(client, "tot_dfs")
    before: Any = await client.threads.get_state(thread)
    answer = ask(server, "POST", f"/threads/{thread}/state", {"values": values})
    # aegra 0.11 makes a 500 of whatever a graph refuses, with the line.
    assert 400 <= answer.status < (501 if kind == "aegra" else 500), answer
    assert "Traceback" not in answer.text and len(answer.text) < 1000
    after: Any = await client.threads.get_state(thread)
    assert after["values"] == before["values"]


def test_every_method_is_a_tool_of_mcp(server: Server, kind: str) -> None:
    if kind == "aegra":
        pytest.skip("aegra 0.11 does not speak MCP")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepted = {"Accept": "application/json, text/event-stream"}
    answer = ask(server, "POST", "/mcp", body, **accepted)
    text = answer.text.removeprefix("event: message\n").removeprefix("data: ")
    tools = {tool["name"] for tool in json.loads(text)["result"]["tools"]}
    assert set(registry.METHODS) <= tools
