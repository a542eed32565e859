"""A graph inside other programs: chat apps, parent graphs, LangChain pipelines, many at once."""

from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Checkpointer
from pydantic import BaseModel
from support.searches import THREAD
from support.spelling import WRONG, Spelling, speller
from typing_extensions import TypedDict

import thoughtgraph as tg
from thoughtgraph.building import Graph
from thoughtgraph.graphs import served
from thoughtgraph.llm.store import SqliteStore
from thoughtgraph.state import SearchState


class Around(TypedDict, total=False):
    """The state of a program around a search."""

    problem: str
    answer: str | None


OTHER: Any = {"configurable": {"thread_id": "2"}}
LONG = "deliberation"
"""Twelve steps of four supersteps each: more than the 25 LangChain allows under composition."""


def spelling_graph(checkpointer: Checkpointer = None) -> Graph:
    return tg.build("tot_bfs", task=Spelling(), model=speller(), checkpointer=checkpointer)


def shape(out: dict[str, Any]) -> dict[str, Any]:
    """What a run found, without what differs from run to run: times."""
    usage = {k: v for k, v in out["usage"].items() if k != "seconds"}
    return {"tree": out["tree"], "answer": out["answer"], "usage": usage}


@pytest.mark.parametrize("first", [{"problem": "root"}, {"messages": [HumanMessage("root")]}])
@pytest.mark.parametrize(
    "second", [{"problem": "leaf"}, {"messages": [HumanMessage("leaf")]}, {"messages": "routed"}]
)
async def test_a_second_problem_on_a_thread_sees_only_itself(first: Any, second: Any) -> None:
    graph = spelling_graph(InMemorySaver())
    if second == {"messages": "routed"}:  # what others said since the question changes nothing
        second = {"messages": [HumanMessage("leaf"), AIMessage("hm")]}
    spent = await graph.ainvoke(first, THREAD, context={"limit_requests": 1})
    assert spent["stop_reason"] == "budget"
    await graph.ainvoke(first, THREAD)
    out = await graph.ainvoke(second, THREAD)
    assert (out["stop_reason"], out["answer"], out["error"]) == ("finished", "leaf", "")
    assert shape(out) == shape(await graph.ainvoke({"problem": "leaf"}, OTHER))
    if "messages" in first or "messages" in second:
        assert out["messages"][-1].text == "leaf"
    else:
        assert not out.get("messages"), "nothing is said where nobody speaks"


@dataclass
class Mine:
    """The context of a program that knows nothing of searches."""

    steps: int = 0
    user: str = "me"


class Yours(BaseModel):
    steps: int = 0


def adder() -> tg.ScriptedChat:
    return tg.ScriptedChat(reply=lambda call: "Answer: 3 + 5 + 7 + 9 = 24")


CONTEXTS = [
    (dict, {"steps": 0, "user": "me"}),
    (Mine, Mine()),
    (Yours, Yours(steps=0)),
    (None, None),
]


@pytest.mark.parametrize(("schema", "context"), CONTEXTS)
@pytest.mark.parametrize("way", ["graph", "node", "tool", "await"])
async def test_the_context_of_the_program_around_a_search_is_not_its_own(
    schema: Any, context: Any, way: str
) -> None:
    graph = tg.build("tot_bfs", task=Spelling(), model=speller(), limit_requests=1)
    tool = tg.tool(graph, "spell", "Spells.")

    async def call(state: Any) -> dict[str, Any]:
        if way == "tool":
            return {"answer": await tool.ainvoke({"problem": state["problem"]})}
        return {"answer": (await graph.ainvoke(state))["answer"]}

    nodes: dict[str, Any] = {"graph": graph, "node": tg.node(graph)}
    around: Any = StateGraph(Around, context_schema=schema)
    around.add_node("search", nodes.get(way, call)).add_edge(START, "search")
    config: Any = {"configurable": {"steps": 0, "model": "mine"}}
    out = await around.compile().ainvoke({"problem": "leaf"}, config, context=context)
    assert not str(out["answer"]).startswith("leaf"), "the limit that it was built with holds"


async def test_what_a_graph_was_built_with_holds_where_a_run_says_nothing() -> None:
    prices = {"scripted": (1.0, 2.0)}
    graph = tg.build("tot_bfs", task=Spelling(), model=speller(), prices=prices)
    out = await graph.ainvoke({"problem": "leaf"})
    assert out["settings"]["prices"] == {"scripted": [1.0, 2.0]}
    for wrong in (Mine(), Yours(), "steps=0", [1]):
        with pytest.raises(tg.InputError, match="give a dictionary of settings"):
            await graph.ainvoke({"problem": "leaf"}, context=wrong)  # type: ignore[arg-type]
    with pytest.raises(tg.UnknownName, match="did you mean 'breadth'"):
        tg.tool(graph, "spell", "Spells.", context={"bredth": 2})
    inner, seen = tg.build("refine", task="game24", model=adder(), oracle=True), list[Any]()

    async def asks_within(answer: str) -> bool:
        seen.append((await inner.ainvoke({"problem": "3 5 7 9"}))["settings"]["limit_requests"])
        return True

    outer = tg.build("refine", task="game24", model=adder(), oracle=asks_within)
    await outer.ainvoke({"problem": "3 5 7 9"}, context={"limit_requests": 77})
    assert seen and 77 not in seen, "another graph of the method has settings of its own"


async def test_a_run_goes_on_with_the_settings_with_which_it_began() -> None:
    graph = tg.build("tot_bfs", task=Spelling(), model=speller(), breadth=2, limit_requests=99)
    form: Any = graph.get_context_jsonschema()
    assert form["properties"]["breadth"]["default"] == 2
    graph.checkpointer = InMemorySaver()
    told: Any = {"breadth": 3}
    await graph.ainvoke({"problem": "leaf"}, THREAD, context=told, interrupt_after=["generate"])
    for context in ({"breadth": 4}, {"breadth": 2}):
        with pytest.raises(tg.SettingError, match=r"=3, not \d; leave breadth out"):
            await graph.ainvoke(None, THREAD, context=context)
    out = await graph.ainvoke(None, THREAD, context=told)
    assert (out["answer"], out["settings"]["breadth"]) == ("leaf", 3)
    assert out["settings"]["limit_requests"] == 99


async def test_an_edit_that_would_change_nothing_is_told() -> None:
    graph = spelling_graph(InMemorySaver())
    await graph.ainvoke({"problem": "leaf"}, THREAD, interrupt_after=["evaluate"])
    await graph.aupdate_state(THREAD, {"tree": {"1": {"status": "pruned"}}})
    with pytest.raises(tg.InputError, match=r'edit \{"thoughts"'):
        await graph.ainvoke(None, THREAD)
    await graph.aupdate_state(THREAD, {"tree": {}})
    configured: Any = {"configurable": {"thread_id": "1", "breadth": 5}}
    with pytest.raises(tg.InputError, match="'breadth' is a setting"):
        await graph.ainvoke(None, configured)
    closed: Any = {"configurable": {"thread_id": "2", "model": "x"}}
    with pytest.raises(tg.InputError, match="fixed when the graph was built"):
        await graph.ainvoke({"problem": "leaf"}, closed)


async def test_a_thread_of_a_version_without_thoughts_is_refused_in_one_line() -> None:
    graph, saver = spelling_graph(), InMemorySaver()
    settings = (await graph.ainvoke({"problem": "leaf"}))["settings"]
    old: Any = StateGraph(SearchState)
    old.add_node("start", lambda state: {"settings": settings, "stop_reason": "", "step": 0})
    old.add_node("generate", lambda state: {})
    old.add_edge(START, "start").add_edge("start", "generate")
    before = old.compile(checkpointer=saver, interrupt_before=["generate"])
    await before.ainvoke({"problem": "leaf"}, THREAD)
    graph.checkpointer = saver
    with pytest.raises(tg.InputError, match=r"or version 0\.1 began it; start it again"):
        await graph.ainvoke(None, THREAD)
    assert (await graph.ainvoke({"problem": "leaf"}, THREAD))["answer"] == "leaf"


class LongSpelling(Spelling):
    """Spelling with as many steps as the long word has letters."""

    def published(self, method: str) -> dict[str, Any]:
        return {**super().published(method), "steps": len(LONG)}


def test_the_limit_of_supersteps_is_out_of_reach() -> None:
    graph = spelling_graph()
    ready = [getattr(served, name) for name in ("chain", "tot_bfs")]
    for each in (graph, graph.with_config(tags=["mine"]), tg.runnable(graph), *ready):
        assert each.config and each.config["recursion_limit"] > 1_000_000


async def test_runnable_lifts_the_limit_of_25_supersteps() -> None:
    search = tg.runnable(tg.build("tot_bfs", task=LongSpelling(), model=speller()))
    pipeline: Runnable[Any, Any] = search | RunnableLambda(itemgetter("answer"))
    assert await pipeline.ainvoke({"problem": LONG}) == LONG
    outs = await search.abatch([{"problem": LONG}, {"problem": LONG[::-1]}])
    assert [out["answer"] for out in outs] == [LONG, LONG[::-1]]
    events = [each async for each in search.astream_events({"problem": LONG}, version="v2")]
    ended = [each["name"] for each in events if each["event"] == "on_chain_end"]
    nodes = [name for name in ended if name in ("select", "answer")]
    assert nodes == ["select"] * len(LONG) + ["answer"]


async def test_recording_does_not_hold_the_event_loop(tmp_path: Path) -> None:
    """Servers refuse blocking calls; `langgraph dev` ends the run with an error."""
    blockbuster = pytest.importorskip("blockbuster", reason="comes with langgraph-cli[inmem]")
    cache: Any = {"cache": SqliteStore(tmp_path / "answers.sqlite")}
    for replay in ("record", "replay"):
        graph = tg.build("tot_bfs", task=Spelling(), model=speller(), replay=replay, **cache)
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
    graph: Any = Remote(reason)
    with pytest.raises(kind, match="model 'small' failed") as failed:
        await tg.node(graph).ainvoke({"problem": "leaf"})
    assert getattr(failed.value, "result", graph.out) == graph.out
    told = await tg.node(graph, context={"on_error": "report"}).ainvoke({"problem": "leaf"})
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
async def test_a_tool_says_which_of_these_it_is(graph: Any, told: str) -> None:
    tool = tg.tool(graph, "spell", "Spells.")
    assert (await tool.ainvoke({"problem": "leaf"})).startswith(told)


async def test_a_past_state_can_be_edited_and_continued() -> None:
    """Time travel: at the first choice the value of the wrong letter is raised by hand."""
    graph = spelling_graph(InMemorySaver())
    first = await graph.ainvoke({"problem": "leaf"}, THREAD, context={"breadth": 1})
    state = (await graph.aget_state(THREAD)).values
    kept = ("answer", "tree", "settings")
    assert {key: state[key] for key in kept} == {key: first[key] for key in kept}
    history = [state async for state in graph.aget_state_history(THREAD)]
    past = [each for each in history if each.next == ("select",) and each.values["step"] == 0]
    raised = {"thoughts": {"2": {"value": 99.0}}}
    fork = await graph.aupdate_state(past[0].config, raised, as_node="evaluate")
    out = await graph.ainvoke(None, fork)
    assert (first["answer"], out["answer"]) == ("leaf", WRONG + "eaf")
    assert out["settings"]["breadth"] == 1


OWN: Any = {"task": Spelling(), "model": speller()}
NOWHERE = "http://127.0.0.1:9/v1#none"


@pytest.mark.parametrize(
    ("built", "context", "line"),
    [
        # What is closed over, as the task here, is no setting of the graph.
        (OWN, {"task": "game24"}, "unknown setting 'task'; known: breadth, "),
        ({"task": Spelling()}, {"model": NOWHERE, "evaluator_model": "gpt"}, "unknown model 'gpt'"),
    ],
)
async def test_unusable_setting_is_refused_in_one_line(
    built: Any, context: dict[str, Any], line: str
) -> None:
    with pytest.raises(tg.InputError) as refused:
        await tg.build("tot_bfs", **built).ainvoke({"problem": "leaf"}, context=context)
    assert line in str(refused.value) and "\n" not in str(refused.value)
