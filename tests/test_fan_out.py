"""Fanned-out tasks are sent ids and read the rest of the state from the running superstep."""

import pickle
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.letters import run
from support.scripted import Call, ScriptedChat
from support.spelling import Spelling, speller

import thoughtgraph as tg
from thoughtgraph.nodes.node import node_input, running_state
from thoughtgraph.tree import Tree


async def test_tasks_see_the_path_of_their_own_thought() -> None:
    out, seen = await run("tot_bfs", Spelling(), speller().texts, "tree")
    proposed = {call.prompt for call in seen if call.role == "generate"}
    for thought in out["tree"].values():
        if thought["status"] == "expanded":
            spelt = "".join(t["text"] for t in tg.path_to(out["tree"], thought["id"]))
            assert f"tree|{spelt}" in proposed


async def test_what_is_stored_for_a_task_does_not_grow_with_its_path() -> None:
    letters = "x" * 2_000
    saver = InMemorySaver()

    def reply(call: Call) -> str:
        return speller().texts(call)[0] if call.role == "value" else letters

    graph = tg.build(
        "tot_bfs", task=Spelling(), model=ScriptedChat(reply=reply), checkpointer=saver
    )
    thread = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke({"problem": "tree"}, thread)  # type: ignore[arg-type]
    sends = [
        value
        for writes in saver.writes.values()
        for _, channel, value, _ in writes.values()
        if channel == "__pregel_tasks"
    ]
    assert sends
    assert all(len(pickle.dumps(send)) < len(letters) for send in sends)


def test_outside_a_graph_there_is_no_running_state() -> None:
    with pytest.raises(RuntimeError, match="inside its graph"):
        running_state()


def test_a_vote_gets_all_its_candidates() -> None:
    tree: Tree = {
        "0": {"id": "0", "parent": None, "depth": 0, "text": ""},
        "1": {"id": "1", "parent": "0", "depth": 1, "text": "a"},
        "2": {"id": "2", "parent": "0", "depth": 1, "text": "b"},
    }
    common: Any = {"problem": "p", "settings": {}, "run": "r", "prices": {}, "usage": {}}
    state: Any = {**common, "tree": tree}
    sent = node_input(state, {"about": ["1", "2"], "vote": True})
    assert [[t["text"] for t in path] for path in sent["paths"]] == [["a"], ["b"]]
