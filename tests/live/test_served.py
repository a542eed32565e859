"""The graphs on a real LangGraph server: `langgraph dev`, offline, driven by its SDK.

The model is an endpoint on the loopback interface; see `fake_server.py`.
"""

import asyncio
import json
import runpy
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.fake_server import FakeServer
from support.forms import assert_complete, assert_tasks_listed
from support.players import add_up
from support.serving import copied, missing, serving

from thoughtgraph import registry
from thoughtgraph.cli.app import main
from thoughtgraph.tasks.game24.game24 import Game24

if reason := missing("dev"):
    pytest.skip(reason, allow_module_level=True)

from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient as Client
from langgraph_sdk.schema import StreamMode

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
PUZZLE = "2 4 7 11"
"""2 + 4 + 7 + 11 = 24."""


class Server(NamedTuple):
    url: str
    log: Path
    context: dict[str, Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")  # the server keeps its state where it starts
    config = copied(folder, "langgraph.json")
    with FakeServer(add_up) as model:
        broken = model.specifier.replace("/v1", "/v2")
        variables = {
            # The server's own limit must end no search.
            "LANGGRAPH_DEFAULT_RECURSION_LIMIT": "10",
            "THOUGHTGRAPH_SERVED_MODELS": f"fake={model.specifier},broken={broken},"
            "keyless=openai:gpt-4o-mini",
        }
        with serving("dev", folder, config, **variables) as started:
            yield Server(started.url, started.log, {"task": "game24"})


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    async with get_client(url=server.url) as opened:
        yield opened


async def stream(client: Client, server: Server, mode: StreamMode, **given: Any) -> list[Any]:
    arguments: dict[str, Any] = {"input": {"problem": PUZZLE}, "context": server.context, **given}
    parts = client.runs.stream(None, "tot_bfs", stream_mode=mode, **arguments)
    return [part async for part in parts]


def named(parts: list[Any], event: str) -> list[Any]:
    return [part.data for part in parts if part.event == event]


async def test_every_method_is_listed_with_complete_schemas(client: Client) -> None:
    assistants = await client.assistants.search(limit=100)
    assert {a["graph_id"] for a in assistants} == set(registry.METHODS)
    for assistant in assistants:
        schemas = await client.assistants.get_schemas(assistant["assistant_id"])
        for kind in ("input_schema", "output_schema", "context_schema"):
            properties = (schemas[kind] or {}).get("properties")
            assert properties, f"{assistant['graph_id']} has no {kind}"
        fields = (schemas["context_schema"] or {})["properties"]
        assert_complete(fields)
        assert_tasks_listed(fields)


async def test_updates_come_a_step_at_a_time(client: Client, server: Server) -> None:
    parts = await stream(client, server, "updates", context={**server.context, "breadth": 1})
    steps = [name for update in named(parts, "updates") for name in update]
    runs = [name for at, name in enumerate(steps) if at == 0 or steps[at - 1] != name]
    round_ = ["generate", "register", "evaluate", "select"]
    assert runs == ["start", *round_ * 4, "answer"]


async def test_the_tree_grows_in_the_stream(client: Client, server: Server) -> None:
    context = {**server.context, "tree": "all"}
    states = named(await stream(client, server, "values", context=context), "values")
    sizes = [len(state["tree"]) for state in states if "tree" in state]
    assert sizes[:2] == [0, 1], "the input, then the root"
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 6
    assert Game24().check(PUZZLE, states[-1]["answer"])
    assert states[-1]["stop_reason"] == "finished"


async def test_states_on_the_way_leave_the_tree_out(client: Client, server: Server) -> None:
    *before, last = named(await stream(client, server, "values"), "values")
    assert len(last["tree"]) > 5 and len(before) > 10
    assert not any("tree" in state for state in before)


async def test_a_thread_keeps_state_and_history_and_starts_each_problem_afresh(
    client: Client, server: Server
) -> None:
    thread = (await client.threads.create())["thread_id"]
    context: Any = server.context
    for puzzle in ("1 2 3 18", PUZZLE):
        await client.runs.wait(thread, "tot_bfs", input={"problem": puzzle}, context=context)
    state: Any = await client.threads.get_state(thread)
    assert state["next"] == []
    assert Game24().check(PUZZLE, state["values"]["answer"])
    firsts = [t["text"] for t in state["values"]["tree"].values() if t["depth"] == 1]
    assert firsts[0] == "2 + 4 = 6 (left: 7 11 6)"
    assert len(firsts) == 6
    history = await client.threads.get_history(thread, limit=1000)
    assert len(history) > 2 * 16


async def test_an_assistant_keeps_its_settings(client: Client, server: Server) -> None:
    assistant = await client.assistants.create("tot_bfs", context={**server.context, "breadth": 2})
    out: Any = await client.runs.wait(None, assistant["assistant_id"], input={"problem": PUZZLE})
    assert out["settings"]["breadth"] == 2
    assert out["settings"]["evaluate"] == "value", "the rest is as published for the task"


async def test_a_conversation_gets_the_answer_appended(client: Client, server: Server) -> None:
    given = {"messages": [{"role": "user", "content": PUZZLE}]}
    states = named(await stream(client, server, "values", input=given), "values")
    assert [message["type"] for message in states[-1]["messages"]] == ["human", "ai"]
    assert states[-1]["messages"][-1]["content"] == states[-1]["answer"]


@pytest.mark.parametrize(
    ("context", "problem", "message"),
    [
        ({"task": "gme24"}, PUZZLE, "unknown task 'gme24'; did you mean 'game24'?"),
        ({"breadth": 0}, PUZZLE, "greater than or equal to 1"),
        ({"generate": "guess"}, PUZZLE, "'propose' or 'sample'"),
        ({"evaluate": "vote"}, PUZZLE, "needs one that can compare partial solutions"),
        ({"model": "gpt"}, PUZZLE, "should be 'fake', 'broken' or 'keyless', not 'gpt'"),
        ({"model": "keyless"}, PUZZLE, "model 'keyless' cannot be used"),
        ({}, "2 4 7", "is no Game-of-24 puzzle; write four"),
        ({}, "", "no problem given"),
    ],
)
async def test_unusable_input_gives_its_reason(
    client: Client, server: Server, context: dict[str, Any], problem: str, message: str
) -> None:
    """The run has ended as all do; with `on_error` it has failed, by the same line."""
    given: Any = {"input": {"problem": problem}, "context": {**server.context, **context}}
    parts = await stream(client, server, "values", **given)
    assert not named(parts, "error")
    assert message in named(parts, "values")[-1]["error"]
    thread = (await client.threads.create())["thread_id"]
    out: Any = await client.runs.wait(thread, "tot_bfs", **given)
    state: Any = await client.threads.get_state(thread)
    for each in (out, state["values"]):
        assert each["stop_reason"] == "refused" and message in each["error"]
    (run,) = await client.runs.list(thread)
    assert (run["status"], state["next"]) == ("success", [])
    given["context"]["on_error"] = "raise"
    (error,) = named(await stream(client, server, "values", **given), "error")
    assert message in error["message"]


async def test_an_endpoint_that_refuses_ends_the_run(client: Client, server: Server) -> None:
    elsewhere = {**server.context, "model": "broken"}
    states = named(await stream(client, server, "values", context=elsewhere), "values")
    assert states[-1]["stop_reason"] == "error"
    assert states[-1]["error"] == "model 'broken' failed: HTTP 404"
    assert "the address ends in /v1" in server.log.read_text()
    assert list(states[-1]["tree"]) == ["0"]


async def test_runs_side_by_side_stay_apart(client: Client, server: Server) -> None:
    puzzles = ["1 2 3 18", "1 2 4 17", "1 2 5 16", "1 2 6 15", "1 2 7 14"]
    context: Any = server.context
    outs: Any = await asyncio.gather(
        *(
            client.runs.wait(None, "tot_bfs", input={"problem": puzzle}, context=context)
            for puzzle in puzzles
        )
    )
    for puzzle, out in zip(puzzles, outs, strict=True):
        assert Game24().check(puzzle, out["answer"])


async def test_a_remote_graph_answers_like_a_local_one(client: Client, server: Server) -> None:
    remote = RemoteGraph("tot_bfs", client=client)
    out: Any = await remote.ainvoke({"problem": PUZZLE}, context=server.context)
    assert Game24().check(PUZZLE, out["answer"])


async def test_the_example_asks_a_server(server: Server) -> None:
    main_of = runpy.run_path(str(ROOT / "examples" / "on_a_server.py"))["main"]
    assert Game24().check(PUZZLE, await main_of(server.url, PUZZLE))


async def test_no_node_blocks_the_event_loop(client: Client, server: Server) -> None:
    """`langgraph dev` raises BlockingError where one does; every method runs here once."""
    context: Any = {**server.context, "limit_requests": 20}
    for method in registry.METHODS:
        await client.runs.wait(
            None, method, input={"problem": PUZZLE}, context=context, raise_error=False
        )
    log = server.log.read_text()
    assert "BlockingError" not in log


def test_configuration_names_files_of_this_checkout() -> None:
    """Dotted names load in `langgraph dev` alone; file paths load everywhere."""
    graphs = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
    assert all((ROOT / spec.partition(":")[0]).is_file() for spec in graphs.values())


def test_a_benchmark_runs_on_the_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("puzzles.csv").write_text("Rank,Puzzles\n1,2 4 7 11\n2,3 5 7 9\n3,1 1 1 1\n")

    def bench(*more: str) -> tuple[int, list[Any], str]:
        words = ["bench", "--task", "game24", "--data", "puzzles.csv", "--method", "tot_bfs,io"]
        monkeypatch.setattr("sys.argv", ["thoughtgraph", *words, "--server", server.url, *more])
        with pytest.raises(SystemExit) as ended:
            main()
        lines = Path("results/results.jsonl")
        rows = lines.read_text().splitlines() if lines.exists() else []
        return int(ended.value.code or 0), [*map(json.loads, rows)], capsys.readouterr().err

    code, rows, _ = bench("--sweep", "seed=0", "--set", "max_completion_tokens=500")
    assert code == 0
    assert sorted((row["method"], row["id"], row["score"]) for row in rows) == [
        *(("io", rank, score) for rank, score in (("1", 1), ("2", 1), ("3", 0))),
        *(("tot_bfs", rank, score) for rank, score in (("1", 1), ("2", 1), ("3", 0))),
    ]
    assert all(row["settings"]["max_completion_tokens"] == 500 for row in rows)
    assert len(bench("--sweep", "seed=0", "--set", "max_completion_tokens=500")[1]) == 6
    code, rows, err = bench("--model", "another", "--out", "other")
    assert code == 2 and "another" in err
    code, _, err = bench("--oracle")
    assert code == 2 and "a server takes no --oracle" in err


def test_a_server_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["bench", "--task", "game24", "--problems", "1:9", "--server", "http://127.0.0.1:9"]
    monkeypatch.setattr("sys.argv", ["thoughtgraph", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "no connection; is it running" in capsys.readouterr().err
