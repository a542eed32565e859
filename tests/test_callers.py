"""Searches that are called by programs which are not async, or by agents of deepagents."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from support.scripted import ScriptedChat
from support.searches import THREAD
from support.spelling import Spelling, speller
from typing_extensions import TypedDict

import thoughtgraph as tg


class Around(TypedDict, total=False):
    """The state of a program around a search."""

    problem: str
    answer: str | None


@pytest.mark.parametrize("way", ["node", "runnable", "tool", "solve"])
def test_a_search_runs_in_a_graph_that_is_not_async(way: str) -> None:
    """Its saver is not async either: the search knows nothing of it."""
    graph = tg.build("tot_bfs", task=Spelling(), model=speller())
    tool = tg.tool(graph, "spell", "Spells.")

    def call(state: Around) -> Any:
        if way == "tool":
            return {"answer": tool.invoke({"problem": state["problem"]})}
        return tg.solve(state["problem"], method="tot_bfs", task=Spelling(), model=speller())

    piped: Any = RunnableLambda(dict) | tg.runnable(graph)
    assert [out["answer"] for out in piped.batch([{"problem": "leaf"}] * 2)] == ["leaf"] * 2
    assert [*piped.stream({"problem": "leaf"})][-1]["answer"]["answer"] == "leaf"
    nodes: dict[str, Any] = {"node": tg.node(graph), "runnable": tg.runnable(graph)}
    around: Any = StateGraph(Around)
    around.add_node("search", nodes.get(way, call)).add_edge(START, "search")
    with SqliteSaver.from_conn_string(":memory:") as saver:
        out = around.compile(checkpointer=saver).invoke({"problem": "leaf"}, THREAD)
    assert out == {"problem": "leaf", "answer": "leaf"}


class Chief(ScriptedChat):
    """An agent's model, which hands everything to its subagent and repeats what that says."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: Any, *rest: Any, **options: Any) -> ChatResult:
        said = messages[-1].text
        call = {"name": "task", "args": {"description": said, "subagent_type": "speller"}}
        first = messages[-1].type == "human"
        told = AIMessage("" if first else said, tool_calls=[{**call, "id": "1"}] * first)
        return ChatResult(generations=[ChatGeneration(message=told)])

    async def _agenerate(self, messages: Any, *rest: Any, **options: Any) -> ChatResult:
        return self._generate(messages)


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_search_is_a_subagent_of_deepagents(is_async: bool) -> None:
    deepagents = pytest.importorskip("deepagents", reason="comes with the group agents")
    said = {"leaf": "leaf", "  ": "'  ' is no word; write one"}
    speller_agent = tg.subagent(
        tg.build("tot_bfs", task=Spelling(), model=speller()), "speller", "Spells a word."
    )
    agent = deepagents.create_deep_agent(model=Chief(reply=str), subagents=[speller_agent])
    for problem, reply in said.items():
        given = {"messages": [HumanMessage(problem)], "files": {}}
        out = await agent.ainvoke(given) if is_async else agent.invoke(given)
        assert out["messages"][-1].text.startswith(reply)
