"""What a stream of a search carries: events of thoughts, and the tree no more often than asked."""

from functools import partial
from typing import Any, cast

import pytest
from digests.searches import own, published
from langgraph.checkpoint.memory import InMemorySaver
from support.searches import CASES, THREAD, Case, built
from support.spelling import Spelling, speller

import thoughtgraph as tg
from thoughtgraph.tree import merge_thoughts

LEAF: Any = {"problem": "leaf"}
KNOWN = {"made", "called", "judged", "checked", "pruned", "rolled_back", "propagated", "chosen"}
KNOWN |= {"selected", "backtracked", "ended"}


async def test_the_tree_comes_with_the_last_state_alone() -> None:
    graph = tg.build("tot_bfs", task=Spelling(), model=speller(), checkpointer=InMemorySaver())
    for _ in range(2):  # what an earlier search on the thread found is gone
        states = [state async for state in graph.astream(LEAF, THREAD, stream_mode="values")]
        assert len(states) > 5 and not any(state.get("tree") for state in states[1:-1])
        assert states[-1]["tree"]["1"]["text"] == "l"
        few: Any = {"stream_mode": "values", "output_keys": graph.output_channels}
        sent = [state async for state in graph.astream(LEAF, THREAD, **few)]
        assert len(sent) < 5, "a server sends what is given, what begins and what ends"
        assert sent[-1]["tree"].keys() == states[-1]["tree"].keys()


async def told(case: Case, method: str, **limits: Any) -> tuple[list[Any], dict[str, Any]]:
    """The events of a search, and its result."""
    graph, _ = built(case, method, checkpointer=None)
    events: list[Any] = []
    out: dict[str, Any] = {}
    options: Any = {"context": {**case.context, **limits}, "stream_mode": ["custom", "values"]}
    async for part in graph.astream({"problem": case.problem}, **options):
        mode, data = cast("tuple[str, Any]", part)
        if mode == "custom":
            events.append(data)
        else:
            tree = merge_thoughts(out.get("tree", {}), [data.get("tree", {})])
            out = {**data, "tree": tree}
    return events, out


def check(events: list[Any], out: dict[str, Any]) -> int:
    """Checks what the events tell of each thought and the answers that outputs carry.

    Returns:
        How many outputs were chosen.
    """
    thoughts = out["tree"].values()
    assert [event["event"] for event in events].index("ended") == len(events) - 1
    events = [event for event in events if event["event"] not in ("asked", "answered")]
    by_kind = {kind: [each for each in events if each["event"] == kind] for kind in KNOWN}
    ids = {kind: [each.get("id") for each in by_kind[kind]] for kind in KNOWN}
    assert {event["event"] for event in events} <= KNOWN
    assert all(event["node"] for event in events)
    assert ids["made"] == [key for key in out["tree"] if key != "0"]
    judged = {each["id"]: each["value"] for each in by_kind["judged"]}
    assert judged == {each["id"]: each["value"] for each in thoughts if "value" in each}
    assert {*ids["rolled_back"]} == {each["id"] for each in thoughts if "rollback" in each}
    assert {*ids["propagated"]} <= {each["id"] for each in thoughts if each.get("failed")}
    assert all("answer" in out["tree"][key] for key in ids["checked"])
    assert ids["chosen"] == [each["id"] for each in thoughts if each.get("chosen")]
    assert all("answer" in each for each in thoughts if each["status"] == "terminal")
    assert {*out["candidates"]} <= {each["answer"] for each in thoughts if "answer" in each}
    chosen = [each["answer"] for each in thoughts if each.get("chosen")]
    assert chosen == ([] if out["answer"] is None else [out["answer"]])
    return len(chosen)


@pytest.mark.parametrize("method", CASES)
async def test_events_tell_every_thought_and_outputs_carry_their_answers(method: str) -> None:
    check(*await told(CASES[method], method, limit_requests=30))
    # The steps of the tests' own chains never end in an answer.
    draw = partial(published, method, "gsm8k") if method == "chain" else partial(own, method)
    drawn = [Case(*draw(seed)[1:]) for seed in range(6)]
    chosen = [check(*await told(each, method)) for each in drawn]
    assert sum(chosen), "a script that finds nothing shows nothing"


async def test_a_run_whose_model_fails_tells_how_it_ended_and_raises() -> None:
    def broken(call: Any) -> str:
        raise ConnectionError("gone")

    case = Case(Spelling(), broken, "leaf", {})
    graph, _ = built(case, "tot_bfs", retry=tg.Retry(give_up_after=0.0))
    out = await graph.ainvoke(LEAF, THREAD, context={"on_error": "report"})
    assert out["stop_reason"] == "error"
    events: list[Any] = []
    with pytest.raises(tg.ModelError) as failed:
        async for event in graph.astream(LEAF, THREAD, stream_mode="custom"):
            events.append(event)
    assert (events[-1]["event"], events[-1]["stop_reason"]) == ("ended", "error")
    assert str(failed.value) == out["error"]
    state, found = await graph.aget_state(THREAD), failed.value.result
    assert found and found["error"] == out["error"] and found["tree"] == out["tree"]
    assert state.next == ("generate",) and not state.values["error"], "it can go on from there"
