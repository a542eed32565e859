"""A server's client who asks for what cannot be had gets a result that says so, in one line."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from support.fake_server import FakeServer
from support.players import add_up
from support.searches import THREAD

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.policy import Policy
from thoughtgraph.state import SearchState

PUZZLE = {"problem": "2 4 7 11"}
GAME = {"task": "game24"}


REPLY = add_up


def served(method: str, server: FakeServer) -> Any:
    policy = Policy(models={"small": server.specifier})
    return tg.build(method, policy=policy, checkpointer=InMemorySaver())


def own(server: FakeServer) -> Any:
    return tg.build("tot_bfs", model=server.specifier)


BOTH, SERVED = (served, own), (served,)
"""Where it is refused: on a server alone, or in one's own process too."""
REFUSED: list[tuple[Any, dict[str, Any], str, Any]] = [
    (PUZZLE, {"task": "gme24"}, "unknown task 'gme24'; did you mean 'game24'?", BOTH),
    (PUZZLE, {**GAME, "bredth": 2}, "unknown setting 'bredth'; did you mean 'breadth'?", BOTH),
    (PUZZLE, {**GAME, "breadth": 0}, "setting 'breadth'", BOTH),
    (PUZZLE, {**GAME, "limit_requests": 10**9}, "less than or equal to 2000", SERVED),
    (PUZZLE, {**GAME, "model": "gpt"}, "setting 'model'", SERVED),
    (PUZZLE, {**GAME, "evaluate": "vote"}, "needs one that can compare partial solutions", BOTH),
    (PUZZLE, {**GAME, "on_error": "explode"}, "setting 'on_error'", BOTH),
    ({"problem": "2 4 7"}, GAME, "is no Game-of-24 puzzle", BOTH),
    ({"problem": "1 " * 100_000}, GAME, "is too long", SERVED),
    ({"problem": 7}, GAME, "a problem is one text, not int", BOTH),
    ({"problem": b"2 4 7 11"}, GAME, "a problem is one text, not bytes", BOTH),
    ({"messages": [{"a": 1}]}, GAME, "messages are a list of a conversation's messages", BOTH),
    ({"problm": "2 4 7 11"}, GAME, "unknown input 'problm'", BOTH),
    (["2 4 7 11"], GAME, "the input is a dictionary", BOTH),
    ({}, GAME, "no problem given", BOTH),
]


@pytest.mark.parametrize(
    ("wanted", "context", "line", "where"), REFUSED, ids=[row[2] for row in REFUSED]
)
async def test_a_refused_search_ends_as_a_result_with_the_reason_or_raises_it(
    wanted: Any, context: dict[str, Any], line: str, where: Any, server: FakeServer
) -> None:
    graph = served("tot_bfs", server)
    out = await graph.ainvoke(wanted, THREAD, context=context)
    state = await graph.aget_state(THREAD)
    assert out["stop_reason"] == state.values["stop_reason"] == "refused"
    assert line in out["error"] and "\n" not in out["error"]
    assert out["outcome"] == "refused before the model was asked anything"
    assert (out["answer"], out["usage"]["requests"], list(out["tree"])) == (None, 0, ["0"])
    assert state.next == ()
    failing = [(graph, {**context, "on_error": "raise"})] * ("on_error" not in context)
    failing += [(own(server), context)] * (where is BOTH)
    failures = (tg.InputError, tg.CapabilityError, ValueError, NotImplementedError)
    for each, settings in failing:
        with pytest.raises(failures) as caught:
            await each.ainvoke(wanted, THREAD, context=settings)
        assert line in str(caught.value) or "messages" in wanted
    assert not server.seen


@pytest.mark.parametrize("method", sorted(registry.METHODS))
async def test_every_method_reports_and_the_result_can_be_shown(method: str) -> None:
    graph = tg.build(method, policy=Policy(models={"small": "local"}))
    out = await graph.ainvoke({"problem": ""}, THREAD)
    assert (out["method"], out["stop_reason"]) == (method, "refused")
    assert out["error"] and "\n" not in out["error"]
    assert tg.html(out)


async def test_a_thread_goes_on_after_a_refusal_and_forgets_what_was_before(
    server: FakeServer,
) -> None:
    graph = served("tot_bfs", server)
    first = await graph.ainvoke(PUZZLE, THREAD, context=GAME)
    refused = await graph.ainvoke({"problem": "2"}, THREAD, context=GAME)
    again = await graph.ainvoke(PUZZLE, THREAD, context=GAME)
    assert first["stop_reason"] == again["stop_reason"] == "finished"
    assert again["tree"] == first["tree"] and again["error"] == ""
    assert (refused["answer"], refused["candidates"], list(refused["tree"])) == (None, [], ["0"])


async def test_a_conversation_is_told_the_reason_once(server: FakeServer) -> None:
    graph = served("tot_bfs", server)
    said = {"messages": [{"role": "user", "content": "2 4 7"}]}
    out = await graph.ainvoke(said, THREAD, context=GAME)
    assert [each.type for each in out["messages"]] == ["human", "ai"]
    assert out["messages"][-1].content == out["error"]
    out = await graph.ainvoke(PUZZLE, THREAD, context=GAME)
    assert out["problem"] == "2 4 7 11", "what was refused waits for no answer"


@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_every_stream_ends_with_it(version: str, server: FakeServer) -> None:
    how = {"stream_mode": ["values", "updates", "custom"], "version": version}
    stream = served("tot_bfs", server).astream({"problem": "2"}, THREAD, context=GAME, **how)
    parts = [part async for part in stream]
    read = [(p["type"], p["data"]) if version == "v2" else p for p in parts]
    assert read[-1][0] == "values" and read[-1][1]["stop_reason"] == "refused"
    events = [data for mode, data in read if mode == "custom"]
    assert [(each["event"], each["stop_reason"]) for each in events] == [("ended", "refused")]
    assert [list(data) for mode, data in read if mode == "updates"] == [["start"]]


async def test_what_would_go_on_with_a_search_raises_and_leaves_it(server: FakeServer) -> None:
    graph = served("tot_bfs", server)
    await graph.ainvoke(PUZZLE, THREAD, context=GAME, interrupt_after=["generate"])
    before = await graph.aget_state(THREAD)
    with pytest.raises(tg.UnknownName):
        await graph.ainvoke(None, THREAD, context={"bredth": 2})
    assert await graph.aget_state(THREAD) == before
    assert (await graph.ainvoke(None, THREAD))["stop_reason"] == "finished"


async def test_in_a_graph_of_the_callers_own_it_raises(server: FakeServer) -> None:
    """The graph around it is the caller's, who expects what Python gives."""
    around: Any = StateGraph(SearchState)
    policy = Policy(models={"small": server.specifier})
    around.add_node("search", tg.build("tot_bfs", task="game24", policy=policy))
    around.add_edge(START, "search")
    with pytest.raises(tg.ProblemError):
        await around.compile().ainvoke({"problem": "2"})


async def test_the_log_says_that_a_search_was_refused_and_quotes_nothing(
    server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="thoughtgraph")
    graph = served("tot_bfs", server)
    out = await graph.ainvoke({"problem": "2 4 secret"}, THREAD, context=GAME)
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == f"method=tot_bfs run={out['run']} thread_id='1': is refused"
