"""Chat apps, agents, and programs that are not async."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from support.scripted import Call, ScriptedChat
from support.searches import THREAD
from support.spelling import Spelling, speller
from typing_extensions import TypedDict

import thoughtgraph as tg
from thoughtgraph.policy import LONGEST_TEXT


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


OTHER: Any = {"configurable": {"thread_id": "2"}}
TURNS = [
    SystemMessage("You are terse."),
    HumanMessage("Who wrote Fidelio?"),
    AIMessage("Beethoven"),
    HumanMessage("Where was he born?"),
]


def replies(call: Call) -> str | list[str]:
    return ["The best choice is 1. So the answer is Bonn."] * call.n


def chatting(method: str = "io", task: str = "question", **more: Any) -> tuple[Any, ScriptedChat]:
    model = ScriptedChat(reply=replies)
    return tg.build(method, task=task, model=model, **more), model


@pytest.mark.parametrize("method", ["io", "cot", "cot_sc", "tot_bfs", "adaptive"])
async def test_a_question_is_asked_below_what_was_said_before(method: str) -> None:
    graph, model = chatting(method)
    out = await graph.ainvoke({"messages": TURNS})
    assert model.seen
    for call in model.seen:
        places = [call.prompt.index(turn.text) for turn in TURNS]
        assert places == sorted(places), "in the order in which it was said"
    assert out["problem"].endswith("Answer what is asked now: Where was he born?")
    assert out["messages"][-1].text == out["answer"] == "Bonn"


async def test_the_second_turn_on_a_thread_sees_the_first_and_its_answer() -> None:
    graph, model = chatting(checkpointer=InMemorySaver())
    await graph.ainvoke({"messages": [HumanMessage("Where was Beethoven born?")]}, THREAD)
    assert "said so far" not in model.seen[0].prompt, "there was nothing before"
    await graph.ainvoke({"messages": [HumanMessage("On which river?")]}, THREAD)
    asked = model.seen[-1].prompt
    assert "Human: Where was Beethoven born?\nAI: Bonn" in asked
    assert asked.count("On which river?") == 1
    await graph.ainvoke({"problem": "What is 6 times 7?"}, THREAD)
    assert "Beethoven" not in model.seen[-1].prompt, "a problem of its own stands alone"


PROSE = "Please reach 24 with the numbers 4, 9, 10 and 13"


async def test_the_numbers_of_a_puzzle_are_found_in_what_a_chat_says() -> None:
    model = ScriptedChat(reply=lambda call: "Answer: (10 - 4) * (13 - 9)")
    graph = tg.build("io", task="game24", model=model)
    out = await graph.ainvoke({"messages": [HumanMessage(PROSE)]})
    assert (out["problem"], out["messages"][-1].text) == ("4 9 10 13", "(10 - 4) * (13 - 9)")
    turns = [SystemMessage("You are terse."), HumanMessage("Hello"), AIMessage("Hello!")]
    out = await graph.ainvoke({"messages": [*turns, HumanMessage("4 9 10 13")]})
    assert out["problem"] == "4 9 10 13"
    assert not any("terse" in call.prompt or "Hello" in call.prompt for call in model.seen)
    tool = tg.tool(graph, "reach_24", "Makes 24.")
    assert await tool.ainvoke({"problem": PROSE}) == "(10 - 4) * (13 - 9)"


class Outer(MessagesState):
    told: str


@pytest.mark.parametrize("task", ["game24", "crosswords", "creative_writing", "ptr"])
async def test_a_task_that_cannot_read_a_turn_replies_what_it_reads(task: str) -> None:
    graph, model = chatting("cot" if task != "ptr" else "tomt_os", task=task)
    said: Any = {"messages": [HumanMessage("Please solve this one for me")]}
    reply = (await graph.ainvoke(said))["messages"][-1].text
    assert "write" in reply and "\n" not in reply

    async def tell(state: Outer) -> dict[str, str]:
        return {"told": state["messages"][-1].text}

    app: Any = StateGraph(Outer)
    app.add_node("search", graph).add_node("tell", tell)
    app.add_edge(START, "search").add_edge("search", "tell")
    for saver in (None, InMemorySaver()):
        out = await app.compile(checkpointer=saver).ainvoke(said, THREAD)
        assert out["told"] == reply, "the run of a graph around it goes on"
        assert [each.type for each in out["messages"]] == ["human", "ai"]
    assert await tg.tool(graph, "solve", "Solves.").ainvoke({"problem": "this"}) != ""
    assert model.seen == [], "nothing is paid for"


async def test_a_reply_says_that_the_model_failed_and_the_next_turn_goes_on() -> None:
    fails = True

    def reply(call: Call) -> str | list[str]:
        if fails and len(model.seen) > 1:
            raise tg.ModelError("the endpoint is gone")
        return "Answer: 4 + 9 + 10 + 13 = 36" if fails else "Answer: (10 - 4) * (13 - 9)"

    model = ScriptedChat(reply=reply)
    saver = InMemorySaver()
    graph = tg.build("refine", task="game24", model=model, oracle=True, checkpointer=saver)
    asked: Any = {"messages": [HumanMessage("4 9 10 13")]}
    out = await graph.ainvoke(asked, THREAD)
    said = out["messages"][-1].text
    assert said.startswith("The model failed: the endpoint is gone\n")
    assert said.endswith(": 4 + 9 + 10 + 13"), "the best answer before that"
    with pytest.raises(tg.ModelError, match="is gone"):
        await graph.ainvoke(asked, context={"on_error": "raise"}, config=OTHER)  # type: ignore[arg-type]
    fails = False
    out = await graph.ainvoke(asked, THREAD)
    assert "10 - 4" in out["messages"][-1].text


async def test_of_a_long_conversation_the_newest_turns_stay() -> None:
    turns = [SystemMessage("You are terse.")]
    turns += [HumanMessage(f"turn {number} " + "w" * 1000) for number in range(200)]
    graph, model = chatting()
    out = await graph.ainvoke({"messages": [*turns, HumanMessage("And now?")]})
    asked = out["problem"]
    assert LONGEST_TEXT - 2500 < len(asked) <= LONGEST_TEXT
    assert "You are terse." in asked and "turn 199 " in asked and "turn 50 " not in asked
    assert "(what was said earlier is left out)" in asked
    assert model.seen[0].prompt.count("And now?") == 1


async def test_a_last_turn_that_is_too_long_is_refused() -> None:
    graph, model = chatting()
    given: Any = {"messages": [*TURNS, HumanMessage("w" * (LONGEST_TEXT + 1))]}
    out = await graph.ainvoke(given)
    assert "too long" in out["messages"][-1].text and out["stop_reason"] == "refused"
    with pytest.raises(tg.ProblemError, match="too long"):
        await graph.ainvoke(given, context={"on_error": "raise"})
    assert model.seen == []
