"""Informed Tree of Thought: by hand and properties."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import pytest
from support.acting import COSTS, Odds, Walk, run, walker
from support.informed import (
    A_STAR,
    BEST,
    D_STAR,
    DFS,
    Trace,
    cost,
    entering,
    new,
    odds,
    pops,
    rounds,
    settings,
    states,
    waiting,
)
from support.letters import comparable
from support.pools import POOLS, few
from support.scripted import Call

import thoughtgraph as tg
from thoughtgraph.graphs.informed_tot import TOO_DEEP

SCORES = {"a": 7, "b": 8, "c": 9, "d": 3, "end": 10}
SCRIPT = {("0", 0): ["a>Go[a]", "b>Go[b!]"], ("1", 0): ["c>Go[c]", "d>Go[d!]"]}


def last_step(call: Call) -> str:
    return call.prompt.rpartition("\n")[2]


def by_hand(call: Call) -> list[str]:
    if call.role == "generate":
        assert call.draw is not None
        return SCRIPT.get((call.draw[1], call.draw[2]), ["end>Finish[x]"] * call.n)
    return [f"Score: {SCORES[last_step(call).partition('>')[0]]}"]


def steps(*lines: str, score: str = "Score: 5") -> Callable[[Call], list[str]]:
    """The same steps whatever was done so far, and one score for all."""
    return lambda call: [*lines] if call.role == "generate" else [score]


async def test_the_worked_example_of_d_star_lite():
    trace = await states(D_STAR, by_hand, n_generate=2)
    # Before round 1's children, round 2's, round 3's entered the open set, and after.
    after = [
        {
            t["text"]: (t["cost"], t["priority"])
            for t in state["thoughts"].values()
            if t["id"] in waiting(state)
        }
        for names, state in trace
        if "select" in names and state["step"] > 1
    ]
    assert after[0] == {"a": (1, -6), "b": (2, -6), "": (1, -4)}
    assert after[1] == {"c": (2, -7), "b": (2, -6), "a": (2, -5), "": (2, -3), "d": (3, 0)}
    assert pops(trace) == [["0"], ["1"], ["3"], ["5"]]
    out = trace[-1][1]
    assert (out["answer"], out["stop_reason"]) == ("x", "finished")
    usage = out["usage"]
    assert (usage["tool_cost"], usage["tool_cost_path"]) == (4.0, 2.0)
    assert usage["tool_calls"] == {"Go": 4, "Finish": 1}
    assert usage["tool_failures"] == {"Go": 2}
    assert (usage["rounds"], usage["expansions"], usage["evaluated"]) == (4, 3, 5)


async def test_to_a_star_a_failed_call_costs_no_more_than_another():
    def reply(call: Call) -> list[str]:
        root = call.role != "generate" or call.draw is None or call.draw[1:3] == ("0", 0)
        return by_hand(call) if root else ["end>Finish[x]"] * call.n

    out = await run(A_STAR, reply, n_generate=2)
    assert [t["text"] for t in out["tree"].values()] == ["", "a", "b", "end"]
    assert out["tree"]["2"]["cost"] == 1.0


@pytest.mark.parametrize(
    ("context", "costs"),
    [({}, [2.0, 2.0, 3.0, 3.0]), ({"sibling_base": "snapshot"}, [2.0, 1.0, 2.0, 1.0])],
)
async def test_a_child_begins_where_its_elder_siblings_failures_left_its_parent(context, costs):
    """Algorithm 2 as printed: line 16 raises the V_g(s) that line 17 adds to, one child by one."""
    reply = steps("a>Go[a!]", "b>Go[b]", "c>Go[c!]", "d>Go[d]")
    out = await run(D_STAR, reply, n_generate=4, rounds=1, **context)
    assert [out["tree"][key]["cost"] for key in "1234"] == costs
    assert out["tree"]["0"]["cost"] == 2.0


@pytest.mark.parametrize("method", [A_STAR, D_STAR])
async def test_an_action_that_calls_no_tool_is_no_cheaper_than_one_that_fails(method):
    # As printed, a child also pays for the failures of those before it, whatever it is itself.
    apart: Any = {"sibling_base": "snapshot"} if method == D_STAR else {}
    for action in ("", "Fly[a]", "Go", "Go[]"):
        reply = steps(f"odd>{action}", "try>Ride[b!]", "go>Ride[c]")
        trace = await states(method, reply, n_generate=3, rounds=2, **apart)
        tree, usage = trace[-1][1]["thoughts"], trace[-1][1]["usage"]
        odd, failed = tree["1"], tree["2"]
        assert (odd["price"], odd["invalid"], failed["failed"]) == (0.0, True, True)
        assert odd["cost"] >= failed["cost"] >= 2
        assert pops(trace)[1] == ["3" if method == D_STAR else "1"], "of equal ones the oldest"
        assert usage["tool_cost"] == 2.0 * sum(usage["tool_calls"].values()), "it was not paid for"


async def test_an_expansion_keeps_distinct_steps_and_a_second_one_adds_new_ones_only():
    samples = [["s>Go[x!]", "s>Go[x!]", "s>Go[y]"], ["s>Go[y]", "s>Go[z]", "s>Go[x!]"]]

    def reply(call: Call) -> list[str]:
        if call.role == "value":
            return ["Score: 1"]
        assert call.draw is not None
        return samples[call.draw[2]] if call.draw[1] == "0" else ["t>Go[far]"] * 3

    walk = Walk()
    out = await run(D_STAR, reply, walk, rounds=3, n_generate=3)
    below = [(t["action"] or {})["argument"] for t in tg.children_of(out["tree"], "0")]
    assert below == ["x!", "y", "z"]
    assert sum(argument in ("x!", "y", "z") for _, argument, _ in walk.called) == 3
    assert out["usage"]["reexpansions"] >= 1


@pytest.mark.parametrize(
    ("context", "end"),
    [
        ({"rounds": 2}, (None, "round_limit")),
        ({"limit_requests": 4}, ("x", "budget")),
    ],
)
async def test_stopped_before_an_answer_is_taken_it_gives_nothing_or_its_best(context, end):
    def reply(call: Call) -> list[str]:
        if call.role == "value":
            return ["Score: 1" if "Finish" in last_step(call) else "Score: 9"]
        return ["on>Go[a]", "end>Finish[x]"]

    out = await run(A_STAR, reply, n_generate=2, **context)
    assert (out["answer"], out["stop_reason"]) == end


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
            tree = after["thoughts"]
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
    max_call_cost = max(COSTS.values())
    for thought in list(out["tree"].values())[1:]:
        path = tg.path_to(out["tree"], thought["id"])
        priced = [max_call_cost if step.get("invalid") else step["price"] for step in path]
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
        tree = after["thoughts"]
        records, costs = raised_by_hand(before, amount)
        assert records == {
            key: tree[key]["propagation"]["raised"]
            for key in new(before)
            if "propagation" in tree[key]
        }
        assert {key: cost(thought) for key, thought in tree.items()} == pytest.approx(costs)
        assert {each["thought"] for raised in records.values() for each in raised} <= set(
            waiting(after)
        )


def raised_by_hand(
    state: Any, amount: float
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, float]]:
    """What each failure raises, and all costs after: Algorithms 2 and 3, read afresh."""
    tree, records = state["thoughts"], dict[str, list[dict[str, Any]]]()
    costs = {key: cost(thought) for key, thought in tree.items()}
    for key in new(state):
        parent = tree[key]["parent"]
        costs[key] += costs[parent] - cost(tree[parent])
        if not tree[key]["failed"]:
            continue
        records[key], child = [], key
        while parent is not None and costs[parent] < costs[child]:
            above = costs[parent] + amount
            records[key].append({"thought": parent, "before": costs[parent], "after": above})
            costs[parent], child, parent = above, parent, tree[parent]["parent"]
    return records, costs
