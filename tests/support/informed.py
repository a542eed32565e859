"""How tests search with the methods of Informed Tree of Thought: one graph each, many scripts."""

import random
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, cast

from support.acting import Errand, Odds, Walk
from support.scripted import Reply, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.building import Graph

METHODS = ("itot_a_star", "itot_d_star_lite", "itot_best_first", "itot_dfs")
A_STAR, D_STAR, BEST, DFS = METHODS
Trace = list[tuple[list[str], Any]]
"""The nodes of a search in the order of their runs, each with the state after it."""


@cache
def built(method: str) -> tuple[Graph, ScriptedChat, Errand]:
    """A graph and its model, which is given a new script for each search."""
    model, task = ScriptedChat(reply=lambda call: ""), Errand()
    return tg.build(method, task=task, model=model), model, task


def prepared(method: str, reply: Reply, walk: Walk | None) -> tuple[Graph, ScriptedChat]:
    graph, model, task = built(method)
    model.reply, model.seen, task.walk = reply, [], walk or Walk()
    return graph, model


async def run(method: str, reply: Reply, walk: Walk | None = None, **context: Any) -> Any:
    graph, _ = prepared(method, reply, walk)
    return await graph.ainvoke({"problem": "a"}, context=context or None)


async def states(method: str, reply: Reply, walk: Walk | None = None, **context: Any) -> Trace:
    graph, _ = prepared(method, reply, walk)
    seen: Trace = []
    names: list[str] = []
    async for mode, chunk in graph.astream(
        {"problem": "a"}, context={**context, "tree": "all"}, stream_mode=["updates", "values"]
    ):
        if mode == "updates":
            names.extend(cast("Mapping[str, Any]", chunk))
        else:
            seen.append((names, chunk))
            names = []
    return seen


def waiting(state: Any) -> list[str]:
    """The open set: thoughts that have an f and are neither expanded nor pruned."""
    tree = state["tree"]
    return [k for k in tree if "priority" in tree[k] and tree[k]["status"] in ("open", "terminal")]


def left(after: Any) -> list[str]:
    """The open set after a round has begun: without those under expansion."""
    return [key for key in waiting(after) if key not in after["frontier"]]


def took_out(before: Any, after: Any) -> list[str]:
    """What a round took out of the open set."""
    entering = [*waiting(before), *before["generation"]]
    return [key for key in entering if key not in left(after)]


def pops(trace: Trace) -> list[list[str]]:
    """The thoughts that each round took out of the open set."""
    taken = []
    for (_, before), (names, after) in pairwise(trace):
        if "select" in names and after["step"] > before["step"]:
            taken.append(took_out(before, after))
    return taken


def settings(seed: int, method: str) -> dict[str, Any]:
    draws = random.Random(seed)
    drawn: dict[str, Any] = {
        "rounds": draws.choice([2, 3, 5]),
        "n_generate": draws.randint(1, 3),
        "max_depth": draws.randint(1, 4),
        "strict_depth": draws.random() < 0.3,
    }
    if method != DFS:
        drawn["value_weight"] = draws.choice([0.5, 1.0, 2.0])
    if method == D_STAR:
        drawn["failure_cost"] = draws.choice([0.0, 0.5, 1.0, 3.0])
        drawn["root_value"] = float(draws.randint(1, 10))
    return drawn


def odds(seed: int) -> Odds:
    draws = random.Random(-1 - seed)
    return Odds(bad=draws.choice([0.0, 0.2, 0.5]), finish=draws.choice([0.0, 0.1, 0.3]))


def cost(thought: Any) -> float:
    return thought.get("cost", 0.0)


def figures(tree: Any) -> list[tuple[Any, ...]]:
    return [(t["text"], t.get("cost", 0.0), t.get("priority", 0.0)) for t in tree.values()]
