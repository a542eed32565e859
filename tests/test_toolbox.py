"""The tools of a run: what is read as a call, what calls cost, what of them can fail."""

import asyncio
import gc
import math
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langgraph.errors import GraphInterrupt
from support.clock import Clock
from support.pages_script import ScriptedPages
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.tools.costs import Priced, by_latency, by_money, read_costs
from thoughtgraph.tools.toolbox import LONGEST_RESULT, ToolSet
from thoughtgraph.tools.wiki.search_tools import search_tools
from thoughtgraph.tools.wiki.sources import toolbox

PAGES = ScriptedPages({"Alpha": "Alpha is a letter. It is old.", "Long": "x" * 10_000})


@tool
def weather(city: str) -> str:
    """Tells the
    weather."""
    if city == "Bug":
        raise KeyError("oops")
    return f"It rains\nin {city}."


@tool
async def route(start: str, goal: str, stops: int = 0) -> str:
    """Finds a way."""
    return f"{start} to {goal}, {stops} stops"


@tool
def clock() -> str:
    """Tells the time."""
    return "noon"


def charging(artifact: dict[str, Any]) -> BaseTool:
    @tool(response_format="content_and_artifact")
    async def paid(query: str) -> tuple[str, dict[str, Any]]:
        """Charges."""
        return "nothing found" if query == "?" else "found", artifact

    return paid


def one(added: BaseTool, **given: Any) -> ToolSet:
    return ToolSet([Priced(added, **given)])


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Search[Alpha]", ("Search", "Alpha")),
        ("search [ Alpha ] and then more", ("Search", "Alpha")),
        ("Action 2: SEARCH[Alpha]\nObservation 2: x", ("Search", "Alpha")),
        ('Search["Alpha (letter)"]', ("Search", "Alpha (letter)")),
        ('Finish["A" and "B"]', ("Finish", '"A" and "B"')),
        ('Finish["]', ("Finish", '"')),
        ("Finish[a [b] c] d]", ("Finish", "a [b] c")),
        ("I read [1] and list[0], so Lookup[x]", ("Lookup", "x")),
        ("Research[x]", ("Research", "x")),
        ("Search[over\ntwo lines]", None),
        ("Search[open Search[B]", ("Search", "B")),
        ("Search", None),
        ("Search[" * 5_000, None),
    ],
)
def test_the_first_action_is_read(text, action):
    assert toolbox(PAGES).parse(text) == action


NO_ACTIONS = [("Google", "x"), ("", ""), ("Search", " "), ("Lookup", "\x00"), ("Finish", "")]


@pytest.mark.parametrize(("name", "argument"), NO_ACTIONS)
async def test_what_is_no_action_fails_at_no_cost(name, argument):
    result = await toolbox(PAGES).call(name, argument, {"kept": 1})
    assert result.observation.startswith(f"Invalid action: {name}[")
    assert "Search[entity]" in result.observation
    assert (result.failed, result.cost, result.answer) == (True, 0.0, None)
    assert result.invalid and result.state == {"kept": 1}


@pytest.mark.parametrize(
    ("cost", "paid"),
    [
        (by_money(8.0, base=1.0), 3.0),
        (lambda receipt: receipt.letters, 5.0),
        (by_latency(10.0, base=1.0), 6.0),
        ("weather=2, paid = .5 + 3/s+1/s + 8/$, ", 4.5),
    ],
)
async def test_a_cost_may_depend_on_time_and_money_and_be_written(cost, paid, monkeypatch):
    """A call takes half a second here, and charges a quarter of a dollar."""
    Clock(0.5).rule(monkeypatch, "thoughtgraph.tools.toolbox")
    cost = read_costs(cost)["paid"] if isinstance(cost, str) else cost
    assert (await one(charging({"dollars": 0.25}), cost=cost).call("paid", "x", None)).cost == paid


@pytest.mark.parametrize("cost", [-1.0, math.nan, math.inf, "dear"])
async def test_a_price_that_is_none_is_refused_or_told(cost):
    assert read_costs("") == read_costs(" , ") == {}
    for text in ("Search=", "=1", f"Search={cost}", "Search=1/h", "Search=1e9"):
        with pytest.raises(InputError, match="write Search=1"):
            read_costs(text)
    with pytest.raises(InputError, match="'Search'"):
        toolbox(PAGES, costs={"Search": cost})
    result = await one(weather, cost=lambda receipt: cost).call("weather", "Oslo", None)
    assert result.observation.startswith("weather failed: its cost raised ")
    assert (result.failed, result.cost) == (True, 1.0)
    money = one(charging({"dollars": cost}), cost=by_money(8.0, base=1.0))
    assert (await money.call("paid", "x", None)).cost == 1.0, "such money costs nothing"


async def test_tools_are_refused_where_none_is_called():
    for method, task in (("cot", "hotpotqa"), ("fgdip", "game24")):
        model = ScriptedChat(reply=lambda call: "no")
        graph = tg.build(method, task=task, model=model, tools=[weather])
        with pytest.raises(InputError, match=f"'{method}' calls no tools on task '{task}'"):
            await graph.ainvoke({"problem": "4 9 10 13"})
        assert model.seen == []


def test_what_are_no_tools_a_price_without_one_and_two_of_one_name_are_refused():
    wrong: list[Any] = [[len], weather, "weather"]
    for extra in wrong:
        with pytest.raises(InputError, match=r"is no (LangChain tool|list of tools)"):
            toolbox(PAGES, extra=extra)
    with pytest.raises(UnknownName, match="Lookup"):
        toolbox(PAGES, costs={"Lokup": 1.0})
    with pytest.raises(InputError, match="at least one"):
        ToolSet([])
    with pytest.raises(InputError, match="the same name 'weather'"):
        ToolSet([Priced(each) for each in (*search_tools(PAGES), weather, weather)])


async def test_the_users_own_tools_work_beside_the_others_and_cost_one_unless_told_otherwise():
    extra = [Priced(weather, cost=3.0), Priced(route), clock]
    tools = toolbox(PAGES, costs={"Lookup": 0.5}, extra=extra)
    costs = {"Search": 1.0, "Lookup": 0.5, "Finish": 0.0, "weather": 3.0, "Weather": 3.0}
    assert {name: (await tools.call(name, "Bug", None)).cost for name in costs} == costs
    assert tools.describe().split("\n")[3:] == [
        "weather[city]: Tells the weather.",
        'route[{"start", "goal", "stops"}]: Finds a way.',
        "clock[{}]: Tells the time.",
    ]
    state = (await tools.call("Search", "Alpha", None)).state
    rain = await tools.call("Weather", "Oslo", state)
    assert (rain.observation, rain.failed, rain.state) == ("It rains in Oslo.", False, state)
    way = await tools.call("route", '{"start": "A", "goal": "B"}', state)
    assert way.observation == "A to B, 0 stops"
    noon = await tools.call("clock", "", state)
    assert (noon.observation, noon.cost, tools.max_call_cost) == ("noon", 1.0, 3.0)
    assert toolbox(PAGES, costs={"Search": by_latency(9.0)}).max_call_cost == 1.0
    finished = await tools.call("finish", " the answer ", {})
    assert (finished.answer, finished.observation) == ("the answer", "the answer")
    assert not finished.failed


@tool
async def gone(query: str) -> str:
    """Gives up."""
    raise asyncio.CancelledError


ROUTES = one(route)
NO_VERDICT, NO_COST = {"failed": lambda said: {}[said]}, {"cost": lambda receipt: 1 / 0}


@pytest.mark.parametrize(
    ("tools", "argument", "told"),
    [
        (ROUTES, "from A to B", "Invalid action"),
        (ROUTES, '{"start": "A", "way": "B"}', "Invalid action"),
        (ROUTES, "[" * 100_000, "Invalid action"),
        (ROUTES, '["A", "B"]', "Invalid action"),
        (ROUTES, '{"start": "A"}', "route failed"),
        (ROUTES, '{"start": "A", "goal": "B", "stops": "many"}', "route failed"),
        (one(weather), "Bug", "weather failed: 'oops'"),
        (one(gone), "x", "gone failed: it was cancelled"),
        (one(weather, **NO_VERDICT), "Oslo", "weather failed: its predicate raised KeyError: "),
        (one(weather, **NO_COST), "Oslo", "weather failed: its cost raised ZeroDivisionError: "),
    ],
)
async def test_whatever_is_wrong_or_raised_is_a_failure_in_one_line(tools, argument, told):
    result = await tools.call(*tools.names, argument, {"kept": 1})
    assert result.observation.startswith(told)
    assert "\n" not in result.observation
    assert (result.failed, result.state, result.answer) == (True, {"kept": 1}, None)
    assert result.cost == (0.0 if result.invalid else 1.0)


async def test_a_tool_may_ask_a_person():
    @tool
    async def person(question: str) -> str:
        """Asks a person."""
        raise GraphInterrupt

    with pytest.raises(GraphInterrupt):
        await one(person).call("person", "May I?", None)


async def test_what_somebody_elses_artifact_says_changes_neither_answer_nor_state():
    """Whether it failed is for the user's own predicate to say."""
    artifact = {"answer": "42", "tool_state": {"page": None}, "dollars": "many"}
    tools = one(charging(artifact), failed=lambda observation: "nothing" in observation)
    for query, failed in (("x", False), ("?", True)):
        result = await tools.call("paid", query, {"kept": 1})
        assert (result.answer, result.state, result.cost) == (None, {"kept": 1}, 1.0)
        assert result.failed == failed


async def test_nothing_takes_longer_than_the_deadline():
    """A tool that ignores being cancelled is not waited for, and its late error is nobody's."""
    let_go, ended, lost = asyncio.Event(), asyncio.Event(), list[Any]()

    @tool
    async def slow(query: str) -> str:
        """Takes its time."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await let_go.wait()
            raise ValueError("late") from None
        finally:
            ended.set()
        return query

    asyncio.get_running_loop().set_exception_handler(lambda loop, context: lost.append(context))
    result = await ToolSet([Priced(slow)], deadline=0.05).call("slow", "x", None)
    assert (result.failed, result.observation) == (True, "slow failed: no answer within 0.05 s.")
    assert not ended.is_set()
    let_go.set()
    await ended.wait()
    for _ in range(5):  # until the error has passed through all who await it
        await asyncio.sleep(0)
    gc.collect()
    assert lost == []


async def test_cancelling_a_call_cancels_the_tool():
    began, ended = asyncio.Event(), asyncio.Event()

    @tool
    async def watched(query: str) -> str:
        """Waits."""
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return query

    call = asyncio.ensure_future(one(watched).call("watched", "x", None))
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.wait_for(ended.wait(), 60)


async def test_a_long_observation_is_cut():
    result = await toolbox(PAGES).call("Search", "Long", None)
    assert len(result.observation) == LONGEST_RESULT


@pytest.mark.parametrize("source", ["", "wikipedia:de", "community:de", "https://w.org/a.php"])
async def test_a_source_names_a_wiki(source, tmp_path, monkeypatch):
    monkeypatch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path))
    tools = toolbox(source, recording="replay", costs={"Search": 2.0})
    community = source.startswith("community")  # whose tool takes the place of both
    assert tools.names == ("Search", *(() if community else ("Lookup",)), "Finish")
    assert await tools.check() == ""  # a replay asks nobody, and says whom it would have asked
    result = await tools.call("Search", "Alpha", None)
    assert (result.failed, result.cost) == (True, 2.0)
    language = "de" if source.endswith(":de") else "en"
    wiki = source if "w.org" in source else f"https://{language}.wikipedia.org/w/api.php"
    assert f"answer of {wiki} to" in result.observation


def test_a_source_that_there_is_not_is_refused_in_one_line():
    for source in ("nowhere.jsonl", "wikipedia:../x", "wikipedia:DE!", "community:/"):
        with pytest.raises(InputError) as caught:
            toolbox(source)
        assert "\n" not in str(caught.value)
