"""LangGraph's own limit never ends a search, however long it is and whichever way it is called.

Its default is read when LangGraph is imported, so each case is a process in which it is tiny.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.fake_server import FakeServer

TINY = "7"
LEAVES = 30
"""Requests of the searches: each takes at least one superstep."""

PREPARED = f"""
import asyncio, sys
from operator import itemgetter

from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

import thoughtgraph as tg
from thoughtgraph.graphs import served

context = {{"steps": {LEAVES}}}
problem = {{"problem": "What is 6 times 7?"}}
graph = tg.build("chain", task="gsm8k", model=sys.argv[1], checkpointer=InMemorySaver())


def thread(name):
    return {{"configurable": {{"thread_id": name}}}}


async def plain():
    return await graph.ainvoke(problem, thread("a"), context=context)


async def configured():
    return await graph.with_config(tags=["mine"]).ainvoke(problem, thread("a"), context=context)


async def streamed():
    stream = graph.astream(problem, thread("a"), context=context, stream_mode="values")
    return [state async for state in stream][-1]


async def resumed():
    await graph.ainvoke(problem, thread("a"), context=context, interrupt_after=["register"])
    return await graph.ainvoke(None, thread("a"))


async def as_served():
    return await served.chain.ainvoke(problem, context={{**context, "task": "gsm8k"}})


async def as_a_node():
    app = StateGraph(MessagesState)
    app.add_node("solve", graph)
    app.add_edge(START, "solve")
    app.add_edge("solve", END)
    asked = {{"messages": [{{"role": "user", "content": "What is 6 times 7?"}}]}}
    said = await app.compile().ainvoke(asked, context=context)
    assert said["messages"][-1].text == "No answer was found."
    return await graph.ainvoke(problem, thread("b"), context=context)


async def composed():
    return await (tg.runnable(graph) | RunnableLambda(dict)).ainvoke(problem, thread("a"))


out = asyncio.run(globals()[sys.argv[2]]())
print(len(out["tree"]) - 1, out["stop_reason"])
"""


def tiny(**more: str) -> dict[str, str]:
    return {**os.environ, "LANGGRAPH_DEFAULT_RECURSION_LIMIT": TINY, **more}


@pytest.mark.parametrize(
    "way",
    [
        *("plain", "as_served"),
        *(
            pytest.param(way, marks=pytest.mark.ci)
            for way in ("configured", "streamed", "resumed", "as_a_node", "composed")
        ),
    ],
)
def test_only_our_own_limit_ends_a_long_search(way: str) -> None:
    with FakeServer(lambda seen: "and so on") as fake:
        done = subprocess.run(
            [sys.executable, "-c", PREPARED, fake.specifier, way],
            capture_output=True,
            text=True,
            env=tiny(THOUGHTGRAPH_MODEL=fake.specifier),
        )
    steps = 19 if way == "composed" else LEAVES
    assert done.stdout.split() == [str(steps), "step_limit"], done.stderr[-2000:]


@pytest.mark.ci
def test_the_command_searches_on(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    with FakeServer(lambda seen: "and so on") as fake:
        given = ["solve", "What is 6 times 7?", "--task", "gsm8k", "--method", "chain"]
        told = ["--set", f"steps={LEAVES}", "--model", fake.specifier, "--json", str(target)]
        code = "from thoughtgraph.cli.app import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, *given, *told],
            capture_output=True,
            text=True,
            env=tiny(THOUGHTGRAPH_DATA=str(tmp_path)),
        )
    assert done.returncode == 1, done.stderr
    assert "stopped by the method's own bound (steps=" in done.stdout
    assert len(json.loads(target.read_text())["tree"]) == LEAVES + 1
