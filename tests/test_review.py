"""A person takes part in a search: it pauses, is told what to do, and goes on."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from support.pools import few
from support.scripted import ScriptedChat
from support.searches import CASES
from support.spelling import WRONG, Spelling, speller

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.building import Graph

THREAD: Any = {"configurable": {"thread_id": "1"}}
CHOOSING = [
    name
    for name in CASES
    if "select" in registry.settings(name).model_json_schema()["properties"]["review"]["enum"]
]
"""Methods in which a person can choose among thoughts."""


def spelling() -> Graph:
    return tg.build("tot_bfs", task=Spelling(), model=speller(), checkpointer=InMemorySaver())


async def begin(graph: Graph, **context: Any) -> dict[str, Any]:
    out: dict[str, Any] = await graph.ainvoke({"problem": "leaf"}, THREAD, context=context)
    return out


async def say(graph: Graph, reply: Any) -> dict[str, Any]:
    out: dict[str, Any] = await graph.ainvoke(Command(resume=reply), THREAD)
    return out


def asked(out: dict[str, Any]) -> dict[str, Any]:
    question: dict[str, Any] = out["__interrupt__"][0].value
    return question


async def test_the_run_pauses_with_the_candidates_and_goes_on_with_those_kept() -> None:
    graph = spelling()
    out = await begin(graph, breadth=1, review="select")
    question = asked(out)
    assert question["review"] == "select" and question["problem"] == "leaf"
    assert [(t["id"], t["text"], t["value"]) for t in question["thoughts"]] == [
        ("1", "l", 1.0),
        ("2", WRONG, 0.0),
    ]
    out = await say(graph, {"keep": ["2"], "note": "let us see"})
    while "__interrupt__" in out:
        out = await say(graph, {"accept": True})
    assert out["answer"] == WRONG + "eaf"
    assert out["tree"]["1"]["note"].endswith("dropped by hand: let us see")


async def test_a_new_value_decides_and_a_new_thought_is_judged() -> None:
    graph = spelling()
    await begin(graph, breadth=1, review="select")
    out = await say(graph, {"values": {"2": 99}})
    assert {t["parent"] for t in asked(out)["thoughts"]} == {"2"}
    out = await say(graph, {"add": [{"text": "x"}], "values": {"3": -5, "4": -5}})
    tree = out["tree"]
    (added,) = [t for t in tree.values() if t.get("created_by", {}).get("node") == "person"]
    assert (added["parent"], added["text"], added["value"]) == ("2", "x", 0.0)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "yes",
        {"note": "hm"},
        {"keep": ["77"]},
        {"drop": "1"},
        {"values": {"1": "high"}},
        {"values": [1]},
        {"add": [{"text": ""}]},
        {"add": "x"},
        {"settings": {"model": "x"}, "accept": True},
        {"accept": True, "note": 7},
        {"accept": False},
        {"keep": ["1"], "drop": ["1"]},
        {"drop": ["1"], "values": {"1": 3}},
        {"add": [{"text": "x", "parent": ["0"]}]},
        {"add": [{"text": "x", "parent": "9"}]},
    ],
    ids=str,
)
async def test_a_reply_that_makes_no_sense_is_asked_for_again(reply: Any) -> None:
    graph = spelling()
    await begin(graph, breadth=1, review="select")
    before = (await graph.aget_state(THREAD)).values
    # LangGraph takes a resume of None for none at all.
    out = await say(graph, "" if reply is None else reply)
    again = asked(out)
    assert again["error"] and "\n" not in again["error"]
    assert (await graph.aget_state(THREAD)).values == before
    out = await say(graph, {"accept": True})
    assert {t["depth"] for t in asked(out)["thoughts"]} == {2}


def _chooses(tree: tg.Tree) -> bool:
    """Whether there was anything to choose among: plans that are all refused leave nothing."""
    return any(
        (key != "0" and t["status"] != "pruned") or "dropped" in t.get("note", "")
        for key, t in tree.items()
    )


@pytest.mark.parametrize("method", few(CHOOSING, 6))
async def test_who_accepts_everything_gets_the_search_as_it_is(method: str) -> None:
    case = CASES[method]
    found = []
    for review in ("off", "select"):
        model = ScriptedChat(reply=case.reply)
        graph = tg.build(
            method, task=case.task, model=model, oracle=case.oracle, checkpointer=InMemorySaver()
        )
        context = {**case.context, "review": review, "limit_requests": 25}
        out = await graph.ainvoke({"problem": case.problem}, THREAD, context=context)
        pauses = 0
        while "__interrupt__" in out:
            pauses += 1
            out = await graph.ainvoke(Command(resume={"accept": True}), THREAD)
        assert bool(pauses) == (review == "select" and _chooses(out["tree"]))
        found.append((out["tree"], out["answer"], out["stop_reason"], len(model.seen)))
    assert found[0] == found[1]


@pytest.mark.parametrize("method", few(CHOOSING, 6))
async def test_who_drops_everything_ends_every_search(method: str) -> None:
    case = CASES[method]
    model = ScriptedChat(reply=case.reply)
    graph = tg.build(
        method, task=case.task, model=model, oracle=case.oracle, checkpointer=InMemorySaver()
    )
    context = {**case.context, "review": "select", "limit_requests": 25}
    out = await graph.ainvoke({"problem": case.problem}, THREAD, context=context)
    while "__interrupt__" in out:
        shown = asked(out)["thoughts"]
        out = await graph.ainvoke(Command(resume={"drop": [t["id"] for t in shown]}), THREAD)
    assert out["stop_reason"] and out["stop_reason"] != "error"
    dropped = [k for k, t in out["tree"].items() if "dropped by hand" in t.get("note", "")]
    assert bool(dropped) == _chooses(out["tree"])
    assert not any(t["parent"] in dropped for t in out["tree"].values())


async def test_an_answer_is_accepted_or_replaced() -> None:
    graph = spelling()
    out = await begin(graph, review="answer")
    assert asked(out)["answer"] == "leaf"
    out = await say(graph, {"accept": True, "note": "good"})
    assert (out["answer"], out["tree"]["0"]["status"]) == ("leaf", "expanded")
    assert out["outcome"].endswith("; a person accepted the answer (good)")
    out = await graph.ainvoke(
        {"messages": [HumanMessage("leaf")]}, THREAD, context={"review": "answer"}
    )
    out = await say(graph, {"answer": "tree"})
    assert out["answer"] == out["messages"][-1].text == "tree"
    assert "a person put another answer in its place" in out["outcome"]
    assert not any(thought.get("chosen") for thought in out["tree"].values())


@pytest.mark.parametrize("reply", [{"answer": 7}, {"answer": "a", "accept": True}, []], ids=str)
async def test_an_answer_of_the_wrong_form_is_asked_for_again(reply: Any) -> None:
    graph = spelling()
    await begin(graph, review="answer")
    out = await say(graph, reply)
    assert asked(out)["error"]
    assert (await say(graph, {"answer": None}))["answer"] is None


@pytest.mark.parametrize("method", few([*CASES], 6))
async def test_every_answer_can_be_reviewed(method: str) -> None:
    case = CASES[method]
    graph = tg.build(
        method,
        task=case.task,
        model=ScriptedChat(reply=case.reply),
        oracle=case.oracle,
        checkpointer=InMemorySaver(),
    )
    context = {**case.context, "review": "answer", "limit_requests": 10}
    out = await graph.ainvoke({"problem": case.problem}, THREAD, context=context)
    assert asked(out)["review"] == "answer"
    out = await graph.ainvoke(Command(resume={"answer": "mine"}), THREAD)
    assert (out["answer"], "__interrupt__" in out) == ("mine", False)


async def test_without_a_checkpointer_it_is_refused_before_anything_is_spent() -> None:
    model = speller()
    graph = tg.build("tot_bfs", task=Spelling(), model=model)
    with pytest.raises(tg.InputError, match="a checkpointer must keep"):
        await graph.ainvoke({"problem": "leaf"}, context={"review": "select"})
    assert not model.seen


async def test_a_method_that_chooses_nothing_has_no_such_review() -> None:
    graph = tg.build("chain", task="gsm8k", model=speller())
    with pytest.raises(tg.SettingError, match="review"):
        await graph.ainvoke({"problem": "One? Two."}, context={"review": "select"})


async def test_a_thought_may_follow_one_that_is_valued_in_the_same_reply() -> None:
    graph = spelling()
    await begin(graph, breadth=1, review="select")
    out = await say(graph, {"values": {"1": 9}, "add": [{"text": "e", "parent": "1"}]})
    assert "error" in asked(out), "a level lower is no place that a breadth-first search is at"


async def test_a_note_may_be_long() -> None:
    graph = spelling()
    await begin(graph, breadth=1, review="select")
    out = await say(graph, {"drop": ["2"], "note": "x" * 4_000})
    assert "error" not in asked(out)


async def test_who_drops_all_gets_no_answer() -> None:
    graph = spelling()
    await begin(graph, breadth=1, review="select")
    out = await say(graph, {"keep": []})
    assert (out["answer"], out["stop_reason"]) == (None, "dead_end")


async def test_a_plan_that_is_kept_ends_the_search_all_the_same() -> None:
    case = CASES["tomt_tot"]
    graph = tg.build(
        "tomt_tot",
        task=case.task,
        model=ScriptedChat(reply=lambda call: "+1\n+1\nend"),
        checkpointer=InMemorySaver(),
    )
    context = {**case.context, "review": "select", "limit_requests": 9}
    out = await graph.ainvoke({"problem": "30"}, THREAD, context=context)
    while "__interrupt__" in out:
        (first, *_) = asked(out)["thoughts"]
        out = await graph.ainvoke(Command(resume={"keep": [first["id"]], "note": "y"}), THREAD)
    assert out["stop_reason"] in ("finished", "budget", "dead_end")
