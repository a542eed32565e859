"""Every arrow of the drawn graphs of methods that act, or search plans, is taken by some search."""

from itertools import pairwise
from typing import Any

import pytest
from acting import Errand, Odds, walker
from climbing import Climbing, climber
from informed import A_STAR, BEST, D_STAR, DFS
from scripted import Call, ScriptedChat

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
ALWAYS_NEW = {("register", "select")}
"""Not taken where a thought is expanded once: a first expansion finds something new."""
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


@pytest.mark.parametrize("method", SEARCHES)
async def test_every_arrow_is_taken_and_no_other(method: str) -> None:
    model, oracle = ScriptedChat(reply=unreadable), method == "reflexion"
    graph = tg.build(method, task=Errand(), model=model, oracle=oracle)
    taken = set[tuple[str, str]]()
    for model.reply in REPLIES:
        for context in SEARCHES[method]:
            taken |= await walked(graph, context)
    unused = ALWAYS_NEW if method in (A_STAR, BEST, DFS) else set()
    assert taken == drawn(graph) - unused


PLANS = [*LIMITS, {"branches": 1}, {"branches": 3}, {"branches": 2, "speculate": 1}]


@pytest.mark.parametrize("method", ["tomt_one_stop", "tomt_tot", "tomt_os", "tomt_block"])
async def test_every_arrow_of_a_search_over_plans_is_taken_and_no_other(method: str) -> None:
    model = ScriptedChat(reply=unreadable)
    graph = tg.build(method, task=Climbing(), model=model)
    taken = set[tuple[str, str]]()
    for model.reply in (unreadable, *map(climber, range(20))):
        for context in PLANS:
            taken |= await walked(graph, {"max_calls": 30, **context}, "6")
    assert taken == drawn(graph)
