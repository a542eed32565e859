"""A search as a subagent of deepagents, the released one."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from support.scripted import ScriptedChat
from support.spelling import Spelling, speller

import thoughtgraph as tg


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
