"""Every arrow of a drawn graph is taken by some scripted search, and no search takes another."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from digests.searches import own
from support import climbing
from support.acting import Errand, Odds, walker
from support.climbing import CLIMBING, climber
from support.informed import A_STAR, BEST, D_STAR, DFS
from support.letters import built, edges
from support.scripted import Call, Reply
from support.stepping import STEPPING
from support.stepping import walker as reasoner

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
LAYERS = [*LIMITS, {"max_depth": 2}, BARE, {**BARE, "limit_requests": 0}, {"step_evaluator": False}]
ACTING = {
    "react": TRIALS,
    "reflexion": TRIALS,
    **dict.fromkeys((A_STAR, BEST, D_STAR, DFS), QUEUES),
    "fgdip": LAYERS,
}
"""The settings under which methods that act search, at several seeds each."""
ODDS = (Odds(bad=0.4, lost=0.1), Odds(places="a", bad=0.0, finish=0.0), Odds(lost=1.0))
"""A model that goes astray, one that repeats itself, one that writes no steps."""

pytestmark = pytest.mark.ci


def unreadable(call: Call) -> str:
    """A model that names what no tool is called with."""
    return {"extract": "]", "generate": "so>Go", "act": "Go"}.get(call.role, "?")


def critic(verdict: str) -> Reply:
    return lambda call: verdict if call.role == "judge" else "A passage."


ERRAND = Errand()
SENTENCES = "It rained. Nobody came. The cat slept. She kept the key."
BRANCHES = [*LIMITS, {"branches": 1}, {"branches": 3}, {"branches": 2, "speculate": 1}]
Search = tuple[str, Any, Reply, dict[str, Any], str]


def searches(method: str) -> Iterator[Search]:
    if method in ACTING:
        replies = [unreadable, *(walker(seed, odds) for odds in ODDS for seed in range(4))]
        for reply in replies:
            yield from ((method, ERRAND, reply, context, "a") for context in ACTING[method])
    elif method in climbing.METHODS:
        for reply in (unreadable, *map(climber, range(20))):
            for context in BRANCHES:
                yield method, CLIMBING, reply, {"max_calls": 30, **context}, "6"
    elif method == "refine":
        for verdict in ("perfectly coherent", "not perfectly coherent"):
            for context in LIMITS:
                yield method, "creative_writing", critic(verdict), context, SENTENCES
    else:
        for seed in range(12 if method == "tot_dfs" else 4):
            _, task, reply, problem, settings, _ = own(method, seed)
            more = [{"variant": "no_backtrack"}] if method == "tot_dfs" else []
            for limit in (*LIMITS, {"limit_requests": 1}, {"limit_rounds": 1}, *more):
                yield method, task, reply, {**settings, **limit}, problem


async def walked(search: Search) -> set[tuple[str, str]]:
    """The arrows that a search takes."""
    method, task, reply, context, problem = search
    graph, model = built(method, task, method == "reflexion")
    model.reply = reply
    nodes: dict[int, set[str]] = {}
    async for event in graph.astream({"problem": problem}, context=context, stream_mode="debug"):
        if event["type"] == "task":
            nodes.setdefault(event["step"], set()).add(event["payload"]["name"])
    steps = [{"start"}, *(nodes[step] for step in sorted(nodes)), {"end"}]
    return {(here, there) for a, b in pairwise(steps) for here in a for there in b}


BY_HAND: dict[str, set[tuple[str, str]]] = {
    **{method: {("evaluate", "evaluate")} for method in climbing.METHODS},
    "fgdip": {("extract", "evaluate")},
    "tot_dfs": {("backtrack", "select"), ("select", "select")},
}
"""Arrows that a search takes where a person drops what stood while its siblings wait, writes
down what the tools of the first layer would say, or values what is next."""
SHORT = ("chain", "level_tot", "refine", "tot_bfs", "tot_dfs")


@pytest.mark.parametrize("method", [*SHORT, *ACTING, *climbing.METHODS])
async def test_every_arrow_is_taken_and_no_other(method: str) -> None:
    tried = list(searches(method))
    taken = {("start", "answer")}  # refused
    taken = taken.union(*[await walked(search) for search in tried])
    assert taken == edges(method, tried[0][1], method == "reflexion") - BY_HAND.get(method, set())


STOPPED = [{}, {"solutions": 1}, *({"limit_requests": most} for most in range(8))]


async def test_rollback_takes_every_arrow_of_figure_2_and_no_other() -> None:
    """One request at a time; a round of parallel growth begins at `select`."""
    taken: dict[bool, set[tuple[str, str]]] = {at: {("start", "ensemble")} for at in (True, False)}
    for parallel, arrows in taken.items():
        for seed, protocol in enumerate(("two_call", "two_call", "single_call"), 4):
            reply = reasoner(seed, ends=0.2, bad=0.8)
            for stopped in STOPPED:
                context = {"parallel": parallel, "protocol": protocol, "steps": 3, **stopped}
                arrows |= await walked(("rollback", STEPPING, reply, context, "a"))
    figure = edges("rollback", STEPPING)
    together = {("select", "extract_index"), ("generate", "rollback")}
    assert taken[False] == figure - together and together <= taken[True]
    assert {arrow for arrow in taken[True] | figure if arrow[0] == "select"} <= figure & taken[True]
