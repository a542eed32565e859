"""Models that answer badly, and faults reported in public."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from support.asking import FAULTS
from support.fake_server import FakeServer, Fault, after
from support.players import play

import thoughtgraph as tg
from thoughtgraph.llm.limiter import Limiter
from thoughtgraph.llm.port import ChatPort

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"
SCRIPTS = sorted(CASES.glob("*/run.py"))
RUNNER = """
import functools, runpy, sys, types
import thoughtgraph as tg
from thoughtgraph.tasks import stepwise
# One of them makes its task where it stood once.
sys.modules["thoughtgraph.tasks.math"] = types.SimpleNamespace(math=stepwise.Math)
if sys.argv[1].split("/")[-2][:3] in ("08_", "09_"):  # they read the error of a result
    tg.solve = functools.partial(tg.solve, on_error="report")
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.ci
@pytest.mark.skipif(not SCRIPTS, reason=f"there are no cases in {CASES}")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_a_reported_fault_is_mended(script: Path, tmp_path: Path) -> None:
    own = {name: each for name, each in os.environ.items() if not name.startswith("THOUGHTGRAPH_")}
    own |= {"THOUGHTGRAPH_DATA": str(tmp_path), "THOUGHTGRAPH_CACHE": str(tmp_path)}
    told = [sys.executable, "-c", RUNNER, str(script)]
    done = subprocess.run(told, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


PROBLEM = {"problem": "4 9 10 13"}
SMALL: dict[str, dict[str, Any]] = {
    "io": {"n_generate": 2},
    "cot": {"n_generate": 2},
    "cot_sc": {"n_generate": 5},
    "refine": {"refinements": 3},
    "tot_bfs": {"breadth": 2},
    "tot_dfs": {"max_records": 6, "max_per_state": 2},
}
ENDS = ("dead_end", "exhausted", "round_limit", "step_limit", "budget", "finished")
QUICK = tg.Retry(give_up_after=0.3, first_wait=0.01, longest_wait=0.05)
SHORT = 2.0
"""A timeout that a living server keeps to on a busy machine."""
LARGEST = 1_000_000
"""Bytes that the tree of a small search may take whatever was said; its checkpoints: ten times."""
ENDLESS = {"max_completion_tokens": 100_000}
"""So many tokens are asked for that 400,000 letters of each completion are read."""


REPLY = play


def graph(server: FakeServer, method: str = "tot_bfs", **settings: Any) -> Any:
    asked = ChatPort(server.chat(), **{"retry": QUICK, **settings})
    return tg.build(method, task="game24", model=asked, oracle=method == "refine")


async def run(running: Any, **context: Any) -> dict[str, Any]:
    async with asyncio.timeout(120):
        told = {**SMALL[running.name], "on_error": "report", **context}
        out: dict[str, Any] = await running.ainvoke(PROBLEM, context=told)
    assert json.dumps(out)
    return out


LONG = [
    *(("game24", method) for method in SMALL),
    *(("question", method) for method in ("cot_sc", "tot_bfs")),
    *(("creative_writing", method) for method in ("cot_sc", "tot_bfs", "refine")),
]


@pytest.mark.ci
@pytest.mark.parametrize(("task", "method"), LONG)
async def test_a_long_sample_makes_neither_tree_nor_checkpoints_large(
    server: FakeServer, task: str, method: str, tmp_path: Path
) -> None:
    server.reply = lambda seen: f"{'x' * 199_000} the answer is\nAnswer: {'9 + ' * 50_000}1"
    file = tmp_path / "checkpoints.sqlite"
    async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
        told = method == "refine" and task == "game24"
        running = tg.build(method, task=task, model=server.chat(), oracle=told, checkpointer=saver)
        thread: Any = {"configurable": {"thread_id": "1"}}
        small = {**SMALL[method], **ENDLESS, "limit_requests": 20}
        problem = PROBLEM["problem"] if task == "game24" else "One? Two. Three. Four."
        out = await running.ainvoke({"problem": problem}, thread, context=small)
    assert out["stop_reason"] in ENDS
    assert len(json.dumps(out)) < LARGEST
    assert file.stat().st_size < 10 * LARGEST


async def test_malformed_verdicts_and_proposals_are_counted_and_the_others_used(
    server: FakeServer,
) -> None:
    server.reply = lambda seen: '{"left": [10, 13, 13]}' if "valuate" in seen.prompt else play(seen)
    out = await run(graph(server))
    assert out["usage"]["parse_errors"]["value"] > 0
    assert out["stop_reason"] in ("finished", "dead_end")
    server.reply = lambda seen: ["no idea", "h1. apple (low)", "", "v1. angle (high)", "{}"]
    running = tg.build("tot_dfs", task="crosswords", model=server.chat())
    clues = "\n".join(f"clue {at}" for at in range(10))
    out = await running.ainvoke({"problem": clues}, context={"limit_requests": 1})
    assert out["usage"]["parse_errors"] == {"generate": 3}
    assert out["usage"]["thoughts"] == 2


@pytest.mark.parametrize("name", FAULTS)
async def test_a_failing_endpoint_ends_any_run_and_what_arrived_is_kept(
    server: FakeServer, name: str
) -> None:
    fault, remedy = FAULTS[name]
    narrow, timeout = Limiter(tg.Rates(concurrency=2)), SHORT if fault.hang else 60.0
    server.fault = after(4, fault)
    kept = await run(graph(server, limiter=narrow, timeout=timeout))
    server.fault = lambda seen: fault
    outs = await asyncio.gather(*(run(graph(server, each, timeout=timeout)) for each in SMALL))
    for out in (kept, *outs):
        assert out["stop_reason"] == "error" and out["answer"] is None
        assert remedy in out["error"] and out["error"].isprintable() and server.url in out["error"]
    assert all(list(out["tree"]) == ["0"] for out in outs)
    assert kept["usage"]["requests"] == 4
    assert len(kept["tree"]) == 1 + 6, "the first generation"
    assert len(judged(kept)) == 3, "and the verdicts that were paid for"


def judged(out: Any) -> list[str]:
    return [key for key, thought in out["tree"].items() if "value" in thought]


async def test_a_judge_that_is_down_is_named(server: FakeServer) -> None:
    with FakeServer() as gone:
        pass
    judge = ChatPort(gone.chat(), name="the-judge", retry=QUICK)
    out = await run(tg.build("tot_bfs", task="game24", model=server.chat(), evaluator_model=judge))
    assert out["stop_reason"] == "error"
    assert out["error"].startswith(f"the-judge at {gone.url}: ")
    assert "is the server running" in out["error"]
    assert (len(out["tree"]), set(out["usage"]["roles"])) == (7, {"generate"})


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "awaited": lambda graph, context: graph.ainvoke(PROBLEM, context=context),
    "as a node": lambda graph, context: tg.node(graph, context=context).ainvoke(PROBLEM),
    "as a runnable": lambda graph, context: tg.runnable(graph).ainvoke(PROBLEM, context=context),
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_failing_model_raises_with_what_was_paid_for(server: FakeServer, way: str) -> None:
    server.fault = after(4, Fault(401))
    running = graph(server, limiter=Limiter(tg.Rates(concurrency=2)))
    with pytest.raises(tg.ModelError, match="OPENAI_API_KEY") as failed:
        await WAYS[way](running, SMALL["tot_bfs"])
    out = failed.value.result
    assert isinstance(out, tg.Result)
    assert repr(str(failed.value)) in repr(out), "what is printed names it"
    assert (out["usage"]["requests"], len(judged(out))) == (4, 3)
    assert "as the model could not be asked" in str(tg.html(out))


async def test_a_thread_whose_model_failed_goes_on_where_it_stood(server: FakeServer) -> None:
    server.fault = after(4, Fault(401))
    running = tg.build("tot_bfs", task="game24", model=server.chat(), checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    with pytest.raises(tg.ModelError):
        await running.ainvoke(PROBLEM, thread, context=SMALL["tot_bfs"])  # type: ignore[arg-type]
    server.fault = lambda seen: Fault()
    asked = len(server.seen)
    out = await running.ainvoke(None, thread)
    paid = len(server.seen) - asked
    assert paid == out["usage"]["requests"] - 4, "what was answered is not asked again"
    other: Any = {"configurable": {"thread_id": "2"}}
    whole = await running.ainvoke(PROBLEM, other, context=SMALL["tot_bfs"])  # type: ignore[arg-type]
    texts = [[thought["text"] for thought in each["tree"].values()] for each in (out, whole)]
    assert (out["answer"], out["error"]) == (whole["answer"], "") and texts[0] == texts[1]


@pytest.mark.parametrize("on_error", ["raise", "report"])
async def test_an_agent_is_told_that_the_model_of_its_tool_failed(
    server: FakeServer, on_error: str
) -> None:
    server.fault = after(4, Fault(401))
    told = {**SMALL["tot_bfs"], "on_error": on_error}
    tool = tg.tool(graph(server), "reach_24", "Makes 24.", context=told)
    call = {"type": "tool_call", "name": "reach_24", "args": PROBLEM, "id": "1"}
    said = await tool.ainvoke(call)
    assert said.text.startswith("Failed: fake at http") and "401" in said.text
    assert said.artifact["usage"]["requests"] >= 4, "the tree is not lost"
    assert len(said.artifact["tree"]) == 7
