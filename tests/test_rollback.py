"""Thought Rollback: by hand and properties."""

import asyncio
import random
from collections import Counter
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.pools import POOLS
from support.scripted import Call, Reply, ScriptedChat
from support.stepping import (
    PROBLEM,
    STEPPING,
    drawn,
    paths,
    run,
    scripted,
    shape,
    single,
    walker,
)

import thoughtgraph as tg
from thoughtgraph.llm.exchange import Draw
from thoughtgraph.nodes.families.rollback_paths import alpha, beta, path_ids
from thoughtgraph.tree import path_to, texts

MODES = pytest.mark.parametrize("parallel", [True, False])

WORKED = scripted(
    {"": "a", "a": "b", "ab": "c", "abc": "2", "a|abc": "d", "ad": "1"}, {"abc": "3, 2"}
)
"""The worked example of the design: the chain 0, 1, 2, 3 whose steps 2 and 3 are bad."""


@pytest.mark.parametrize(("order", "fifth", "first"), [("experience", "4", "1"), ("dfs", "3", "2")])
async def test_a_rollback_by_hand(order: str, fifth: str, first: str) -> None:
    out, seen = await run("rollback", WORKED, parallel=False, growth_order=order)
    tree = out["tree"]
    assert shape(tree)[:4] == [
        ("1", "0", "a", None, None),
        ("2", "1", "b", None, None),
        ("3", "2", "c", "1", None),
        ("4", "1", "d", None, "3"),
    ]
    assert tree["3"]["bad"] == [2, 3]
    assert tree["3"]["rollback"] == {"to": "1", "step": 2}
    assert tree["5"]["parent"] == fifth
    assert (alpha(tree, "3"), beta(tree, "4")) == (1, 1)
    assert tree["4"]["experiences"] == ["3"]
    assert (out["stop_reason"], len(out["candidates"])) == ("exhausted", 2)
    assert out["ensembles"]["first"] == first
    assert out["answer"] == "1", "its path has an experience and no rollback left it"
    prompts = {call.draw: call.prompt for call in seen if call.role == "generate"}
    warned = prompts[Draw(PROBLEM, "1", 1, 0)]
    assert warned.count("Experience with Analysis") == 1
    told = "Experience with Analysis, No. 1\nStep 1. a\nStep 2. b\nStep 3. c\nAnalysis:\nabc is"
    assert told in warned


@MODES
async def test_a_solution_tells_its_weights_and_all_that_became_of_it(parallel: bool) -> None:
    always = walker(1, ends=0.3, bad=1.0)
    out, _ = await run("rollback", always, parallel=parallel, steps=3, ensemble="ratio")
    tree = out["tree"]
    ends = [thought for thought in tree.values() if thought["status"] == "terminal"]
    assert any("rollback" in thought for thought in ends)
    assert any(thought["beta"] for thought in ends)
    for thought in ends:
        a, b = thought["alpha"], thought["beta"]
        assert (a, b) == (alpha(tree, thought["id"]), beta(tree, thought["id"]))
        assert thought["value"] == (1 + b) / (1 + a)
        *told, weights = thought["note"].split("; ")
        assert weights == f"alpha {a}, beta {b}"
        long = thought["answer"] is None and thought["depth"] == 3
        assert ("the longest path ends here" in told) is long
        if edge := thought.get("rollback"):
            assert f"step {edge['step']} is bad: back to thought {edge['to']}" in told


@MODES
async def test_the_third_try_at_a_thought_sees_three_analyses(parallel: bool) -> None:
    """Appendix D: three rollbacks to one thought, of whose tries the last is shown all three."""
    tries = {"": "a", "|a": "b", "|a|b": "c", "|a|b|c": "d"}
    tries |= {"a": "0", "b": "1", "c": "2", "d": "3"}
    out, _ = await run("rollback", scripted(tries, dict.fromkeys("abc", "1")), parallel=parallel)
    assert [t["text"] for t in out["tree"].values() if t["depth"] == 1] == ["a", "b", "c", "d"]
    last = max(out["tree"].values(), key=lambda thought: thought.get("beta", 0))
    assert out["answer"] == "3"
    assert (last["beta"], last["value"]) == (3, 4.0)


@pytest.mark.parametrize(
    ("settings", "reply", "reason"),
    [
        ({"solutions": 2}, walker(3, ends=0.5, bad=1.0), "finished"),
        ({}, walker(3, ends=0.5, bad=0.0), "exhausted"),
        ({"limit_requests": 2}, walker(3, ends=0.0, bad=0.0), "budget"),
        ({"limit_thoughts": 2}, walker(3, ends=0.0, bad=0.0), "budget"),
        ({"limit_rounds": 2}, walker(3, ends=0.0, bad=0.0), "round_limit"),
        ({"limit_depth": 2}, walker(3, ends=0.0, bad=0.0), "exhausted"),
    ],
)
@MODES
async def test_why_a_search_ends(settings: Any, reply: Reply, reason: str, parallel: bool) -> None:
    out, seen = await run("rollback", reply, parallel=parallel, **settings)
    assert out["stop_reason"] == reason
    assert len(seen) <= settings.get("limit_requests", len(seen))
    assert len(out["tree"]) - 1 <= settings.get("limit_thoughts", len(out["tree"]))


@pytest.mark.parametrize("places", [1, 2, 3])
async def test_few_places_are_enough_for_nodes_side_by_side(places: int) -> None:
    model = ScriptedChat(reply=single(walker(3, ends=0.1, bad=0.9)))
    graph = tg.build("rollback", task=STEPPING, model=model, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}, "max_concurrency": places}
    async with asyncio.timeout(60):
        out = await graph.ainvoke({"problem": PROBLEM}, config, context={"steps": 4})
    assert out["stop_reason"] == "finished" and model.peak <= places


ANY = 100_000
"""So many different solutions that no two are alike."""


@pytest.mark.parametrize("pool", POOLS)
@MODES
async def test_what_holds_for_every_search(pool: range, parallel: bool) -> None:
    for seed in pool:
        reply, settings = drawn(seed)
        reply = single(reply)
        out, seen = await run("rollback", reply, parallel=parallel, **settings)
        check_structure(out, settings, parallel=parallel)
        check_counts(out, seen, settings)


def check_structure(out: Any, settings: dict[str, Any], *, parallel: bool) -> None:
    tree = out["tree"]
    led = Counter(t["rollback"]["to"] for t in tree.values() if "rollback" in t)
    assert all(count <= settings["incoming"] for count in led.values()), "P24"
    for key, thought in tree.items():
        assert alpha(tree, key) <= settings["path_rollbacks"] + 1, "P24"
        assert thought["depth"] <= settings["steps"]
        assert key == "0" or int(thought["parent"]) < int(key), "P26: a tree without the rollbacks"
        if "rollback" not in thought:
            continue
        edge, line = thought["rollback"], path_ids(tree, key)
        assert edge["to"] in line[:-1], "P26: back to a proper ancestor"
        assert edge["to"] == line[edge["step"] - 1], "P28"
        assert edge["step"] in thought["bad"], "P28"
        for earlier in thought["bad"]:
            if earlier < edge["step"]:
                assert led[line[earlier - 1]] == settings["incoming"], "P28: the first admissible"
    made = sum("caused_by" in thought for thought in tree.values())
    backs = led.total()
    if out["stop_reason"] == "exhausted":
        assert made == backs, "P27"
    assert made <= backs, "P27"
    assert parallel or made >= backs - 1, "P27: one at most is pending"
    assert len(out["candidates"]) <= settings["solutions"], "P29"


def check_counts(out: Any, seen: list[Call], settings: dict[str, Any]) -> None:
    roles = Counter(call.role for call in seen)
    thoughts = len(out["tree"]) - 1
    assert roles["generate"] == thoughts, "P25"
    assert roles["analyse"] <= thoughts, "P25"
    assert roles["extract_index"] <= roles["analyse"]
    usage = out["usage"]
    assert usage["requests"] == usage["samples"] == len(seen) <= settings["limit_requests"], "P2"
    assert usage.get("analyses", 0) == roles["analyse"]
    assert usage.get("rollbacks", 0) == sum("rollback" in t for t in out["tree"].values())
    assert {role: n["requests"] for role, n in usage.get("roles", {}).items()} == roles, "P2"


def thoughts(out: Any) -> list[tuple[Any, ...]]:
    return [row[:3] for row in shape(out["tree"])]


@pytest.mark.parametrize("pool", POOLS)
async def test_without_errors_it_is_the_chain(pool: range) -> None:
    for seed in pool:
        calm = walker(seed, ends=0.2, bad=0.0)
        blocked = walker(seed, ends=0.2, bad=1.0)
        given = {"steps": 4, "shots": random.Random(seed).randint(0, 2)}
        chain, _ = await run("chain", calm, **given)
        for parallel in (True, False):
            for reply, more, name in ((calm, {}, "P23"), (blocked, {"incoming": 0}, "P32")):
                out, seen = await run("rollback", reply, parallel=parallel, **given, **more)
                assert thoughts(out) == thoughts(chain), name
                assert (out["answer"], len(out["candidates"])) == (chain["answer"], 1), name
                assert len(seen) == 3 * len(thoughts(chain)), f"{name}: analyses are made"


VOTES = ["last", "majority", "ratio", "difference"]
"""The ensembles that do not end a search early."""
UNLIMITED = {"solutions": 1000, "incoming": 1000, "limit_requests": 150}
"""Without U a structure either stays small or grows for ever: the latter is not compared."""


def prompts(seen: list[Call]) -> Counter[str]:
    return Counter(call.prompt for call in seen if call.role == "generate")


def weights(out: Any) -> list[tuple[Any, ...]]:
    """What each solution's vote is worth, and of which counts, as a multiset by path."""
    ends = [(key, t) for key, t in out["tree"].items() if t["status"] == "terminal"]
    return sorted(
        (tuple(texts(path_to(out["tree"], key))), t["alpha"], t["beta"], t["value"])
        for key, t in ends
    )


@pytest.mark.parametrize("pool", POOLS)
async def test_both_ways_of_growing_show_the_same_prompts_and_weigh_alike(pool: range) -> None:
    """As a set, without U and K, where `exhausted` and without `drop_paths`."""
    compared = 0
    for seed in pool:
        draws = random.Random(f"parity {seed}")
        ends, bad = draws.choice([0.4, 0.6]), draws.choice([0.5, 0.7])
        reply = single(walker(seed, ends=ends, bad=bad, values=draws.choice([3, ANY])))
        settings = {**drawn(seed)[1], **UNLIMITED, "path_rollbacks": draws.randint(0, 3)}
        settings |= {"steps": draws.choice([3, 4, 5]), "ensemble": draws.choice(VOTES)}
        alone, one_by_one = await run("rollback", reply, parallel=False, **settings)
        if alone["stop_reason"] != "exhausted":
            continue
        together, at_once = await run("rollback", reply, parallel=True, **settings)
        assert together["stop_reason"] == "exhausted"
        assert paths(together["tree"]) == paths(alone["tree"])
        assert prompts(at_once) == prompts(one_by_one)
        assert weights(together) == weights(alone)
        assert together["candidates"] == alone["candidates"], "in the order of one path at a time"
        assert together["answer"] == alone["answer"]
        compared += alone["usage"]["rollbacks"] > 0
    assert compared > len(pool) / 8
