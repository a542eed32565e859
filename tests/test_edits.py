"""Searches that a person edits in their middle: by `update_state`, in every method."""

import copy
import json
import random
from contextlib import suppress
from typing import Any, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import StateUpdate
from support.pools import few
from support.searches import CASES, THREAD, built
from support.spelling import Spelling, speller

import thoughtgraph as tg
from thoughtgraph.building import Graph
from thoughtgraph.graphs.tot_bfs import frontier
from thoughtgraph.nodes.families.depth_first import levels, next_state
from thoughtgraph.reducer import BELOW
from thoughtgraph.settings.tot import TotDfsSettings
from thoughtgraph.tree import PERSON, Tree, grow, merge_thoughts, root

LIMITS = {"limit_requests": 40, "limit_thoughts": 60}
ALONE: Any = {"configurable": {"thread_id": "alone"}}
PRUNE = {"status": "pruned"}


async def until(graph: Graph, method: str, node: str, **context: Any) -> Any:
    """Runs a search until a node has run; returns its state."""
    case = CASES[method]
    told: Any = {**case.context, **LIMITS, **context}
    await graph.ainvoke({"problem": case.problem}, THREAD, context=told, interrupt_after=[node])
    return await graph.aget_state(THREAD)


async def edit(graph: Graph, node: str, tree: Any) -> None:
    await graph.aupdate_state(THREAD, {"thoughts": tree}, as_node=node)


async def rest(graph: Graph) -> dict[str, Any]:
    return dict(await graph.ainvoke(None, THREAD))


def nodes(method: str) -> list[str]:
    graph, _ = built(CASES[method], method)
    return [node for node in graph.get_graph().nodes if node not in ("__start__", "__end__")]


def places(method: str) -> list[Any]:
    """The nodes after which a search is edited: the first one always, the others in CI."""
    between = [node for node in nodes(method) if node not in ("answer", "start")]
    usual = next(n for n in ("evaluate", "call_tool", "check", "generate") if n in between)
    between.sort(key=lambda node: node != usual)
    return few([(method, node) for node in between], 1)


@pytest.mark.parametrize(
    "place", [place for name in CASES for place in places(name)], ids=" after ".join
)
async def test_a_search_is_edited_where_it_stands(place: tuple[str, str]) -> None:
    """A state that is posted back changes nothing; nothing follows a thought that was pruned."""
    method, node = place
    case, saver = CASES[method], InMemorySaver()
    graph, _ = built(case, method, checkpointer=saver)
    state = await until(graph, method, node)
    if not state.next:
        pytest.skip(f"{method} ends without {node} here")
    tree = state.values["thoughts"]
    waiting = [key for key in tree if key != "0" and tree[key]["status"] == "open"]
    for key in random.Random(f"{method} {node}").sample(waiting, min(3, len(waiting))):
        copied, _ = built(case, method, checkpointer=copy.deepcopy(saver))
        await prune(copied, node, key)
    for other in set(nodes(method)) - {"answer", "ensemble", "review"}:  # there it is over
        copied, _ = built(case, method, checkpointer=copy.deepcopy(saver))
        await edit_elsewhere(copied, other)
    if method == "rollback" and node in ("analyse", "extract_index"):
        return  # an edit goes on from one node, and several ran side by side
    values = (await graph.aget_state(THREAD)).values
    await graph.aupdate_state(THREAD, json.loads(json.dumps(values)), as_node=node)
    context: Any = {**case.context, **LIMITS}
    alone = await graph.ainvoke({"problem": case.problem}, ALONE, context=context)
    assert story(await rest(graph)) == story(alone)


async def prune(graph: Graph, node: str, key: str) -> None:
    tree = (await graph.aget_state(THREAD)).values["thoughts"]
    before = [thought["id"] for thought in tg.children_of(tree, key)]
    try:
        await edit(graph, node, {key: PRUNE})
    except tg.InputError as refused:
        assert "prune it" in str(refused) and "\n" not in str(refused)
        return
    out = await rest(graph)
    assert out["stop_reason"] and out["stop_reason"] != "error"
    assert [t["id"] for t in tg.children_of(out["tree"], key)] == before
    assert out["tree"][key]["status"] == "pruned"
    assert not out["tree"][key].get("chosen")


async def edit_elsewhere(graph: Graph, node: str) -> None:
    """A search that is edited as another node goes on from there, and ends with a result.

    Where no arrow leads from that node to what is next, LangGraph says KeyError.
    """
    with suppress(tg.InputError, KeyError):
        await edit(graph, node, {"0": {"note": "seen"}})
        out = await rest(graph)
        assert out["stop_reason"] and out["stop_reason"] != "error"


def story(out: dict[str, Any]) -> Any:
    usage = {name: spent for name, spent in out["usage"].items() if name != "seconds"}
    tree = {**out["tree"], "0": {**out["tree"]["0"], "note": ""}}
    return json.loads(json.dumps([tree, out["answer"], out["stop_reason"], usage]))


async def spelling(node: str, **context: Any) -> Graph:
    """A search that has run until after a node."""
    graph = tg.build("tot_bfs", task=Spelling(), model=speller(), checkpointer=InMemorySaver())
    told: Any = {"breadth": 1, **context}
    await graph.ainvoke({"problem": "leaf"}, THREAD, context=told, interrupt_after=[node])
    return graph


async def test_a_thread_whose_steps_are_not_kept_is_edited_where_it_stands() -> None:
    graph, _ = built(CASES["tot_bfs"], "tot_bfs")
    problem: Any = {"problem": CASES["tot_bfs"].problem}
    await graph.ainvoke(problem, THREAD, interrupt_after=["start"], durability="exit")
    await edit(graph, "start", {"0": {"note": "seen"}})
    out = await rest(graph)
    assert out["stop_reason"] and out["tree"]["0"]["note"] == "seen"


async def test_where_all_is_pruned_the_search_is_at_a_dead_end():
    graph = await spelling("generate")
    await edit(graph, "generate", {"1": PRUNE, "2": PRUNE})
    out = await rest(graph)
    assert (out["answer"], out["stop_reason"]) == (None, "dead_end")


async def test_what_was_not_selected_can_be_opened_again() -> None:
    graph = await spelling("select")
    await edit(graph, "select", {"2": {"status": "open"}})
    tree = (await rest(graph))["tree"]
    assert {t["parent"] for t in tree.values() if t["depth"] == 2} == {"1", "2"}


async def test_a_thought_that_a_person_adds_is_judged_followed_and_counted():
    graph = await spelling("generate")
    await edit(graph, "generate", {"3": {"parent": "0", "text": "l", "note": "I would begin so"}})
    await edit(graph, "generate", {"1": PRUNE})
    out = await rest(graph)
    assert (out["answer"], out["tree"]["3"]["value"]) == ("leaf", 1.0)
    assert out["tree"]["3"]["created_by"] == {"node": "person"}
    graph = await spelling("generate", limit_thoughts=4)
    await edit(graph, "generate", {"3": {"parent": "0", "text": "l"}})
    out = await rest(graph)
    assert len(out["tree"]) - 1 == 4 and out["stop_reason"] == "budget"


async def test_a_value_set_by_hand_is_not_asked_for_in_a_depth_first_search() -> None:
    graph, model = built(CASES["tot_dfs"], "tot_dfs")
    first = next_state((await until(graph, "tot_dfs", "generate")).values)
    await edit(graph, "generate", {first: {"value": -1.0, "note": "no"}})
    thought = (await rest(graph))["tree"][first]
    assert (thought["status"], thought["value"]) == ("pruned", -1.0)
    judged = [call.prompt for call in model.seen if call.role == "value"]
    assert not [prompt for prompt in judged if thought["text"] in prompt]


async def test_a_value_set_by_hand_moves_a_thought_in_the_open_set() -> None:
    graph, _ = built(CASES["itot_a_star"], "itot_a_star")
    tree = (await until(graph, "itot_a_star", "evaluate")).values["thoughts"]
    waiting = [k for k, t in tree.items() if "priority" in t and t["status"] == "open"]
    last = (waiting or list(tree))[-1]
    await edit(graph, "evaluate", {last: {"value": 1_000.0}})
    thought = (await rest(graph))["tree"][last]
    assert thought["priority"] < -100
    assert thought["status"] in ("expanded", "terminal")


async def test_what_lies_below_a_pruned_thought_goes_with_it() -> None:
    graph, _ = built(CASES["tot_dfs"], "tot_dfs")
    await until(graph, "tot_dfs", "select")
    await graph.ainvoke(None, THREAD, interrupt_after=["generate"])
    tree = (await graph.aget_state(THREAD)).values["thoughts"]
    upper = next(t["parent"] for t in tree.values() if t["depth"] == 2)
    await edit(graph, "generate", {upper: PRUNE})
    after = (await graph.aget_state(THREAD)).values
    below = [thought for thought in after["thoughts"].values() if thought["parent"] == upper]
    assert below and {(t["status"], t["note"]) for t in below} == {("pruned", BELOW)}
    assert after["thoughts"][next_state(cast("Any", after))]["parent"] == "0"
    out = await rest(graph)
    assert all(t.get("visit", 0) <= 2 or t["parent"] != upper for t in out["tree"].values())


NONSENSE: list[Any] = [
    {"thoughts": {"prune": []}},
    {"thoughts": {"99": PRUNE}},
    {"thoughts": {"1": {"value": "high"}}},
    {"thoughts": {"2": {"status": "terminal"}}},
    {"thoughts": {"0": PRUNE}},
    {"thoughts": {"3": {"parent": "77", "text": "x"}}},
    {"thoughts": {"4": {"parent": "0", "text": "x"}}},
    {"thoughts": {"1": {"value": float("nan")}}},
    {"thoughts": {"1": {"value": 1.1e9}}},
    {"thoughts": {"1": {"value": True}}},
    {"thoughts": {"1": {"parent": "2"}}},
    {"thoughts": {"1": {"note": "x" * 5_000}}},
    {"thoughts": "pruned"},
    {"thoughts": {"3": {"parent": "0", "text": " "}}},
    {"thoughts": {"3": {"parent": ["0"], "text": "x"}}},
    {"thoughts": {"1": {"value": 10**400}}},
    {"thoughts": {10**30: PRUNE}},
    {"thoughts": {str(key): {"parent": "0", "text": "x"} for key in range(3, 200)}},
    {"thoughts": {"1": PRUNE, "3": {"parent": "1", "text": "x"}}},
]


async def test_what_makes_no_sense_is_one_line_and_changes_nothing() -> None:
    graph = await spelling("generate")
    before = (await graph.aget_state(THREAD)).values
    for values in NONSENSE:
        with pytest.raises(tg.InputError) as refused:
            await graph.aupdate_state(THREAD, values, as_node="generate")
        assert "\n" not in str(refused.value)
    assert (await graph.aget_state(THREAD)).values == before
    with pytest.raises(tg.InputError, match="holds no search"):
        await graph.aupdate_state(ALONE, {"thoughts": {"1": PRUNE}}, as_node="select")


async def test_a_step_that_is_carried_out_cannot_be_written_by_hand() -> None:
    graph, _ = built(CASES["itot_a_star"], "itot_a_star")
    state = await until(graph, "itot_a_star", "call_tool")
    new = {str(len(state.values["thoughts"])): {"parent": "0", "text": "x"}}
    with pytest.raises(tg.InputError, match="takes no thoughts written by hand"):
        await edit(graph, "call_tool", new)


async def test_edits_of_one_call_know_of_each_other() -> None:
    graph = await spelling("select", breadth=2)
    edits = [[StateUpdate({"thoughts": {key: PRUNE}}, "select")] for key in ("1", "2")]
    await graph.abulk_update_state(THREAD, edits)
    assert not frontier(cast("Any", (await graph.aget_state(THREAD)).values))


async def test_a_visited_state_that_is_opened_again_is_gone_into() -> None:
    graph, _ = built(CASES["tot_dfs"], "tot_dfs")
    await until(graph, "tot_dfs", "select", limit_requests=300, limit_thoughts=None)
    lost: list[str] = []
    while not lost:
        await graph.ainvoke(None, THREAD, interrupt_after=["select"])
        tree = (await graph.aget_state(THREAD)).values["thoughts"]
        lost = [k for k, t in tree.items() if t["status"] == "pruned" and "visit" in t]
    await edit(graph, "select", {lost[0]: {"status": "open"}})
    out = await rest(graph)
    context: Any = {**CASES["tot_dfs"].context, "limit_requests": 300}
    whole = await graph.ainvoke({"problem": CASES["tot_dfs"].problem}, ALONE, context=context)
    assert out["stop_reason"] == whole["stop_reason"]
    assert out["tree"][lost[0]]["status"] == "expanded"
    assert out["usage"]["requests"] == whole["usage"]["requests"] + 1


async def test_a_plan_that_a_person_drops_is_gone_back_from_with_siblings_made_ahead() -> None:
    graph, _ = built(CASES["tomt_tot"], "tomt_tot")
    state = await until(graph, "tomt_tot", "evaluate", speculate=2, limit_requests=20)
    tree = state.values["thoughts"]
    (chunk,) = [key for key, thought in tree.items() if thought["status"] == "open" and key != "0"]
    await edit(graph, "evaluate", {chunk: PRUNE})
    out = await rest(graph)
    assert not tg.children_of(out["tree"], chunk) and out["stop_reason"]


def test_a_thought_added_to_a_level_is_tried_beside_its_siblings() -> None:
    tree: Tree = {"0": root()}
    for parent, texts in (("0", "abc"), ("1", "de")):
        tree = merge_thoughts(tree, [grow(tree, parent, [{"text": each} for each in texts])])
    own = {"text": "mine", "created_by": {"node": PERSON}}
    tree = merge_thoughts(tree, [grow(tree, "0", [own])])
    stack = [[thought["id"] for thought in level] for level in levels(tree)]
    assert stack == [["4", "5"], ["1", "2", "3", "6"]]


def test_a_thought_opened_in_a_level_that_was_left_is_visited() -> None:
    tree: Tree = {"0": root()}
    for parent, texts in (("0", "ab"), ("1", "cd"), ("2", "e")):
        tree = merge_thoughts(tree, [grow(tree, parent, [{"text": each} for each in texts])])
    visits = {"1": {"visit": 0, "status": "expanded"}, "3": {"visit": 1, "status": "pruned"}}
    visits |= {"2": {"visit": 2, "status": "expanded"}, "5": {"visit": 3, "status": "pruned"}}
    settings = TotDfsSettings.model_validate({"max_per_state": 1}).model_dump()
    left = merge_thoughts(tree, [cast("Tree", visits)])
    state: Any = {"thoughts": left, "step": 4, "settings": settings}
    assert next_state(state) == ""
    state["thoughts"] = merge_thoughts(left, [{"4": {"status": "open", "pruned_by": ""}}])
    assert next_state(state) == "4"


async def test_what_a_level_by_level_search_has_left_is_not_opened_in_vain() -> None:
    graph, _ = built(CASES["tot_bfs"], "tot_bfs")
    await until(graph, "tot_bfs", "select")
    await graph.ainvoke(None, THREAD, interrupt_after=["evaluate"])
    await graph.ainvoke(None, THREAD, interrupt_after=["select"])
    await graph.ainvoke(None, THREAD, interrupt_after=["evaluate"])
    tree = (await graph.aget_state(THREAD)).values["thoughts"]
    first = next(key for key, t in tree.items() if (t["depth"], t["status"]) == (1, "pruned"))
    for wanted in ({first: {"status": "open"}}, {str(len(tree)): {"parent": "0", "text": "x"}}):
        with pytest.raises(tg.InputError, match="tot_bfs has left the level of thought"):
            await edit(graph, "evaluate", wanted)
