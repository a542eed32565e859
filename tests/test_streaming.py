"""What a stream of a search carries: events of thoughts, and the tree no more often than asked."""

from typing import Any, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.pools import few
from support.scripted import ScriptedChat
from support.searches import CASES
from support.spelling import Spelling, speller

import thoughtgraph as tg
from thoughtgraph.building import Graph
from thoughtgraph.tree import merge_thoughts

CONTEXTS: list[Any] = [{}, {"tree": "end"}, {"tree": "all"}]
KNOWN = {"made", "called", "judged", "pruned", "rolled_back", "chosen", "selected", "ended"}


def spelling(**more: Any) -> Graph:
    return tg.build("tot_bfs", task=Spelling(), model=speller(), **more)


async def parts(graph: Graph, context: dict[str, Any], **options: Any) -> list[Any]:
    given: Any = {"problem": "leaf"}
    return [part async for part in graph.astream(given, context=context, **options)]


async def test_the_tree_comes_with_the_last_state_alone() -> None:
    *before, last = await parts(spelling(), {}, stream_mode="values")
    assert len(before) > 4
    assert not any("tree" in part or "problem" in part for part in before)
    assert last["tree"]["1"]["text"] == "l" and last["problem"] == "leaf"


@pytest.mark.parametrize(("tree", "with_tree"), [("all", True), ("off", False)])
async def test_the_tree_comes_with_all_states_or_with_none(tree: str, with_tree: bool) -> None:
    for part in (await parts(spelling(), {"tree": tree}, stream_mode="values"))[1:]:
        assert ("tree" in part) == with_tree


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("modes", ["values", ["values"], ["updates", "values"]])
async def test_whatever_form_the_stream_has(modes: Any, subgraphs: bool, version: str) -> None:
    found = await parts(spelling(), {}, stream_mode=modes, subgraphs=subgraphs, version=version)
    states = []
    for part in found:
        if version == "v2":
            states += [part["data"]] if part["type"] == "values" else []
        elif isinstance(part, tuple):
            states += [part[-1]] if "values" in part or modes == "values" else []
        else:
            states.append(part)
    assert [at for at, state in enumerate(states) if "tree" in state] == [len(states) - 1]


@pytest.mark.parametrize(("tree", "trees"), [("all", "every"), ("end", "last"), ("off", "none")])
async def test_a_run_that_goes_on_streams_its_tree_as_it_was_told_when_it_began(
    tree: str, trees: str
) -> None:
    """Who resumes it may give no context, or another one: the run's own settings hold."""
    graph = spelling(checkpointer=InMemorySaver())
    given: Any = {"problem": "leaf"}
    for number, context in enumerate(CONTEXTS):
        thread: Any = {"configurable": {"thread_id": str(number)}}
        await graph.ainvoke(given, thread, context={"tree": tree}, interrupt_after=["start"])
        stream = graph.astream(None, thread, context=context, stream_mode="values")
        states = [state async for state in stream]
        with_tree = [at for at, state in enumerate(states) if "tree" in state]
        every = list(range(len(states)))
        assert with_tree == {"every": every, "last": every[-1:], "none": []}[trees]


async def test_a_run_that_is_interrupted_gives_its_tree() -> None:
    graph = spelling(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    given: Any = {"problem": "leaf"}
    out = await graph.ainvoke(given, thread, interrupt_after=["register"])
    assert len(out["tree"]) == 3


@pytest.mark.parametrize("method", few([*CASES], 6))
async def test_events_tell_every_thought(method: str) -> None:
    case = CASES[method]
    graph = tg.build(
        method, task=case.task, model=ScriptedChat(reply=case.reply), oracle=case.oracle
    )
    told: list[Any] = []
    tree: Any = {}
    context = {**case.context, "limit_requests": 30}
    given: Any = {"problem": case.problem}
    modes: Any = ["custom", "values"]
    async for part in graph.astream(given, context=context, stream_mode=modes):
        mode, data = cast("tuple[str, Any]", part)
        if mode == "custom":
            told.append(data)
        else:
            tree = merge_thoughts(tree, [data.get("tree", {})])
    assert {event["event"] for event in told} <= KNOWN
    assert all(event["node"] for event in told)
    assert [event["event"] for event in told].index("ended") == len(told) - 1
    made = [event["id"] for event in told if event["event"] == "made"]
    assert made == [key for key in tree if key != "0"]
    judged = {event["id"]: event["value"] for event in told if event["event"] == "judged"}
    assert judged == {k: t["value"] for k, t in tree.items() if "value" in t}
    back = {event["id"] for event in told if event["event"] == "rolled_back"}
    assert back == {key for key, thought in tree.items() if "rollback" in thought}
    chosen = [event["id"] for event in told if event["event"] == "chosen"]
    assert chosen == [key for key, thought in tree.items() if thought.get("chosen")]


async def test_calls_of_tools_are_told() -> None:
    case = CASES["react"]
    graph = tg.build("react", task=case.task, model=ScriptedChat(reply=case.reply))
    given: Any = {"problem": case.problem}
    told: list[Any] = [
        event async for event in graph.astream(given, context=case.context, stream_mode="custom")
    ]
    called = [event for event in told if event["event"] == "called"]
    assert called and {event["node"] for event in called} == {"call_tool"}


async def test_a_run_whose_model_fails_tells_how_it_ended_and_raises() -> None:
    def broken(call: Any) -> str:
        raise ConnectionError("gone")

    graph = tg.build(
        "tot_bfs",
        task=Spelling(),
        model=ScriptedChat(reply=broken),
        checkpointer=InMemorySaver(),
        retry=tg.Retry(give_up_after=0.1),
    )
    thread: Any = {"configurable": {"thread_id": "1"}}
    given: Any = {"problem": "leaf"}
    out = await graph.ainvoke(given, thread, context={"on_error": "report"})
    assert out["stop_reason"] == "error"
    told: list[Any] = []
    with pytest.raises(tg.ModelError) as failed:
        async for event in graph.astream(given, thread, stream_mode="custom"):
            told.append(event)
    assert (told[-1]["event"], told[-1]["stop_reason"]) == ("ended", "error")
    assert str(failed.value) == out["error"]
    left = (await graph.aget_state(thread)).values
    found = failed.value.result
    assert found and left["error"] == out["error"] and left["tree"] == found["tree"]
