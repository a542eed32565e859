"""Fanned-out tasks are sent ids and read the rest of the state from the running superstep."""

import pickle

from langgraph.checkpoint.memory import InMemorySaver
from support.scripted import Call, ScriptedChat
from support.spelling import Spelling, speller

import thoughtgraph as tg


async def test_what_is_stored_for_a_task_does_not_grow_with_its_path() -> None:
    letters = "x" * 2_000
    saver = InMemorySaver()

    def reply(call: Call) -> str:
        return speller().texts(call)[0] if call.role == "value" else letters

    graph = tg.build(
        "tot_dfs", task=Spelling(), model=ScriptedChat(reply=reply), checkpointer=saver
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
