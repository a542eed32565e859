"""LangGraph's own limit never ends a search, however long it is and whichever way it is called.

Its default is read when LangGraph is imported, so searches run in a process in which it is tiny.
"""

import os
import subprocess
import sys

import pytest
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.graphs import served

ENDLESS = 1_000_000


def test_the_limit_of_supersteps_is_out_of_reach() -> None:
    graph = tg.build("chain", task="gsm8k", model=ScriptedChat(reply=lambda call: "and so on"))
    ready = [getattr(served, name) for name in ("chain", "tot_bfs")]
    for each in (graph, graph.with_config(tags=["mine"]), tg.runnable(graph), *ready):
        assert each.config and each.config["recursion_limit"] > ENDLESS


SEARCHES = """
import asyncio
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from thoughtgraph.llm.scripted import ScriptedChat
import thoughtgraph as tg

LONG = {"context": {"steps": 30}}
PROBLEM = {"problem": "What is 6 times 7?"}
model = ScriptedChat(reply=lambda call: "and so on")
graph = tg.build("chain", task="gsm8k", model=model, checkpointer=InMemorySaver())


def thread(name):
    return {"configurable": {"thread_id": name}}


async def node():
    app = StateGraph(MessagesState)
    app.add_node("solve", graph)
    app.add_edge(START, "solve")
    app.add_edge("solve", END)
    asked = {"messages": [{"role": "user", "content": "What is 6 times 7?"}]}
    said = await app.compile().ainvoke(asked, **LONG)
    assert said["messages"][-1].text == "No answer was found."


async def searched():
    yield await graph.ainvoke(PROBLEM, thread("plain"), **LONG)
    yield await graph.with_config(tags=["mine"]).ainvoke(PROBLEM, thread("configured"), **LONG)
    stream = graph.astream(PROBLEM, thread("streamed"), stream_mode="values", **LONG)
    yield [state async for state in stream][-1]
    await graph.ainvoke(PROBLEM, thread("resumed"), interrupt_after=["register"], **LONG)
    yield await graph.ainvoke(None, thread("resumed"))
    yield await (tg.runnable(graph) | RunnableLambda(dict)).ainvoke(PROBLEM, thread("composed"))
    await node()


async def main():
    async for out in searched():
        print(len(out["tree"]) - 1, out["stop_reason"])


asyncio.run(main())
"""


@pytest.mark.ci
def test_only_our_own_limit_ends_a_long_search() -> None:
    """Also as a part of another graph; composed, it has the 19 steps of its default."""
    tiny = {**os.environ, "LANGGRAPH_DEFAULT_RECURSION_LIMIT": "7"}
    done = subprocess.run(
        [sys.executable, "-c", SEARCHES], capture_output=True, text=True, env=tiny
    )
    ends = [f"{steps} step_limit" for steps in (30, 30, 30, 30, 19)]
    assert done.stdout.splitlines() == ends, done.stderr[-2000:]
