"""A graph inside other programs: chat apps, parent graphs, LangChain pipelines, many at once."""

import asyncio
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Checkpointer
from support.spelling import WRONG, Spelling, speller
from typing_extensions import TypedDict

import thoughtgraph as tg
from thoughtgraph.building import Graph
from thoughtgraph.llm.answer_cache import SqliteCache

LONG = "deliberation"
"""Twelve steps of four supersteps each: more than the 25 LangChain allows under composition."""


def spelling_graph(checkpointer: Checkpointer = None, delay: float = 0.0) -> Graph:
    return tg.build("tot_bfs", task=Spelling(), model=speller(delay), checkpointer=checkpointer)


def thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


def shape(out: dict[str, Any]) -> dict[str, Any]:
    """What a run found, without what differs from run to run: times."""
    usage = {k: v for k, v in out["usage"].items() if k != "seconds"}
    return {"tree": out["tree"], "answer": out["answer"], "usage": usage}


async def test_conversation_gets_the_answer_appended() -> None:
    history = [HumanMessage("hello"), AIMessage("hi"), HumanMessage("leaf")]
    out = await spelling_graph().ainvoke({"messages": history})
    assert out["answer"] == "leaf"
    assert [m.type for m in out["messages"]] == ["human", "ai", "human", "ai"]
    assert out["messages"][-1].text == "leaf"


@pytest.mark.parametrize("problem", [42, ["leaf"], {"word": "leaf"}, b"leaf"])
async def test_a_problem_that_is_no_text_is_refused_in_one_line(problem: Any) -> None:
    with pytest.raises(tg.ThoughtgraphError, match="is one text, not") as refused:
        await spelling_graph().ainvoke({"problem": problem})
    assert "\n" not in str(refused.value)


async def test_conversation_may_be_plain_dictionaries() -> None:
    out = await spelling_graph().ainvoke({"messages": [{"role": "user", "content": "leaf"}]})
    assert out["messages"][-1].text == "leaf"


async def test_what_others_said_since_the_question_changes_nothing() -> None:
    graph = spelling_graph(InMemorySaver())
    routed = [HumanMessage("root"), AIMessage("let me ask the speller")]
    out = await graph.ainvoke({"messages": routed}, thread("a"))
    assert [m.text for m in out["messages"]] == ["root", routed[1].text, "root"]
    again = await graph.ainvoke({"messages": [HumanMessage("leaf"), AIMessage("hm")]}, thread("a"))
    assert again["messages"][-1].text == "leaf"


async def test_a_problem_on_the_thread_of_an_answered_conversation_is_a_new_one() -> None:
    graph = spelling_graph(InMemorySaver())
    await graph.ainvoke({"messages": [HumanMessage("root")]}, thread("a"))
    out = await graph.ainvoke({"problem": "leaf"}, thread("a"))
    assert [m.text for m in out["messages"]] == ["root", "root", "leaf"]


async def test_problem_without_conversation_adds_no_message() -> None:
    out = await spelling_graph().ainvoke({"problem": "leaf"})
    assert out["answer"] == "leaf"
    assert not out.get("messages")


async def test_second_problem_on_a_thread_starts_afresh() -> None:
    graph = spelling_graph(InMemorySaver())
    await graph.ainvoke({"problem": "root"}, thread("a"))
    again = await graph.ainvoke({"problem": "leaf"}, thread("a"))
    alone = await graph.ainvoke({"problem": "leaf"}, thread("b"))
    assert again["answer"] == "leaf"
    assert shape(again) == shape(alone)


async def test_second_question_of_a_conversation_sees_only_itself() -> None:
    graph = spelling_graph(InMemorySaver())
    await graph.ainvoke({"messages": [HumanMessage("root")]}, thread("a"))
    out = await graph.ainvoke({"messages": [HumanMessage("leaf")]}, thread("a"))
    assert [m.text for m in out["messages"]] == ["root", "root", "leaf", "leaf"]
    alone = await graph.ainvoke({"problem": "leaf"}, thread("b"))
    assert shape(out) == shape(alone)


async def test_run_after_a_failed_one_carries_no_error_over() -> None:
    graph = spelling_graph(InMemorySaver())
    spent = await graph.ainvoke({"problem": "root"}, thread("a"), context={"limit_requests": 1})
    assert spent["stop_reason"] == "budget"
    out = await graph.ainvoke({"problem": "leaf"}, thread("a"))
    assert (out["stop_reason"], out["answer"], out["error"]) == ("finished", "leaf", "")


class Chat(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    greeted: bool


async def test_graph_is_a_node_of_a_chat_app() -> None:
    async def greet(state: Chat) -> dict[str, Any]:
        return {"greeted": True}

    app = StateGraph(Chat)
    app.add_node("greet", greet)
    app.add_node("solve", spelling_graph())
    app.add_edge(START, "greet")
    app.add_edge("greet", "solve")
    app.add_edge("solve", END)
    chat: Graph = app.compile(checkpointer=InMemorySaver())
    out = await chat.ainvoke({"messages": [HumanMessage("leaf")]}, thread("a"))
    assert out["greeted"] is True
    assert [m.text for m in out["messages"]] == ["leaf", "leaf"]
    assert set(out) == {"messages", "greeted"}


async def test_runnable_lifts_the_limit_of_25_supersteps() -> None:
    graph = tg.build("tot_bfs", task=LongSpelling(), model=speller())
    search = tg.runnable(graph)
    pipeline: Runnable[Any, Any] = search | RunnableLambda(itemgetter("answer"))
    assert await pipeline.ainvoke({"problem": LONG}) == LONG
    outs = await search.abatch([{"problem": LONG}, {"problem": LONG[::-1]}])
    assert [out["answer"] for out in outs] == [LONG, LONG[::-1]]


async def test_events_report_every_superstep_of_a_long_run() -> None:
    search = tg.runnable(tg.build("tot_bfs", task=LongSpelling(), model=speller()))
    ended = [
        event["name"]
        async for event in search.astream_events({"problem": LONG}, version="v2")
        if event["event"] == "on_chain_end" and event["name"] in ("select", "answer")
    ]
    assert ended == ["select"] * len(LONG) + ["answer"]


async def test_recording_does_not_hold_the_event_loop(tmp_path: Path) -> None:
    """Servers refuse blocking calls; `langgraph dev` ends the run with an error."""
    blockbuster = pytest.importorskip("blockbuster", reason="comes with langgraph-cli[inmem]")
    cache = tmp_path / "answers.sqlite"
    for replay in ("record", "replay"):
        graph = tg.build(
            "tot_bfs", task=Spelling(), model=speller(), cache=SqliteCache(cache), replay=replay
        )
        with blockbuster.blockbuster_ctx("thoughtgraph"):
            out = await graph.ainvoke({"problem": "leaf"})
        assert out["answer"] == "leaf"
    assert out["usage"].get("requests", 0) == 0


class Remote:
    """A graph on a server, which reports whatever goes wrong there."""

    def __init__(self, reason: str, answer: str | None = None) -> None:
        self.out = {"stop_reason": reason, "error": "model 'small' failed", "answer": answer}

    async def ainvoke(self, input: Any, /, **options: Any) -> Any:
        return self.out


@pytest.mark.parametrize(("reason", "kind"), [("error", tg.ModelError), ("refused", tg.InputError)])
async def test_a_node_raises_what_a_server_reports(reason: str, kind: type[Exception]) -> None:
    graph = Remote(reason)
    with pytest.raises(kind, match="model 'small' failed") as failed:
        await tg.node(graph)({"problem": "leaf"})
    assert getattr(failed.value, "result", graph.out) == graph.out
    told = await tg.node(graph, context={"on_error": "report"})({"problem": "leaf"})
    assert told == {"answer": None}


@pytest.mark.parametrize(
    ("graph", "told"),
    [
        (Remote("error"), "Failed: model 'small' failed"),
        (Remote("error", "lea"), "Failed: model 'small' failed; the best answer before that: lea"),
        (Remote("refused"), "Refused: model 'small' failed"),
        (Remote("finished", "leaf"), "leaf"),
        (Remote("dead_end"), "No answer: finished without an answer, as no thought was left"),
    ],
)
async def test_a_tool_says_which_of_these_it_is(graph: Remote, told: str) -> None:
    tool = tg.tool(graph, "spell", "Spells.")
    assert (await tool.ainvoke({"problem": "leaf"})).startswith(told)


class LongSpelling(Spelling):
    """Spelling with as many steps as the long word has letters."""

    def published(self, method: str) -> dict[str, Any]:
        return {**super().published(method), "steps": len(LONG)}


@pytest.mark.ci
async def test_fifty_runs_at_once_do_not_see_each_other() -> None:
    words = [f"{a}{b}ab" for a in "cdefgh" for b in "cdefghijk"][:50]
    graph = spelling_graph(delay=0.001)
    outs = await asyncio.gather(*(graph.ainvoke({"problem": word}) for word in words))
    for word, out in zip(words, outs, strict=True):
        assert out["answer"] == word
        assert {thought["text"] for thought in out["tree"].values()} <= {"", WRONG, *word}
    alone = await graph.ainvoke({"problem": words[0]})
    assert shape(outs[0]) == shape(alone)


async def test_settings_belong_to_one_run() -> None:
    graph = spelling_graph()
    narrow, wide = await asyncio.gather(
        graph.ainvoke({"problem": "leaf"}, context={"breadth": 1}),
        graph.ainvoke({"problem": "leaf"}, context={"breadth": 3}),
    )
    default = await graph.ainvoke({"problem": "leaf"})
    assert [out["settings"]["breadth"] for out in (narrow, wide, default)] == [1, 3, 2]
    assert len(narrow["tree"]) < len(default["tree"]) < len(wide["tree"])


async def test_stream_shows_the_tree_grow() -> None:
    sizes = [
        len(state["tree"])
        async for state in spelling_graph().astream(
            {"problem": "leaf"}, context={"tree": "all"}, stream_mode="values"
        )
        if "tree" in state
    ]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 1 + 2 + 4 + 4 + 4


async def test_a_past_state_can_be_edited_and_continued() -> None:
    """Time travel: at the first choice the value of the wrong letter is raised by hand."""
    graph = spelling_graph(InMemorySaver())
    first = await graph.ainvoke({"problem": "leaf"}, thread("a"), context={"breadth": 1})
    past = [
        state
        async for state in graph.aget_state_history(thread("a"))
        if state.next == ("select",) and state.values["step"] == 0
    ]
    fork = await graph.aupdate_state(
        past[0].config, {"tree": {"2": {"value": 99.0}}}, as_node="evaluate"
    )
    out = await graph.ainvoke(None, fork)
    assert first["answer"] == "leaf"
    assert out["answer"] == WRONG + "eaf"
    assert out["settings"]["breadth"] == 1


async def test_finished_run_keeps_everything_in_its_state() -> None:
    graph = spelling_graph(InMemorySaver())
    out = await graph.ainvoke({"problem": "leaf"}, thread("a"))
    state = (await graph.aget_state(thread("a"))).values
    assert {key: state[key] for key in ("answer", "tree", "settings")} == {
        key: out[key] for key in ("answer", "tree", "settings")
    }


@pytest.mark.parametrize("given", [{"problem": "4 9"}, {"messages": [AIMessage("leaf")]}])
async def test_unusable_problem_is_refused_before_anything_is_asked(given: dict[str, Any]) -> None:
    model = speller()
    graph = tg.build("tot_bfs", task=Spelling(), model=model)
    with pytest.raises(tg.ProblemError):
        await graph.ainvoke(given)
    assert model.seen == []


@pytest.mark.parametrize(
    ("context", "line"),
    [
        ({"breadth": 0}, "setting 'breadth': input should be greater than or equal to 1, not 0"),
        ({"bredth": 5}, "unknown setting 'bredth'; did you mean 'breadth'?"),
        ({"seed": 1, "limit_request": 5}, "'limit_request'; did you mean 'limit_requests'?"),
        ({"task": "game24"}, "unknown setting 'task'; known: breadth, "),
    ],
)
async def test_unusable_setting_is_refused_in_one_line(context: dict[str, Any], line: str) -> None:
    """A setting that is closed over, as the task here, is no setting of the graph."""
    with pytest.raises(tg.InputError) as refused:
        await spelling_graph().ainvoke({"problem": "leaf"}, context=context)
    assert line in str(refused.value) and "\n" not in str(refused.value)


async def test_a_graph_whose_task_the_run_chooses_refuses_unknown_settings_too() -> None:
    graph = tg.build("tot_bfs")
    with pytest.raises(tg.InputError, match="unknown setting 'bredth'; did you mean 'breadth'"):
        await graph.ainvoke({"problem": "4 9 10 13"}, context={"task": "game24", "bredth": 3})


async def test_unknown_model_of_a_judging_role_is_refused_at_the_start() -> None:
    model = speller()
    graph = tg.build("tot_bfs", model=model)
    with pytest.raises(tg.InputError, match="unknown task"):
        await graph.ainvoke({"problem": "leaf"}, context={"task": "speling"})
    named = tg.build("tot_bfs", task=Spelling())
    with pytest.raises(tg.InputError, match="unknown model 'gpt'"):
        await named.ainvoke(
            {"problem": "leaf"},
            context={"model": "http://127.0.0.1:9/v1#none", "evaluator_model": "gpt"},
        )
