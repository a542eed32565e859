"""How tests follow a search of Informed Tree of Thought: round by round, by what was taken out."""

import random
from itertools import pairwise
from typing import Any

from support.acting import Errand, Odds
from support.letters import steps
from support.scripted import Reply

METHODS = ("itot_a_star", "itot_d_star_lite", "itot_best_first", "itot_dfs")
A_STAR, D_STAR, BEST, DFS = METHODS
ERRAND = Errand()
Trace = list[tuple[list[str], Any]]
"""The nodes of a search in the order of their runs, each with the state after it."""


async def states(method: str, reply: Reply, **context: Any) -> Trace:
    return [each async for each in steps(method, reply, ERRAND, "a", **context)]


def rounds(trace: Trace) -> list[tuple[Any, Any]]:
    """The states before and after each round was begun."""
    return [
        (before, after)
        for (_, before), (names, after) in pairwise(trace)
        if "select" in names and after["step"] > before["step"]
    ]


def waiting(state: Any) -> list[str]:
    """The open set: thoughts that have an f and are neither expanded nor pruned."""
    tree = state["thoughts"]
    return [k for k in tree if "priority" in tree[k] and tree[k]["status"] in ("open", "terminal")]


def new(state: Any) -> list[str]:
    """The children of the last round, which have no f yet."""
    return [key for key, thought in state["thoughts"].items() if "priority" not in thought]


def entering(before: Any) -> list[str]:
    """The open set from which a round takes, with the children of the last round."""
    return [*waiting(before), *new(before)]


def pops(trace: Trace) -> list[list[str]]:
    """The thoughts that each round took out of the open set: not those that wait or are grown."""
    return [
        [key for key in entering(before) if key not in waiting(after) or key in after["frontier"]]
        for before, after in rounds(trace)
    ]


def settings(seed: int, method: str) -> dict[str, Any]:
    draws = random.Random(seed)
    drawn: dict[str, Any] = {
        "rounds": draws.choice([2, 3, 5]),
        "n_generate": draws.randint(1, 3),
        "max_depth": draws.randint(1, 4),
    }
    if method != DFS:
        drawn["value_weight"] = draws.choice([0.5, 1.0, 2.0])
    if method == D_STAR:
        drawn["failure_cost"] = draws.choice([0.0, 0.5, 1.0, 3.0])
    return drawn


def odds(seed: int) -> Odds:
    draws = random.Random(-1 - seed)
    return Odds(bad=draws.choice([0.0, 0.2, 0.5]), finish=draws.choice([0.0, 0.1, 0.3]))


def cost(thought: Any) -> float:
    return thought.get("cost", 0.0)
