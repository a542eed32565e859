"""Informed Tree of Thought: the properties P1, P2 and P33 to P45 over random searches."""

from itertools import pairwise
from typing import Any, cast

import pytest
from support.acting import COSTS, Odds, Walk, walker
from support.informed import (
    A_STAR,
    BEST,
    D_STAR,
    DFS,
    METHODS,
    Trace,
    built,
    cost,
    figures,
    left,
    odds,
    pops,
    prepared,
    run,
    settings,
    states,
    took_out,
    waiting,
)
from support.letters import comparable
from support.pools import POOLS
from support.scripted import Call, Reply

import thoughtgraph as tg
from thoughtgraph.nodes.informed.queue import TOO_DEEP, by_priority


@pytest.mark.parametrize("seeds", POOLS)
async def test_p33_without_costs_a_star_is_best_first(seeds: range) -> None:
    for seed in seeds:
        context, reply = settings(seed, A_STAR), walker(seed, odds(seed))
        first = await states(A_STAR, reply, Walk(scale=0.0), **context)
        second = await states(BEST, reply, Walk(), **context)
        assert pops(first) == pops(second)
        assert figures(first[-1][1]["tree"]) == figures(second[-1][1]["tree"])


@pytest.mark.parametrize("seeds", POOLS)
async def test_p34_without_failures_d_star_lite_is_a_star(seeds: range) -> None:
    for seed in seeds:
        context = settings(seed, A_STAR)
        reply = walker(seed, Odds(bad=0.0, finish=odds(seed).finish))
        first, second = await run(A_STAR, reply, **context), await run(D_STAR, reply, **context)
        same = [{**comparable(out), "settings": None, "method": None} for out in (first, second)]
        assert same[0] == same[1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seeds", POOLS)
async def test_p35_p36_p39_p41_p42_p45_every_round(seeds: range, method: str) -> None:
    for seed in seeds:
        context = settings(seed, method)
        trace = await states(method, walker(seed, odds(seed)), **context)
        for (_, before), (names, after) in pairwise(trace):
            if "select" in names and after["step"] > before["step"]:
                tree = after["tree"]
                least = min([*waiting(before), *before["generation"]], key=order(tree))
                assert least not in left(after), "P35: who is least is taken"
        taken = [key for batch in pops(trace) for key in batch]
        out = trace[-1][1]
        if method != D_STAR:
            assert len(taken) == len(set(taken)), "P36: nobody is taken twice"
        check_figures(method, out, context)
        usage = out["usage"]
        assert usage["rounds"] == len(taken) <= context["rounds"], "P41"
        assert usage["expansions"] <= context["rounds"]
        if out["answer"] is not None:
            assert out["tree"][taken[-1]]["answer"] == out["answer"], "P41: returned from a pop"
            assert usage["tool_cost"] >= usage["tool_cost_path"], "P45"
        check_isolation(out)
        check_propagation(trace, context.get("failure_cost", 0.0))
        longest = context["max_depth"] + (not context["strict_depth"])
        assert max(t["depth"] for t in out["tree"].values()) <= longest


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seeds", POOLS)
async def test_several_thoughts_a_round_keep_the_properties(seeds: range, method: str) -> None:
    """A round takes the first `width` of the open set, up to an answer, and those too deep go."""
    sizes = set[int]()
    for seed in seeds:
        context = {**settings(seed, method), "width": 3, "rounds": 6}
        trace = await states(method, walker(seed, odds(seed)), **context)
        for (_, before), (names, after) in pairwise(trace):
            if "select" in names and after["step"] > before["step"]:
                tree, entering = after["tree"], [*waiting(before), *before["generation"]]
                first = sorted(entering, key=order(tree))[:3]
                ends = [tree[key]["status"] == "terminal" for key in first]
                expected = first[: max(1, (*ends, True).index(True))]
                taken = took_out(before, after)
                assert sorted(taken) == sorted(expected)
                grown = [key for key in expected if tree[key].get("note") != TOO_DEEP["note"]]
                assert after["frontier"] == grown
                sizes.add(len(taken))
        out = trace[-1][1]
        check_figures(method, out, context)
        check_isolation(out)
        check_propagation(trace, context.get("failure_cost", 0.0))
    assert sizes == {1, 2, 3}


def order(tree: Any) -> Any:
    return lambda key: by_priority(tree[key])


def check_figures(method: str, out: Any, context: dict[str, Any]) -> None:
    """P36: g is what the steps on the way cost, and f is g - lambda V."""
    for thought in list(out["tree"].values())[1:]:
        path = tg.path_to(out["tree"], thought["id"])
        if method == A_STAR:
            dearest = max(COSTS.values())
            priced = [dearest if step.get("invalid") else step["price"] for step in path]
            assert thought["cost"] == sum(priced)
        if method in (BEST, DFS):
            assert thought["cost"] == 0.0
        if "priority" in thought and method != DFS:
            worth = context["value_weight"] * thought["value"]
            assert thought["priority"] == pytest.approx(thought["cost"] - worth)


@pytest.mark.parametrize("method", [A_STAR, D_STAR])
@pytest.mark.parametrize("seeds", POOLS)
async def test_p37_shift_and_scale_change_no_order(seeds: range, method: str) -> None:
    for seed in seeds:
        context, tends = settings(seed, method), odds(seed)
        plain = await states(method, walker(seed, tends), **context)
        shifted = Odds(bad=tends.bad, finish=tends.finish, shift=4.0)
        root = {"root_value": context["root_value"] + 4.0} if method == D_STAR else {}
        # The first pop is the root's, whose f is 0 by definition and not shifted.
        moved = await states(method, walker(seed, shifted), **{**context, **root})
        assert pops(plain) == pops(moved)
        scaled = Odds(bad=tends.bad, finish=tends.finish, scale=4.0)
        grown: dict[str, Any] = {}
        if method == D_STAR:
            grown["root_value"] = context["root_value"] * 4.0
            grown["failure_cost"] = context["failure_cost"] * 4.0
        large = await states(method, walker(seed, scaled), Walk(scale=4.0), **{**context, **grown})
        assert pops(plain) == pops(large)


@pytest.mark.parametrize("seeds", POOLS)
async def test_p38_the_order_of_siblings_changes_nothing(seeds: range) -> None:
    """One expansion whose samples come in another order: the same thoughts, costs and priorities;
    with `live` that generally fails."""
    differs = 0
    for seed in seeds:
        reply = walker(seed, Odds(places="abcdef", bad=0.5))
        for base in ("snapshot", "live"):
            context = {"rounds": 1, "n_generate": 4, "sibling_base": base}
            plain, turned = [
                set(figures((await run(D_STAR, script, **context))["tree"]))
                for script in (reply, reordered(reply))
            ]
            if base == "snapshot":
                assert plain == turned
            else:
                differs += plain != turned
    assert differs > len(seeds) / 4


def reordered(reply: Reply) -> Reply:
    def turned(call: Call) -> Any:
        said = list(reply(call))
        return said[::-1] if call.role == "generate" else said

    return turned


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


@pytest.mark.parametrize("seeds", POOLS)
async def test_p40_free_failures_leave_g_as_a_star_has_it(seeds: range) -> None:
    for seed in seeds:
        context = {**settings(seed, D_STAR), "failure_cost": 0.0}
        out = await run(D_STAR, walker(seed, odds(seed)), **context)
        check_figures(A_STAR, out, context)


@pytest.mark.parametrize("seeds", POOLS)
async def test_p43_equal_values_search_by_cost(seeds: range) -> None:
    for seed in seeds:
        steps = walker(seed, odds(seed))

        def reply(call: Call, steps: Reply = steps) -> Any:
            return steps(call) if call.role == "generate" else "Score: 5"

        trace = await states(A_STAR, reply, **settings(seed, A_STAR))
        for (_, before), (names, after) in pairwise(trace):
            if "select" in names and after["step"] > before["step"]:
                tree = after["tree"]
                entering = [*waiting(before), *before["generation"]]
                taken = took_out(before, after)
                assert [cost(tree[k]) for k in taken] == [min(cost(tree[k]) for k in entering)]


@pytest.mark.parametrize("seeds", POOLS)
async def test_p44_depth_first_asks_no_value_and_is_react_where_k_is_1(seeds: range) -> None:
    react, model, task = built("react")
    for seed in seeds:
        reply = walker(seed, Odds(finish=0.1))
        graph, asked = prepared(DFS, reply, None)
        context = {"n_generate": 1, "max_depth": 7, "strict_depth": True, "rounds": 30}
        out = await graph.ainvoke({"problem": "a"}, context=context)
        assert {call.role for call in asked.seen} == {"generate"}
        model.reply, model.seen, task.walk = reply, [], Walk()
        single = await react.ainvoke({"problem": "a"})
        assert steps(out) == steps(single)
        assert out["answer"] == single["answer"]


def steps(out: Any) -> list[tuple[Any, ...]]:
    return [(t["text"], t.get("observation")) for t in out["tree"].values()]


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


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seeds", POOLS)
async def test_p1_p2_the_same_again_and_counted_as_the_model_counts(
    seeds: range, method: str
) -> None:
    for seed in seeds:
        context, reply = settings(seed, method), walker(seed, Odds(lost=0.2))
        graph, model = prepared(method, reply, Walk())
        first = await graph.ainvoke({"problem": "a"}, context=context)
        seen = list(model.seen)
        assert first["usage"]["requests"] == len(seen)
        assert first["usage"]["samples"] == sum(call.n for call in seen)
        if seed % 4 == 0:
            assert comparable(first) == comparable(await run(method, reply, **context))
