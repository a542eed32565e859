"""Searches of our graphs that must repeat recorded ones of the official code, step by step."""

import re
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.recorded import crosswords_reply, game24_reply, judged_before
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.graphs.tot_dfs import visited
from thoughtgraph.tasks.crosswords import board_of, clues_of


async def replay_puzzle(entry: Any) -> Any:
    """A recorded search of Game of 24, replayed: each step must be the recorded one."""
    steps = entry["steps"]
    model = ScriptedChat(reply=game24_reply(entry))
    graph = tg.build("tot_bfs", task="game24", model=model, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": str(entry["idx"])}}
    breadth = max(len(step["select_new_ys"]) for step in steps)
    context = {"repo_compat": True, "n_evaluate": 3, "breadth": breadth, "steps": len(steps)}
    start = {"problem": steps[0]["x"]}
    await graph.ainvoke(
        start, config, context=context, interrupt_after=["start"], durability="exit"
    )
    earlier = {"tree": {"0": {"verdicts": judged_before(entry)}}}
    await graph.aupdate_state(config, earlier, as_node="start")
    selected = []
    async for update in graph.astream(
        None, config, context=context, stream_mode="updates", durability="exit"
    ):
        if "select" in update:
            selected.append(update["select"]["frontier"])
    out = (await graph.aget_state(config)).values
    tree = out["tree"]
    for depth, (step, kept) in enumerate(zip(steps, selected, strict=True), start=1):
        level = [thought for thought in tree.values() if thought["depth"] == depth]
        assert [lines(tree, t["id"]) for t in level] == step["new_ys"]
        assert [t["value"] for t in level] == pytest.approx(step["values"])
        assert [lines(tree, key) for key in kept] == step["select_new_ys"]
    assert [lines(tree, key) for key in selected[-1]] == entry["ys"]
    return out


def lines(tree: tg.Tree, key: str) -> str:
    return "".join(thought["text"] + "\n" for thought in tg.path_to(tree, key))


async def replay_crossword(records: list[Any], problem: str, proposals: Any) -> Any:
    """A recorded search of a crossword, replayed: each step must be the recorded one."""
    model = ScriptedChat(reply=crosswords_reply(records, problem, proposals))
    graph = tg.build("tot_dfs", task="crosswords", model=model)
    out = await graph.ainvoke({"problem": problem}, context={"repo_compat": True})
    tree = out["tree"]
    for thought, record in zip(visited(tree.values()), records, strict=True):
        path = tg.path_to(tree, thought["id"])
        assert [step["text"] for step in path] == record["actions"]
        assert thought["depth"] == record["env_step"]
        assert thought["visit"] == record["total_step"] + 1
        assert counted(thought["note"]) == {k: n for k, n in record["count"].items() if n}
        assert thought["value"] == -record["count"]["impossible"]
    for thought in tree.values():
        children = tg.children_of(tree, thought["id"])
        if thought["status"] == "expanded":
            board = board_of(tg.path_to(tree, thought["id"]))
            expected = proposals[board.render(clues_of(problem))]
            found = [(child["text"], child["score"]) for child in children]
            assert found == list(expected.items())
    return out


def counted(note: str) -> dict[str, int]:
    found = re.findall(r"(sure|maybe|impossible)(?: (\d+))?", note)
    return {label: int(n or 1) for label, n in found}
