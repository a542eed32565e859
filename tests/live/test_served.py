"""The graphs on `langgraph dev`, offline, driven by LangGraph's SDK and by `bench --server`."""

import json
import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk.client import LangGraphClient as Client
from support.command import Command
from support.place import ALICE, BOB, CAROL, MODELS, PUZZLE, Place
from support.serving import ROOT

from thoughtgraph import registry
from thoughtgraph.tasks.game24.game24 import Game24

pytestmark = pytest.mark.ci

GAME: Any = {"task": "game24"}
CHOICES = ", ".join(f"'{name}'" for name in MODELS[:-1]) + f" or '{MODELS[-1]}'"


@pytest.fixture(scope="module")
def place(dev: Place) -> Place:
    return dev


async def stream(client: Client, mode: Any, **changed: Any) -> list[Any]:
    """Returns what one run streams in a mode, errors included."""
    run: dict[str, Any] = {"input": {"problem": PUZZLE}, "context": GAME, **changed}
    parts = client.runs.stream(None, "tot_bfs", stream_mode=mode, **run)
    return [part.data async for part in parts if part.event in (mode, "error")]


async def test_every_method_is_listed_with_complete_schemas(client: Client) -> None:
    assistants = await client.assistants.search(limit=100)
    assert {each["graph_id"] for each in assistants} >= set(registry.METHODS)
    for assistant in assistants:
        schemas: Any = await client.assistants.get_schemas(assistant["assistant_id"])
        for kind in ("input_schema", "output_schema", "context_schema"):
            assert schemas[kind]["properties"], f"{assistant['graph_id']} has no {kind}"
        assert schemas["context_schema"]["properties"]["task"]["enum"] == sorted(registry.TASKS)


async def test_a_conversation_gets_the_answer_and_its_states_leave_the_tree_out(
    client: Client,
) -> None:
    messages = [{"role": "user", "content": PUZZLE}]
    *before, last = await stream(client, "values", input={"messages": messages})
    assert len(last["tree"]) > 5 and len(before) < 5, "nothing is sent again"
    assert not any(state.get("tree") for state in before)
    assert [message["type"] for message in last["messages"]] == ["human", "ai"]
    assert last["messages"][-1]["content"] == last["answer"]


async def test_a_thread_keeps_state_and_history_and_starts_each_problem_afresh(
    client: Client,
) -> None:
    thread = (await client.threads.create())["thread_id"]
    for puzzle in ("1 2 3 18", PUZZLE):
        await client.runs.wait(thread, "tot_bfs", input={"problem": puzzle}, context=GAME)
    state: Any = await client.threads.get_state(thread)
    assert state["next"] == []
    assert Game24().check(PUZZLE, state["values"]["answer"])
    firsts = [t["text"] for t in state["values"]["tree"].values() if t["depth"] == 1]
    assert firsts[0] == "2 + 4 = 6 (left: 7 11 6)"
    assert len(firsts) == 6
    assert len(await client.threads.get_history(thread, limit=1000)) > 2 * 12


@pytest.mark.parametrize(
    ("context", "problem", "message"),
    [
        ({"task": "gme24"}, PUZZLE, "unknown task 'gme24'; did you mean 'game24'?"),
        ({"model": "gpt"}, PUZZLE, f"should be {CHOICES}, not 'gpt'"),
        ({"model": "keyless"}, PUZZLE, "model 'keyless' cannot be used"),
        ({}, "2 4 7", "is no Game-of-24 puzzle; write four"),
    ],
)
async def test_unusable_input_gives_its_reason(
    client: Client, context: dict[str, Any], problem: str, message: str
) -> None:
    """The run has ended as all do; with `on_error` it has failed, by the same line."""
    thread = (await client.threads.create())["thread_id"]
    run: Any = {"input": {"problem": problem}, "context": {**GAME, **context}}
    out: Any = await client.runs.wait(thread, "tot_bfs", **run)
    state: Any = await client.threads.get_state(thread)
    for each in (out, state["values"]):
        assert each["stop_reason"] == "refused" and message in each["error"]
    (ended,) = await client.runs.list(thread)
    assert (ended["status"], state["next"]) == ("success", [])
    context = {**run["context"], "on_error": "raise"}
    *_, error = await stream(client, "values", input=run["input"], context=context)
    assert message in error["message"]


async def test_a_remote_graph_and_the_example_answer_like_a_local_one(
    client: Client, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = RemoteGraph("tot_bfs", client=client)
    out: Any = await remote.ainvoke({"problem": PUZZLE}, context=GAME)
    assert Game24().check(PUZZLE, out["answer"])
    monkeypatch.setenv("LANGGRAPH_API_KEY", CAROL)
    main_of = runpy.run_path(str(ROOT / "examples" / "on_a_server.py"))["main"]
    assert Game24().check(PUZZLE, await main_of(place.server.url, PUZZLE))


def test_a_benchmark_runs_on_the_server(
    place: Place, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("puzzles.csv").write_text("Rank,Puzzles\n1,2 4 7 11\n2,3 5 7 9\n3,1 1 1 1\n")
    words = ["bench", "--task", "game24", "--data", "puzzles.csv", "--method", "tot_bfs,io"]
    words += ["--server", place.server.url]
    once = ["--sweep", "seed=0", "--set", "max_completion_tokens=500"]
    assert command(*words, "--out", "refused")[0] != 0, "no key was sent"
    monkeypatch.setenv("THOUGHTGRAPH_SERVER_KEY", CAROL)
    for _ in ("run", "run again, which adds nothing"):
        assert command(*words, *once)[0] == 0
        rows = [*map(json.loads, Path("results/results.jsonl").read_text().splitlines())]
        scores = {(row["method"], row["id"]): row["score"] for row in rows}
        known = [("1", 1), ("2", 1), ("3", 0)]
        assert scores == {(m, rank): each for m in ("io", "tot_bfs") for rank, each in known}
        assert len(rows) == 6
        assert all(row["settings"]["max_completion_tokens"] == 500 for row in rows)
    code, _, err = command(*words, "--model", "another", "--out", "other")
    assert code == 2 and "another" in err
    code, _, err = command(*words, "--oracle")
    assert code == 2 and "a server does not take --oracle" in err


def test_a_server_that_is_not_there_is_one_line(command: Command) -> None:
    words = ["bench", "--task", "game24", "--problems", "1:9", "--server", "http://127.0.0.1:9"]
    code, _, err = command(*words)
    assert code == 2 and "no connection; is it running" in err


def sent(place: Place, page: str, words: str, thread: str = "") -> str:
    """What the server says to the lines of a page that have these words, as a shell sends them."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    shown = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    (lines,) = [each for each in shown if words in each]
    named = {"http://127.0.0.1:2024": place.server.url, "THREAD": thread}
    named |= {"a-long-key-of-alice": ALICE, "a-long-key-of-bob": BOB}
    for name, here in named.items():
        lines = lines.replace(name, here)
    if ALICE not in lines:
        lines = lines.replace("curl", f"curl -H 'x-api-key: {ALICE}'")
    return subprocess.run(["bash", "-c", lines], check=True, capture_output=True, text=True).stdout


def test_what_the_pages_send_is_answered(place: Place) -> None:
    def thread() -> str:
        return str(place.ask("POST", "/threads", {}, key=ALICE).body["thread_id"])

    assert "event: custom" in sent(place, "inspect.md", "runs/stream")
    said = sent(place, "serving.md", "/threads", thread())
    assert "thread_id" in said and '"outcome":' in said and "not found" in said
    reviewed = thread()
    asked = {"assistant_id": "tot_bfs", "input": {"problem": PUZZLE}}
    paused = asked | {"context": {**GAME, "review": "select"}}
    path = f"/threads/{reviewed}/runs/wait"
    assert "__interrupt__" in place.ask("POST", path, paused, key=ALICE).body
    assert "__interrupt__" in sent(place, "person.md", '"keep"', reviewed)
