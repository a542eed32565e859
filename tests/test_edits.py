"""Searches that a person edits in their middle: by `update_state`, in every method."""

import json
import random
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import StateUpdate
from support.pools import few
from support.scripted import ScriptedChat
from support.searches import CASES
from support.spelling import WRONG, Spelling, speller

import thoughtgraph as tg
from thoughtgraph.building import Graph
from thoughtgraph.edit_effects import BELOW
from thoughtgraph.state import SearchState

THREAD: Any = {"configurable": {"thread_id": "1"}}
LIMITS = {"limit_requests": 40, "limit_thoughts": 60}
ENTRY = ("__start__", "__end__", "start")


def graph_of(method: str) -> tuple[Graph, ScriptedChat]:
    case = CASES[method]
    model = ScriptedChat(reply=case.reply)
    options: dict[str, Any] = {"task": case.task, "model": model, "oracle": case.oracle}
    return tg.build(method, checkpointer=InMemorySaver(), **options), model


async def until(graph: Graph, method: str, node: str) -> Any:
    """Runs a search until a node has run; returns its state."""
    case = CASES[method]
    context = {**case.context, **LIMITS}
    await graph.ainvoke({"problem": case.problem}, THREAD, context=context, interrupt_after=[node])
    return await graph.aget_state(THREAD)


def found(out: dict[str, Any]) -> Any:
    usage = {name: spent for name, spent in out["usage"].items() if name != "seconds"}
    return json.loads(json.dumps([out["tree"], out["answer"], out["stop_reason"], usage]))


def nodes(method: str) -> list[str]:
    graph, _ = graph_of(method)
    return [name for name in graph.get_graph().nodes if name not in ENTRY]


PLACES = [(method, node) for method in CASES for node in nodes(method) if node != "answer"]


@pytest.mark.parametrize("place", few(PLACES, 12), ids=" after ".join)
async def test_a_whole_state_posted_back_changes_nothing(place: tuple[str, str]) -> None:
    method, node = place
    graph, _ = graph_of(method)
    context = {**CASES[method].context, **LIMITS}
    alone = await graph.ainvoke(
        {"problem": CASES[method].problem},
        context=context,
        config={"configurable": {"thread_id": "alone"}},
    )
    state = await until(graph, method, node)
    if not state.next:
        pytest.skip(f"{method} ends without {node} here")
    if method == "rollback" and node in ("analyse", "extract_index"):
        pytest.skip("an edit goes on from one node, and several ran side by side")
    await graph.aupdate_state(THREAD, json.loads(json.dumps(state.values)), as_node=node)
    assert found(await graph.ainvoke(None, THREAD)) == found(alone)


@pytest.mark.parametrize("place", few(PLACES, 12), ids=" after ".join)
async def test_nothing_follows_a_thought_that_was_pruned(place: tuple[str, str]) -> None:
    method, node = place
    for seed in range(3):
        graph, _ = graph_of(method)
        state = await until(graph, method, node)
        open_ones = [k for k, t in state.values["tree"].items() if t["status"] == "open"]
        if not state.next or open_ones in ([], ["0"]):
            pytest.skip(f"{method} has nothing to prune after {node}")
        key = random.Random(f"{method} {node} {seed}").choice([k for k in open_ones if k != "0"])
        before = tg.children_of(state.values["tree"], key)
        try:
            await graph.aupdate_state(THREAD, {"tree": {key: {"status": "pruned"}}}, as_node=node)
        except tg.InputError as refused:
            assert "prune it" in str(refused) and "\n" not in str(refused)
            continue
        out = await graph.ainvoke(None, THREAD)
        assert out["stop_reason"] and out["stop_reason"] != "error"
        assert tg.children_of(out["tree"], key) == before
        assert out["tree"][key]["status"] == "pruned"
        assert not out["tree"][key].get("chosen")


async def test_a_thread_whose_steps_are_not_kept_is_edited_where_it_stands() -> None:
    graph, _ = graph_of("tot_bfs")
    case, steps = CASES["tot_bfs"], {"interrupt_after": ["start"], "durability": "exit"}
    context: Any = {**case.context, **LIMITS}
    await graph.ainvoke({"problem": case.problem}, THREAD, context=context, **steps)
    await graph.aupdate_state(THREAD, {"tree": {"0": {"note": "seen"}}}, as_node="start")
    out = await graph.ainvoke(None, THREAD)
    assert out["stop_reason"] and out["tree"]["0"]["note"] == "seen"


@pytest.mark.parametrize("place", few(PLACES, 12), ids=" after ".join)
async def test_an_edit_goes_on_from_where_the_search_stands_and_nowhere_else(
    place: tuple[str, str],
) -> None:
    """As another node it ended in an IndexError, or without a result."""
    method, node = place
    graph, _ = graph_of(method)
    state = await until(graph, method, node)
    if not state.next or method == "rollback":
        pytest.skip("it has ended, or several nodes ran side by side")
    edit = {"tree": {"0": {"note": "seen"}}}
    for _ in range(2):  # an edit after an edit too
        for other in ("answer", "start", *nodes(method), "nothing"):
            if other != node:
                with pytest.raises(tg.InputError, match=rf"stands; edit as {node}, or") as refused:
                    await graph.aupdate_state(THREAD, edit, as_node=other)
                assert "\n" not in str(refused.value)
        await graph.aupdate_state(THREAD, edit, as_node=node)
    with pytest.raises(tg.InputError):
        graph.update_state(THREAD, {"tree": {"0": {"note": "no"}}}, as_node="answer")
    assert (await graph.aget_state(THREAD)).values["tree"]["0"]["note"] == "seen"
    out = await graph.ainvoke(None, THREAD)
    assert out["stop_reason"]


def spelling() -> Graph:
    return tg.build("tot_bfs", task=Spelling(), model=speller(), checkpointer=InMemorySaver())


async def spelt(graph: Graph, node: str) -> None:
    given: Any = {"problem": "leaf"}
    await graph.ainvoke(given, THREAD, context={"breadth": 1}, interrupt_after=[node])


async def test_what_is_pruned_is_not_selected() -> None:
    graph = spelling()
    await spelt(graph, "evaluate")
    await graph.aupdate_state(THREAD, {"tree": {"1": {"status": "pruned"}}}, as_node="evaluate")
    assert (await graph.ainvoke(None, THREAD))["answer"] == WRONG + "eaf"


async def test_what_was_not_selected_can_be_opened_again() -> None:
    graph = spelling()
    await spelt(graph, "select")
    await graph.aupdate_state(THREAD, {"tree": {"2": {"status": "open"}}}, as_node="select")
    tree = (await graph.ainvoke(None, THREAD))["tree"]
    assert {t["parent"] for t in tree.values() if t["depth"] == 2} == {"1", "2"}


async def test_a_thought_that_a_person_adds_is_judged_and_followed() -> None:
    graph = spelling()
    await spelt(graph, "register")
    new = {"parent": "0", "text": "l", "note": "I would begin so"}
    await graph.aupdate_state(THREAD, {"tree": {"3": new}}, as_node="register")
    drop = {"tree": {"1": {"status": "pruned"}}}
    await graph.aupdate_state(THREAD, drop, as_node="register")
    out = await graph.ainvoke(None, THREAD)
    assert out["answer"] == "leaf"
    assert out["tree"]["3"]["created_by"] == {"node": "person"}
    assert out["tree"]["3"]["value"] == 1.0


async def test_a_value_given_by_hand_is_not_asked_for_in_a_depth_first_search() -> None:
    graph, model = graph_of("tot_dfs")
    state = await until(graph, "tot_dfs", "register")
    first = state.values["stack"][-1]["candidates"][0]
    edit = {"tree": {first: {"value": -1.0, "note": "no"}}}
    await graph.aupdate_state(THREAD, edit, as_node="register")
    out = await graph.ainvoke(None, THREAD)
    assert (out["tree"][first]["status"], out["tree"][first]["value"]) == ("pruned", -1.0)
    text = out["tree"][first]["text"]
    assert not [call for call in model.seen if call.role == "value" and text in call.prompt]


async def test_a_value_given_by_hand_moves_a_thought_in_the_open_set() -> None:
    graph, _ = graph_of("itot_a_star")
    await until(graph, "itot_a_star", "evaluate")
    state = await graph.aget_state(THREAD)
    waiting = [
        k for k, t in state.values["tree"].items() if "priority" in t and t["status"] == "open"
    ]
    last = (waiting or list(state.values["tree"]))[-1]
    edit = {"tree": {last: {"value": 1_000.0}}}
    await graph.aupdate_state(THREAD, edit, as_node="evaluate")
    out = await graph.ainvoke(None, THREAD)
    assert out["tree"][last]["priority"] < -100
    assert out["tree"][last]["status"] in ("expanded", "terminal")


async def test_what_lies_below_a_pruned_thought_goes_with_it() -> None:
    graph, _ = graph_of("tot_dfs")
    await until(graph, "tot_dfs", "select")
    await graph.ainvoke(None, THREAD, interrupt_after=["register"])
    tree = (await graph.aget_state(THREAD)).values["tree"]
    upper = next(t["parent"] for t in tree.values() if t["depth"] == 2)
    await graph.aupdate_state(THREAD, {"tree": {upper: {"status": "pruned"}}}, as_node="register")
    after = (await graph.aget_state(THREAD)).values
    below = [thought for thought in after["tree"].values() if thought["parent"] == upper]
    assert below and {(t["status"], t["note"]) for t in below} == {("pruned", BELOW)}
    assert [frame["thought"] for frame in after["stack"]] == ["0"]
    out = await graph.ainvoke(None, THREAD)
    assert all(t.get("visit", 0) <= 2 or t["parent"] != upper for t in out["tree"].values())


NONSENSE: dict[str, Any] = {
    "prune": [],
    "99": {"status": "pruned"},
    "1": {"value": "high"},
    "2": {"status": "terminal"},
    "0": {"status": "pruned"},
    "3": {"parent": "77", "text": "x"},
    "4": {"parent": "0", "text": "x"},
}


@pytest.mark.parametrize("key", NONSENSE)
async def test_what_makes_no_sense_is_one_line_and_changes_nothing(key: str) -> None:
    graph = spelling()
    await spelt(graph, "register")
    before = (await graph.aget_state(THREAD)).values
    with pytest.raises(tg.InputError) as refused:
        await graph.aupdate_state(THREAD, {"tree": {key: NONSENSE[key]}}, as_node="register")
    assert "\n" not in str(refused.value)
    assert (await graph.aget_state(THREAD)).values == before


@pytest.mark.parametrize(
    "edit",
    [
        {"tree": {"1": {"value": float("nan")}}},
        {"tree": {"1": {"value": True}}},
        {"tree": {"1": {"parent": "2"}}},
        {"tree": {"1": {"note": "x" * 5_000}}},
        {"tree": {"1": "pruned"}},
        {"tree": "pruned"},
        {"tree": {"3": {"parent": "0", "text": " "}}},
        {"stack": [{"thought": "7"}]},
        {"stack": "none"},
        {"tree": {"3": {"parent": ["0"], "text": "x"}}},
        {"tree": {"1": {"value": 10**400}}},
        {"tree": {"1": {"value": 1.7e308}}},
        {"tree": {10**30: {"status": "pruned"}}},
        {"tree": {str(k): {"parent": "0", "text": "x"} for k in range(3, 200)}},
        {"tree": {"1": {"status": "pruned"}, "3": {"parent": "1", "text": "x"}}},
    ],
    ids=lambda edit: str(edit)[:40],
)
async def test_edits_of_the_wrong_form_are_refused(edit: dict[str, Any]) -> None:
    graph = spelling()
    await spelt(graph, "register")
    with pytest.raises(tg.InputError):
        await graph.aupdate_state(THREAD, edit, as_node="register")


async def test_a_step_that_is_carried_out_cannot_be_written_by_hand() -> None:
    graph, _ = graph_of("itot_a_star")
    state = await until(graph, "itot_a_star", "call_tool")
    new = {str(len(state.values["tree"])): {"parent": "0", "text": "x"}}
    with pytest.raises(tg.InputError, match="takes no thought that is written by hand"):
        await graph.aupdate_state(THREAD, {"tree": new}, as_node="call_tool")


async def test_there_must_be_a_search_to_edit() -> None:
    with pytest.raises(tg.InputError, match="no search here"):
        await spelling().aupdate_state(THREAD, {"tree": {"1": {"status": "pruned"}}})


def test_states_have_a_tree() -> None:
    assert "tree" in SearchState.__annotations__


async def test_an_edit_adds_no_more_than_the_limits_allow() -> None:
    graph = spelling()
    given: Any = {"problem": "leaf"}
    limits = {"limit_thoughts": 2, "limit_depth": 3}
    await graph.ainvoke(given, THREAD, context=limits, interrupt_after=["register"])
    with pytest.raises(tg.InputError, match="limit_thoughts"):
        new = {"3": {"parent": "0", "text": "x"}}
        await graph.aupdate_state(THREAD, {"tree": new}, as_node="register")


async def test_what_a_person_pruned_is_no_answer() -> None:
    graph = spelling()
    await spelt(graph, "register")
    gone = {key: {"status": "pruned"} for key in ("1", "2")}
    await graph.aupdate_state(THREAD, {"tree": gone}, as_node="register")
    out = await graph.ainvoke(None, THREAD)
    assert (out["answer"], out["stop_reason"]) == (None, "dead_end")


async def test_edits_of_one_call_know_of_each_other() -> None:
    graph = spelling()
    given: Any = {"problem": "leaf"}
    await graph.ainvoke(given, THREAD, context={"breadth": 2}, interrupt_after=["select"])
    edits = [[StateUpdate({"tree": {key: {"status": "pruned"}}}, "select")] for key in ("1", "2")]
    await graph.abulk_update_state(THREAD, edits)
    assert (await graph.aget_state(THREAD)).values["frontier"] == []


async def test_a_visited_state_that_is_opened_again_is_gone_into() -> None:
    graph, _ = graph_of("tot_dfs")
    case = CASES["tot_dfs"]
    given: Any = {"problem": case.problem}
    context = {**case.context, "limit_requests": 300}
    alone: Any = {"configurable": {"thread_id": "alone"}}
    whole = await graph.ainvoke(given, alone, context=context)
    await graph.ainvoke(given, THREAD, context=context, interrupt_after=["select"])
    lost: list[str] = []
    while not lost:
        await graph.ainvoke(None, THREAD, interrupt_after=["select"])
        tree = (await graph.aget_state(THREAD)).values["tree"]
        lost = [k for k, t in tree.items() if t["status"] == "pruned" and "visit" in t]
    await graph.aupdate_state(THREAD, {"tree": {lost[0]: {"status": "open"}}}, as_node="select")
    out = await graph.ainvoke(None, THREAD)
    assert out["stop_reason"] == whole["stop_reason"]
    assert out["tree"][lost[0]]["status"] == "expanded"
    assert out["usage"]["requests"] == whole["usage"]["requests"] + 1


async def test_a_plan_that_a_person_drops_is_gone_back_from_with_siblings_made_ahead() -> None:
    case = CASES["tomt_tot"]
    graph = tg.build(
        "tomt_tot",
        task=case.task,
        model=ScriptedChat(reply=case.reply),
        checkpointer=InMemorySaver(),
    )
    given: Any = {"problem": case.problem}
    context = {**case.context, "speculate": 2, "limit_requests": 20}
    await graph.ainvoke(given, THREAD, context=context, interrupt_after=["evaluate"])
    tree = (await graph.aget_state(THREAD)).values["tree"]
    (chunk,) = [key for key, thought in tree.items() if thought["status"] == "open" and key != "0"]
    drop = {"tree": {chunk: {"status": "pruned"}}}
    await graph.aupdate_state(THREAD, drop, as_node="evaluate")
    out = await graph.ainvoke(None, THREAD)
    assert not tg.children_of(out["tree"], chunk) and out["stop_reason"]
