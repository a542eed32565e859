"""A server's client who asks for what cannot be had gets a result that says so, in one line."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from support.fake_server import FakeServer
from support.players import add_up

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.policy import Policy
from thoughtgraph.state import SearchState

PUZZLE = {"problem": "2 4 7 11"}
GAME = {"task": "game24"}
THREAD: Any = {"configurable": {"thread_id": "1"}}
REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (PUZZLE, {"task": "gme24"}, "unknown task 'gme24'; did you mean 'game24'?"),
    (PUZZLE, {**GAME, "bredth": 2}, "unknown setting 'bredth'; did you mean 'breadth'?"),
    (PUZZLE, {**GAME, "breadth": 0}, "setting 'breadth'"),
    (PUZZLE, {**GAME, "limit_requests": 10**9}, "less than or equal to 2000"),
    (PUZZLE, {**GAME, "model": "gpt"}, "setting 'model'"),
    (PUZZLE, {**GAME, "evaluate": "vote"}, "needs one that can compare partial solutions"),
    (PUZZLE, {**GAME, "on_error": "explode"}, "setting 'on_error'"),
    ({"problem": "2 4 7"}, GAME, "is no Game-of-24 puzzle"),
    ({"problem": "1 " * 100_000}, GAME, "is too long"),
    ({"problem": 7}, GAME, "a problem is one text, not int"),
    ({"messages": [{"a": 1}]}, GAME, "messages are a list of a conversation's messages"),
    ({"problm": "2 4 7 11"}, GAME, "unknown input 'problm'"),
    (["2 4 7 11"], GAME, "the input is a dictionary"),
    ({}, GAME, "no problem given"),
]


def served(method: str, server: FakeServer, **more: Any) -> Any:
    policy = Policy(models={"small": server.specifier})
    return tg.build(method, policy=policy, checkpointer=InMemorySaver(), **more)


@pytest.mark.parametrize(("given", "context", "line"), REFUSED, ids=[row[2] for row in REFUSED])
async def test_a_refused_search_ends_as_a_result_with_the_reason(
    given: Any, context: dict[str, Any], line: str
) -> None:
    with FakeServer(add_up) as server:
        graph = served("tot_bfs", server)
        out = await graph.ainvoke(given, THREAD, context=context)
        state = await graph.aget_state(THREAD)
        assert not server.seen
    assert out["stop_reason"] == state.values["stop_reason"] == "refused"
    assert line in out["error"] and "\n" not in out["error"]
    assert out["outcome"] == "refused before the model was asked anything"
    assert (out["answer"], out["usage"]["requests"], list(out["tree"])) == (None, 0, ["0"])
    assert state.next == ()


@pytest.mark.parametrize(("given", "context", "line"), REFUSED, ids=[row[2] for row in REFUSED])
async def test_it_fails_where_the_client_asked_for_that_and_in_ones_own_process(
    given: Any, context: dict[str, Any], line: str
) -> None:
    ceiling = "limit_requests" in context or len(str(given)) > 1000
    with FakeServer(add_up) as server:
        graphs = [(served("tot_bfs", server), {**context, "on_error": "raise"})]
        if not ceiling and "model" not in context:
            graphs.append((tg.build("tot_bfs", model=server.specifier), context))
        for graph, settings in graphs:
            if context.get("on_error") == "explode" and settings is not context:
                continue
            failures = (tg.InputError, tg.CapabilityError, ValueError, NotImplementedError)
            with pytest.raises(failures) as caught:
                await graph.ainvoke(given, THREAD, context=settings)
            assert line in str(caught.value) or "messages" in given
        assert not server.seen


@pytest.mark.parametrize("method", sorted(registry.METHODS))
async def test_every_method_reports_and_the_result_can_be_shown(method: str) -> None:
    with FakeServer() as server:
        out = await served(method, server).ainvoke({"problem": ""}, THREAD)
    assert (out["method"], out["stop_reason"]) == (method, "refused")
    assert out["error"] and "\n" not in out["error"]
    assert tg.html(out)


async def test_a_thread_goes_on_after_a_refusal_and_forgets_what_was_before() -> None:
    with FakeServer(add_up) as server:
        graph = served("tot_bfs", server)
        first = await graph.ainvoke(PUZZLE, THREAD, context=GAME)
        refused = await graph.ainvoke({"problem": "2"}, THREAD, context=GAME)
        again = await graph.ainvoke(PUZZLE, THREAD, context=GAME)
    assert first["stop_reason"] == again["stop_reason"] == "finished"
    assert again["tree"] == first["tree"] and again["error"] == ""
    assert (refused["answer"], refused["candidates"], list(refused["tree"])) == (None, [], ["0"])


async def test_a_conversation_is_told_the_reason_once() -> None:
    with FakeServer(add_up) as server:
        graph = served("tot_bfs", server)
        said = {"messages": [{"role": "user", "content": "2 4 7"}]}
        out = await graph.ainvoke(said, THREAD, context=GAME)
        assert [each.type for each in out["messages"]] == ["human", "ai"]
        assert out["messages"][-1].content == out["error"]
        out = await graph.ainvoke(PUZZLE, THREAD, context=GAME)
    assert out["problem"] == "2 4 7 11", "what was refused waits for no answer"


@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_every_stream_ends_with_it(version: str) -> None:
    with FakeServer(add_up) as server:
        graph = served("tot_bfs", server)
        modes = ["values", "updates", "custom"]
        stream = graph.astream(
            {"problem": "2"}, THREAD, context=GAME, stream_mode=modes, version=version
        )
        parts = [part async for part in stream]
    read = [(p["type"], p["data"]) if version == "v2" else p for p in parts]
    assert read[-1][0] == "values" and read[-1][1]["stop_reason"] == "refused"
    events = [data for mode, data in read if mode == "custom"]
    assert [(each["event"], each["stop_reason"]) for each in events] == [("ended", "refused")]
    assert [list(data) for mode, data in read if mode == "updates"] == [["start"]]


async def test_what_would_go_on_with_a_search_raises_and_leaves_it() -> None:
    with FakeServer(add_up) as server:
        graph = served("tot_bfs", server)
        await graph.ainvoke(PUZZLE, THREAD, context=GAME, interrupt_after=["register"])
        before = await graph.aget_state(THREAD)
        with pytest.raises(tg.UnknownName):
            await graph.ainvoke(None, THREAD, context={"bredth": 2})
        assert await graph.aget_state(THREAD) == before
        out = await graph.ainvoke(None, THREAD)
    assert out["stop_reason"] == "finished"


async def test_in_a_graph_of_the_callers_own_it_raises() -> None:
    """The graph around it is the caller's, who expects what Python gives."""
    with FakeServer(add_up) as server:
        around: Any = StateGraph(SearchState)
        around.add_node("search", served("tot_bfs", server))
        around.add_edge(START, "search")
        with pytest.raises(tg.ProblemError):
            await around.compile().ainvoke({"problem": "2"}, context=GAME)


async def test_the_log_says_that_a_search_was_refused_and_quotes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", logger="thoughtgraph")
    with FakeServer(add_up) as server:
        out = await served("tot_bfs", server).ainvoke(
            {"problem": "2 4 secret"}, THREAD, context=GAME
        )
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == f"method=tot_bfs run={out['run']} thread_id='1': is refused"
