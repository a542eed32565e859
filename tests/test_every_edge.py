"""Every arrow of the drawn graphs that act, plan or roll back is taken by some scripted search."""

from itertools import pairwise
from typing import Any

import pytest
from support.acting import Errand, Odds, walker
from support.climbing import Climbing, climber
from support.informed import A_STAR, BEST, D_STAR, DFS
from support.scripted import Call, ScriptedChat
from support.stepping import Stepping
from support.stepping import walker as reasoner

import thoughtgraph as tg
from thoughtgraph.building import Graph

LIMITS: list[dict[str, Any]] = [
    {},
    {"limit_requests": 0},
    {"limit_requests": 5},
    {"limit_thoughts": 3},
    {"limit_seconds": 1e-9},
]
TRIALS = [*LIMITS, {"max_steps": 2}, {"max_steps": 2, "limit_requests": 2}]
QUEUES = [*LIMITS, {"max_depth": 1}, {"limit_requests": 1}]
BARE = {"extractor": False, "step_evaluator": False}
LAYERS = [*LIMITS, {"max_depth": 2}, BARE, {**BARE, "limit_requests": 0}]
SEARCHES = {
    "react": TRIALS,
    "reflexion": TRIALS,
    **dict.fromkeys((A_STAR, BEST, D_STAR, DFS), QUEUES),
    "fgdip": LAYERS,
}
"""The settings under which each method searches, at several seeds each."""
ODDS = (Odds(bad=0.4, lost=0.1), Odds(places="a", bad=0.0, finish=0.0), Odds(lost=1.0))
"""A model that goes astray, one that repeats itself, one that writes no steps."""


def unreadable(call: Call) -> str:
    """A model that names what no tool is called with."""
    return {"extract": "]", "generate": "so>Go", "act": "Go"}.get(call.role, "?")


REPLIES = [unreadable, *(walker(seed, odds) for odds in ODDS for seed in range(4))]


def drawn(graph: Graph) -> set[tuple[str, str]]:
    return {(edge.source.strip("_"), edge.target.strip("_")) for edge in graph.get_graph().edges}


async def walked(graph: Graph, context: dict[str, Any], problem: str = "a") -> set[tuple[str, str]]:
    """The arrows that a search takes."""
    nodes: dict[int, set[str]] = {}
    async for event in graph.astream({"problem": problem}, context=context, stream_mode="debug"):
        if event["type"] == "task":
            nodes.setdefault(event["step"], set()).add(event["payload"]["name"])
    steps = [{"start"}, *(nodes[step] for step in sorted(nodes)), {"end"}]
    return {(here, there) for a, b in pairwise(steps) for here in a for there in b}


@pytest.mark.ci
@pytest.mark.parametrize("method", SEARCHES)
async def test_every_arrow_is_taken_and_no_other(method: str) -> None:
    model, oracle = ScriptedChat(reply=unreadable), method == "reflexion"
    graph = tg.build(method, task=Errand(), model=model, oracle=oracle)
    taken = set[tuple[str, str]]()
    for model.reply in REPLIES:
        for context in SEARCHES[method]:
            taken |= await walked(graph, context)
    assert taken == drawn(graph)


STOPPED = [{}, {"solutions": 1}, *({"limit_requests": most} for most in range(8))]


async def rolled(*, parallel: bool) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The arrows that searches of Thought Rollback take, and those of its drawing."""
    model = ScriptedChat(reply=unreadable)
    graph = tg.build("rollback", task=Stepping(), model=model)
    taken = set[tuple[str, str]]()
    for seed, protocol in enumerate(("two_call", "two_call", "single_call"), 4):
        model.reply = reasoner(seed, ends=0.2, bad=0.8)
        for stopped in STOPPED:
            context = {"parallel": parallel, "protocol": protocol, "steps": 3, **stopped}
            taken |= await walked(graph, context)
    return taken, drawn(graph)


async def test_one_request_at_a_time_takes_every_arrow_of_figure_2_and_no_other() -> None:
    taken, all_of_them = await rolled(parallel=False)
    assert taken == all_of_them - {("select", "extract_index")}


async def test_a_round_of_parallel_growth_begins_at_select() -> None:
    taken, all_of_them = await rolled(parallel=True)
    begun = {arrow for arrow in taken if "select" in arrow[:1]}
    assert begun == {arrow for arrow in all_of_them if arrow[0] == "select"}


PLANS = [*LIMITS, {"branches": 1}, {"branches": 3}, {"branches": 2, "speculate": 1}]


@pytest.mark.ci
@pytest.mark.parametrize("method", ["tomt_one_stop", "tomt_tot", "tomt_os", "tomt_block"])
async def test_every_arrow_of_a_search_over_plans_is_taken_and_no_other(method: str) -> None:
    model = ScriptedChat(reply=unreadable)
    graph = tg.build(method, task=Climbing(), model=model)
    taken = set[tuple[str, str]]()
    for model.reply in (unreadable, *map(climber, range(20))):
        for context in PLANS:
            taken |= await walked(graph, {"max_calls": 30, **context}, "6")
    assert taken == drawn(graph)
