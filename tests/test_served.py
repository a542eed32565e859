"""What a LangGraph server is given, and what is refused there."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from support.fake_server import FakeServer
from support.players import add_up
from support.searches import THREAD

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.admission import tasks_of
from thoughtgraph.context import resolve_settings
from thoughtgraph.graphs import served
from thoughtgraph.policy import Policy
from thoughtgraph.settings.marks import StandsFor
from thoughtgraph.state import SearchState

ROOT = Path(__file__).parents[1]


def form_of(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns what a form sends that is left as it is."""
    return {name: field["default"] for name, field in fields.items() if "default" in field}


@pytest.mark.parametrize("method", sorted(registry.METHODS))
def test_a_graph_has_a_form_that_means_the_published_values(method: str) -> None:
    """A form may send every field with its default: that must not hide what the paper used."""
    graph: Any = getattr(served, method)
    # The server brings a checkpointer, and refuses a graph that has its own.
    assert (graph.name, graph.checkpointer) == (method, None)
    assert {"problem", "messages"} <= set(graph.get_input_jsonschema()["properties"])
    outputs = graph.get_output_jsonschema()["properties"]
    assert {"answer", "candidates", "stop_reason", "error", "usage", "tree"} <= set(outputs)
    fields = graph.get_context_jsonschema()["properties"]
    assert_complete(fields)
    assert fields["task"]["enum"] == sorted(registry.TASKS)
    settings = Policy().restrict(registry.settings(method))
    form, meant = form_of(fields), []
    for task in tasks_of(method):
        published = task.published(method)
        chosen = graph.context_schema(**{**form, "task": task.id})
        untouched = resolve_settings(settings, published, {"task": task.id})
        sent = chosen.model_dump(include=chosen.model_fields_set)
        assert resolve_settings(settings, published, sent) == untouched, task.id
        meant.append(resolve_settings(settings, published, None))
    switches = registry.settings(method).marked(StandsFor).values()
    _assert_defaults_shown(fields, meant, [name for mark in switches for name in mark.values])


def assert_complete(fields: dict[str, Any]) -> None:
    """Every setting is explained and bounded and has a default."""
    for name, field in fields.items():
        assert field.get("description", "").strip().endswith("."), name
        shown = field.get("default") is not None or "Empty: " in field["description"]
        assert shown or name in ("prices", "top_p"), name
        for form in field.get("anyOf", [field]):
            if form.get("type") in ("integer", "number"):
                assert {"minimum", "exclusiveMinimum"} & set(form), f"{name} has no lower bound"


def _assert_defaults_shown(
    fields: dict[str, Any], meant: list[dict[str, Any]], repository: Any
) -> None:
    """What is left empty differs between tasks, or paper and code, and the text says how."""
    assert meant
    for name, field in fields.items():
        usual = {str(each[name]) for each in meant}
        if name == "limit_dollars":
            assert "default" not in field, "a form would send it, and a run without a price refuse"
        elif field.get("default") is not None or "Empty: " not in field["description"]:
            assert name == "task" or usual == {str(field["default"])}
        elif "default" in field or usual != {""}:
            assert len(usual) > 1 or name in repository
            words = field["description"].rpartition("Empty: ")[2]
            assert all(("none" if value == "None" else value) in words for value in usual)


def test_short_keys_are_told_of_once_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    long = "a-long-key-of-alice"
    monkeypatch.setenv("THOUGHTGRAPH_CLIENT_KEYS", f"alice={long},bob=secret,nameless-secret-key")
    keys = runpy.run_path(str(ROOT / "deploy" / "auth.py"))["_keys"]
    with caplog.at_level("WARNING", "thoughtgraph"):
        assert keys() == keys() == {"alice": long}
    assert "1 of 3 entries" in caplog.text and "16 letters" in caplog.text
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text and long not in caplog.text


PUZZLE = {"problem": "2 4 7 11"}
GAME = {"task": "game24"}
REPLY = add_up


def built_served(method: str, server: FakeServer) -> Any:
    policy = Policy(models={"small": server.specifier})
    return tg.build(method, policy=policy, checkpointer=InMemorySaver())


def own(server: FakeServer) -> Any:
    return tg.build("tot_bfs", model=server.specifier)


BOTH, SERVED = "also in one's own process", "on a server alone"
REFUSED: list[tuple[Any, dict[str, Any], str, str]] = [
    (PUZZLE, {"task": "gme24"}, "unknown task 'gme24'; did you mean 'game24'?", BOTH),
    (PUZZLE, {**GAME, "bredth": 2}, "unknown setting 'bredth'; did you mean 'breadth'?", BOTH),
    (PUZZLE, {**GAME, "breadth": 0}, "setting 'breadth'", BOTH),
    (PUZZLE, {**GAME, "limit_requests": 10**9}, "less than or equal to 2000", SERVED),
    (PUZZLE, {**GAME, "model": "gpt"}, "setting 'model'", SERVED),
    (PUZZLE, {**GAME, "evaluate": "vote"}, "needs a task that can compare partial solutions", BOTH),
    (PUZZLE, {**GAME, "on_error": "explode"}, "setting 'on_error'", BOTH),
    ({"problem": "2 4 7"}, GAME, "is no Game-of-24 puzzle", BOTH),
    ({"problem": "1 " * 100_000}, GAME, "is too long", SERVED),
    ({"problem": 7}, GAME, "a problem is one text, not int", BOTH),
    ({"problem": b"2 4 7 11"}, GAME, "a problem is one text, not bytes", BOTH),
    ({}, GAME, "no problem given", BOTH),
]


@pytest.mark.parametrize(
    ("wanted", "context", "line", "where"), REFUSED, ids=[row[2] for row in REFUSED]
)
async def test_a_refused_search_ends_as_a_result_with_the_reason_or_raises_it(
    wanted: Any, context: dict[str, Any], line: str, where: str, server: FakeServer
) -> None:
    graph = built_served("tot_bfs", server)
    out = await graph.ainvoke(wanted, THREAD, context=context)
    state = await graph.aget_state(THREAD)
    assert out["stop_reason"] == state.values["stop_reason"] == "refused"
    assert line in out["error"] and "\n" not in out["error"]
    assert out["outcome"] == "refused before the model was asked anything"
    assert (out["answer"], out["usage"]["requests"], list(out["tree"])) == (None, 0, ["0"])
    assert state.next == ()
    raising = [(graph, {**context, "on_error": "raise"})] * ("on_error" not in context)
    raising += [(own(server), context)] * (where is BOTH)
    for each, settings in raising:
        with pytest.raises((tg.InputError, tg.CapabilityError)) as caught:
            await each.ainvoke(wanted, THREAD, context=settings)
        assert line in str(caught.value)
    assert not server.seen


@pytest.mark.parametrize("method", sorted(registry.METHODS))
async def test_every_method_reports_and_the_result_can_be_shown(method: str) -> None:
    graph = tg.build(method, policy=Policy(models={"small": "local"}))
    out = await graph.ainvoke({"problem": ""}, THREAD)
    assert (out["method"], out["stop_reason"]) == (method, "refused")
    assert out["error"] and "\n" not in out["error"]
    assert tg.html(out)


async def test_a_thread_goes_on_after_a_refusal_and_forgets_before(server: FakeServer) -> None:
    graph = built_served("tot_bfs", server)
    first = await graph.ainvoke(PUZZLE, THREAD, context=GAME)
    refused = await graph.ainvoke({"problem": "2"}, THREAD, context=GAME)
    again = await graph.ainvoke(PUZZLE, THREAD, context=GAME)
    assert first["stop_reason"] == again["stop_reason"] == "finished"
    assert again["tree"] == first["tree"] and again["error"] == ""
    assert (refused["answer"], refused["candidates"], list(refused["tree"])) == (None, [], ["0"])


async def test_a_conversation_is_told_the_reason_once(server: FakeServer) -> None:
    graph = built_served("tot_bfs", server)
    said = {"messages": [{"role": "user", "content": "2 4 7"}]}
    out = await graph.ainvoke(said, THREAD, context=GAME)
    assert [each.type for each in out["messages"]] == ["human", "ai"]
    assert out["messages"][-1].content == out["error"]
    out = await graph.ainvoke(PUZZLE, THREAD, context=GAME)
    assert out["problem"] == "2 4 7 11", "what was refused waits for no answer"


async def test_every_stream_ends_with_it(server: FakeServer) -> None:
    how: Any = {"context": GAME, "stream_mode": ["values", "updates", "custom"]}
    stream = built_served("tot_bfs", server).astream({"problem": "2"}, THREAD, **how)
    read = [part async for part in stream]
    assert read[-1][0] == "values" and read[-1][1]["stop_reason"] == "refused"
    events = [data for mode, data in read if mode == "custom"]
    assert [(each["event"], each["stop_reason"]) for each in events] == [("ended", "refused")]
    assert [list(data) for mode, data in read if mode == "updates"] == [["start"], ["answer"]]


async def test_what_would_go_on_with_a_search_raises_and_leaves_it(server: FakeServer) -> None:
    graph = built_served("tot_bfs", server)
    await graph.ainvoke(PUZZLE, THREAD, context=GAME, interrupt_after=["generate"])
    before = await graph.aget_state(THREAD)
    with pytest.raises(tg.UnknownName):
        await graph.ainvoke(None, THREAD, context={"bredth": 2})
    assert (await graph.aget_state(THREAD)).values == before.values
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
    graph = built_served("tot_bfs", server)
    out = await graph.ainvoke({"problem": "2 4 secret"}, THREAD, context=GAME)
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == f"method=tot_bfs run={out['run']} thread_id='1': is refused"
