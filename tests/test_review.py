"""A person takes part in a search: it pauses, is told what to do, and goes on."""

from typing import Any

import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import TypeAdapter
from support.pools import few
from support.searches import CASES, THREAD, built
from support.spelling import WRONG, Spelling, speller

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.building import Graph

CHOOSING = [
    name
    for name in CASES
    if "select" in registry.settings(name).model_json_schema()["properties"]["review"]["enum"]
]
"""Methods in which a person can choose among thoughts."""
ACCEPT = {"accept": True}


async def begin(review: str = "select", **context: Any) -> tuple[Graph, dict[str, Any]]:
    graph = tg.build("tot_bfs", task=Spelling(), model=speller(), checkpointer=InMemorySaver())
    told: Any = {"breadth": 1, "review": review, **context}
    return graph, await graph.ainvoke({"problem": "leaf"}, THREAD, context=told)


async def say(graph: Graph, reply: Any) -> dict[str, Any]:
    return dict(await graph.ainvoke(Command(resume=reply), THREAD))


def asked(out: dict[str, Any]) -> dict[str, Any]:
    return dict(out["__interrupt__"][0].value)


async def test_the_run_pauses_with_the_candidates_and_goes_on_with_those_kept() -> None:
    graph, out = await begin()
    question = asked(out)
    assert question["review"] == "select" and question["problem"] == "leaf"
    assert [(t["id"], t["text"], t["value"]) for t in question["thoughts"]] == [
        ("1", "l", 1.0),
        ("2", WRONG, 0.0),
    ]
    out = await say(graph, {"keep": ["2"], "note": "let us see"})
    while "__interrupt__" in out:
        out = await say(graph, ACCEPT)
    assert out["answer"] == WRONG + "eaf"
    assert out["tree"]["1"]["note"].endswith("dropped by hand: let us see")


async def test_a_new_value_decides_and_a_new_thought_is_judged() -> None:
    graph, _ = await begin()
    out = await say(graph, {"values": {"2": 99}})
    assert {t["parent"] for t in asked(out)["thoughts"]} == {"2"}
    out = await say(graph, {"add": [{"text": "x"}], "values": {"3": -5, "4": -5}})
    tree = (await graph.aget_state(THREAD)).values["thoughts"]
    (added,) = [t for t in tree.values() if t.get("created_by") == {"node": "person"}]
    assert (added["parent"], added["text"], added["value"]) == ("2", "x", 0.0)


async def test_a_chat_front_end_that_knows_langchains_reviews_can_show_and_answer_one() -> None:
    graph, out = await begin()
    shown = asked(out)
    request = TypeAdapter(HITLRequest).validate_python(shown)
    (action,), (config,) = request["action_requests"], request["review_configs"]
    assert (action["name"], action["args"]) == ("select", {"drop": []})
    assert config["action_name"] == "select" and "1 (1): l" in action.get("description", "")
    edit = {"name": "select", "args": {"keep": ["2"], "note": "so"}}
    out = await say(graph, {"decisions": [{"type": "edit", "edited_action": edit}]})
    while "__interrupt__" in out:
        out = await say(graph, {"decisions": [{"type": "approve"}]})
    assert out["answer"] == WRONG + "eaf"
    graph, _ = await begin()
    await say(graph, {"decisions": [{"type": "edit", "edited_action": action}]})
    tree = (await graph.aget_state(THREAD)).values["thoughts"]
    assert {t["status"] for t in tree.values() if t["depth"] == 1} == {"expanded", "pruned"}
    graph, out = await begin()
    out = await say(graph, {"decisions": [{"type": "reject", "message": "no"}]})
    assert (out["answer"], out["tree"]["2"]["status"]) == (None, "pruned")
    graph, out = await begin("answer")
    assert asked(out)["action_requests"][0]["args"] == {"answer": "leaf"}
    out = await say(graph, {"decisions": [{"type": "reject", "message": "no word"}]})
    assert out["answer"] is None and "no word" in out["outcome"]


NONSENSE = [
    {"decisions": [{"type": "approve"}], "keep": ["1"]},
    {"accept": True, "keep": ["1"]},
    {"decisions": [{"type": "approve"}] * 2},
    {"decisions": [{"type": "edit", "edited_action": {"args": {"keep": ["9"]}}}]},
    "",  # LangGraph takes a resume of None for none at all.
    {"note": "hm"},
    {"keep": ["77"]},
    {"drop": "1"},
    {"values": {"1": "high"}},
    {"values": [1]},
    {"add": [{"text": ""}]},
    {"add": "x"},
    {"settings": {"model": "x"}},
    {"accept": True, "note": 7},
    {"accept": False},
    {"keep": ["1"], "drop": ["1"]},
    {"drop": ["1"], "values": {"1": 3}},
]


async def test_a_reply_that_makes_no_sense_is_asked_for_again() -> None:
    graph, _ = await begin()
    before = (await graph.aget_state(THREAD)).values
    for reply in NONSENSE:
        again = asked(await say(graph, reply))
        assert again["error"] and "\n" not in again["error"], reply
        assert (await graph.aget_state(THREAD)).values == before
    out = await say(graph, {"drop": ["2"], "note": "x" * 4_000})  # a note may be long
    assert "error" not in asked(out)
    assert {t["depth"] for t in asked(out)["thoughts"]} == {2}


@pytest.mark.parametrize("reply", [{"answer": 7}, {"answer": "a", "accept": True}, []], ids=str)
async def test_an_answer_of_the_wrong_form_is_asked_for_again(reply: Any) -> None:
    graph, _ = await begin("answer")
    assert asked(await say(graph, reply))["error"]
    assert (await say(graph, {"answer": None}))["answer"] is None


async def test_an_answer_is_accepted_or_replaced() -> None:
    graph, out = await begin("answer")
    assert asked(out)["answer"] == "leaf"
    out = await say(graph, {"accept": True, "note": "good"})
    assert (out["answer"], out["tree"]["0"]["status"]) == ("leaf", "expanded")
    assert out["outcome"].endswith("; a person accepted the answer (good)")
    said: Any = {"messages": [HumanMessage("leaf")]}
    context: Any = {"review": "answer"}
    await graph.ainvoke(said, THREAD, context=context)
    out = await say(graph, {"answer": "tree"})
    assert out["answer"] == out["messages"][-1].text == "tree"
    assert "a person put another answer in its place" in out["outcome"]
    assert not any(thought.get("chosen") for thought in out["tree"].values())
    await graph.ainvoke(said, THREAD, context=context)
    out = await say(graph, {"answer": None})
    assert out["answer"] is None and out["messages"][-1].text == "No answer was found."


async def search(method: str, review: str, reply: Any, requests: int) -> tuple[Any, int, int]:
    """A search in which each question gets a reply; its result, pauses and requests."""
    case, pauses = CASES[method], 0
    graph, model = built(case, method)
    context: Any = {**case.context, "review": review, "limit_requests": requests}
    out = await graph.ainvoke({"problem": case.problem}, THREAD, context=context)
    while "__interrupt__" in out:
        assert asked(out)["review"] == review
        pauses += 1
        out = await say(graph, reply(asked(out)))
    return out, pauses, len(model.seen)


def chooses(tree: tg.Tree) -> bool:
    """Whether there was anything to choose among: plans that are all refused leave nothing."""
    return any(
        (key != "0" and t["status"] != "pruned") or "dropped" in t.get("note", "")
        for key, t in tree.items()
    )


@pytest.mark.parametrize("method", few(CHOOSING, 6))
async def test_who_accepts_everything_gets_the_search_and_who_drops_it_ends_it(method: str) -> None:
    alone, _, sent = await search(method, "off", lambda question: {}, 25)
    out, pauses, asked_for = await search(method, "select", lambda question: ACCEPT, 25)
    assert bool(pauses) == chooses(out["tree"])
    for name in ("tree", "answer", "stop_reason"):
        assert out[name] == alone[name]
    assert asked_for == sent

    def drop(question: Any) -> dict[str, Any]:
        return {"drop": [thought["id"] for thought in question["thoughts"]]}

    out, _, _ = await search(method, "select", drop, 25)
    assert out["stop_reason"] and out["stop_reason"] != "error"
    dropped = [k for k, t in out["tree"].items() if "dropped by hand" in t.get("note", "")]
    assert bool(dropped) == chooses(out["tree"])
    assert not any(t["parent"] in dropped for t in out["tree"].values())


@pytest.mark.parametrize("method", few(CASES, 6))
async def test_every_answer_can_be_reviewed(method: str) -> None:
    out, pauses, _ = await search(method, "answer", lambda question: {"answer": "mine"}, 10)
    assert (out["answer"], pauses) == ("mine", 1)


async def test_without_a_checkpointer_it_is_refused_before_anything_is_spent() -> None:
    case = CASES["tot_bfs"]
    graph, model = built(case, "tot_bfs", checkpointer=None)
    with pytest.raises(tg.InputError, match="a checkpointer must keep"):
        await graph.ainvoke({"problem": case.problem}, context={"review": "select"})
    assert not model.seen
    with pytest.raises(tg.SettingError, match="review"):  # it chooses nothing
        await search("chain", "select", lambda question: ACCEPT, 25)


async def test_a_plan_that_is_kept_ends_the_search_all_the_same() -> None:
    case = CASES["tomt_tot"]._replace(reply=lambda call: "+1\n+1\nend")
    graph, _ = built(case, "tomt_tot")
    context: Any = {**case.context, "review": "select", "limit_requests": 9}
    out = await graph.ainvoke({"problem": "30"}, THREAD, context=context)
    while "__interrupt__" in out:
        (first, *_) = asked(out)["thoughts"]
        out = await say(graph, {"keep": [first["id"]], "note": "y"})
    assert out["stop_reason"] in ("finished", "budget", "dead_end")
