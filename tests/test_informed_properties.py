"""Informed Tree of Thought: the properties P34 to P45 over random searches.

That costs of nothing leave best first (P33), that shifts and scales of values change no order (P37)
and that equal values search by cost (P43) follows from the order by f (P35) and what f is (P36).
"""

from itertools import pairwise
from typing import Any, cast

import pytest
from support.acting import COSTS, Odds, run, walker
from support.informed import (
    A_STAR,
    BEST,
    D_STAR,
    DFS,
    Trace,
    cost,
    entering,
    odds,
    pops,
    rounds,
    settings,
    states,
    waiting,
)
from support.letters import comparable
from support.pools import POOLS, few

import thoughtgraph as tg
from thoughtgraph.nodes.informed.queue import TOO_DEEP


@pytest.mark.parametrize("seeds", POOLS)
async def test_p34_without_failures_d_star_lite_is_a_star(seeds):
    for seed in seeds:
        context = settings(seed, A_STAR)
        reply = walker(seed, Odds(bad=0.0, finish=odds(seed).finish))
        first, second = await run(A_STAR, reply, **context), await run(D_STAR, reply, **context)
        same = [{**comparable(out), "settings": None, "method": None} for out in (first, second)]
        assert same[0] == same[1]


@pytest.mark.parametrize("width", few([1, 3], 1))
@pytest.mark.parametrize("method", few([D_STAR, A_STAR, BEST, DFS], 2))
@pytest.mark.parametrize("seeds", POOLS)
async def test_p35_to_p45_every_round(seeds, method, width):
    """A round takes the first `width` of the open set, up to an answer, and those too deep go."""
    sizes = set[int]()
    for seed in seeds:
        context = settings(seed, method)
        context |= {"width": width, "rounds": 6} if width > 1 else {}
        trace = await states(method, walker(seed, odds(seed)), **context)
        taken = pops(trace)
        for (before, after), batch in zip(rounds(trace), taken, strict=True):
            tree = after["tree"]
            first = sorted(entering(before), key=lambda key, tree=tree: order(tree[key]))
            ends = [tree[key]["status"] == "terminal" for key in first[:width]]
            expected = first[: max(1, (*ends, True).index(True))]
            assert sorted(batch) == sorted(expected), "P35"
            grown = [key for key in expected if tree[key].get("note") != TOO_DEEP["note"]]
            assert after["frontier"] == grown
        sizes |= set(map(len, taken))
        out, usage = trace[-1][1], trace[-1][1]["usage"]
        popped = [key for batch in taken for key in batch]
        assert method == D_STAR or len(popped) == len(set(popped)), "P36: nobody is taken twice"
        assert usage["rounds"] == len(taken) <= context["rounds"], "P41"
        assert width > 1 or usage["expansions"] <= context["rounds"]
        if out["answer"] is not None:
            assert out["tree"][popped[-1]]["answer"] == out["answer"], "P41: returned from a pop"
            assert usage["tool_cost"] >= usage["tool_cost_path"], "P45"
        longest = context["max_depth"] + 1
        assert max(t["depth"] for t in out["tree"].values()) <= longest
        check_figures(method, out, context)
        check_isolation(out)
        check_propagation(trace, context.get("failure_cost", 0.0))
    assert sizes == set(range(1, width + 1))


def order(thought: Any) -> tuple[float, int, int]:
    """The least f first, of equal ones the deepest, of those the oldest."""
    return thought.get("priority", 0.0), -thought["depth"], int(thought["id"])


def check_figures(method: str, out: Any, context: dict[str, Any]) -> None:
    """P36, P40: g is what the steps on the way cost, and f is g - lambda V."""
    dearest = max(COSTS.values())
    for thought in list(out["tree"].values())[1:]:
        path = tg.path_to(out["tree"], thought["id"])
        priced = [dearest if step.get("invalid") else step["price"] for step in path]
        if method == A_STAR or context.get("failure_cost") == 0.0:
            assert thought["cost"] == sum(priced)
        if method in (BEST, DFS):
            assert thought["cost"] == 0.0
        if "priority" in thought and method != DFS:
            worth = context["value_weight"] * thought["value"]
            assert thought["priority"] == pytest.approx(thought["cost"] - worth)


def check_isolation(out: Any) -> None:
    """P42: what a call sees of earlier calls is what its own ancestors did."""
    tree: dict[str, Any] = out["tree"]
    for thought in list(tree.values())[1:]:
        been = [
            step["action"]["argument"]
            for step in cast("list[Any]", tg.path_to(out["tree"], thought["id"]))
            if not step["failed"] and step["action"]["name"] != "Finish"
        ]
        assert thought["tool_state"] == ({"been": been} if been else {})


def check_propagation(trace: Trace, amount: float) -> None:
    """P39: a failure raises each ancestor it reaches by delta, and all of those are open then."""
    for (_, before), (names, after) in pairwise(trace):
        if "propagate" not in names:
            continue
        times, costs = raised_by_hand(before, amount)
        check_records(before, after, amount, times)
        for key, thought in after["tree"].items():
            assert cost(thought) == pytest.approx(costs[key])
        assert set(times) <= set(waiting(after))


def check_records(before: Any, after: Any, amount: float, times: dict[str, int]) -> None:
    """The record of each failure is a chain of parents, and all records add up to the new costs."""
    costs = {key: cost(thought) for key, thought in before["tree"].items()}
    told: dict[str, int] = {}
    for key in before["generation"]:
        thought = after["tree"][key]
        assert ("propagation" in thought) == thought["failed"]
        below = key
        for each in thought.get("propagation", {"raised": []})["raised"]:
            above = each["thought"]
            assert above == before["tree"][below]["parent"]
            assert (each["before"], each["after"]) == (costs[above], costs[above] + amount)
            costs[above], below, told[above] = each["after"], above, told.get(above, 0) + 1
    assert told == times


def raised_by_hand(state: Any, amount: float) -> tuple[dict[str, int], dict[str, float]]:
    """How often each ancestor is raised, and all costs after: Algorithms 2 and 3, read afresh."""
    tree, times = state["tree"], dict[str, int]()
    costs = {key: cost(thought) for key, thought in tree.items()}
    for key in state["generation"]:
        costs[key] += amount * times.get(tree[key]["parent"], 0)
        child = key
        while tree[key]["failed"] and tree[child]["parent"] is not None:
            parent = tree[child]["parent"]
            if not costs[parent] < costs[child]:
                break
            times[parent] = times.get(parent, 0) + 1
            costs[parent] += amount
            child = parent
    return times, costs
