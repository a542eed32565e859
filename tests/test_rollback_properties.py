"""What holds for every search of Thought Rollback: properties P23 to P32 of the design."""

import random
from collections import Counter
from typing import Any

import pytest
from support.pools import POOLS
from support.scripted import Call
from support.stepping import drawn, paths, run, shape, single, walker

from thoughtgraph.nodes.rollback.paths import alpha, path_ids
from thoughtgraph.tree import path_to, texts

MODES = pytest.mark.parametrize("parallel", [True, False])
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
            out, seen = await run("rollback", calm, parallel=parallel, **given)
            assert thoughts(out) == thoughts(chain), "P23"
            assert (out["answer"], len(out["candidates"])) == (chain["answer"], 1), "P23"
            assert len(seen) == 3 * len(thoughts(chain)), "P23"
            out, seen = await run("rollback", blocked, parallel=parallel, incoming=0, **given)
            assert thoughts(out) == thoughts(chain), "P32"
            assert out["answer"] == chain["answer"], "P32"
            assert len(seen) == 3 * len(thoughts(chain)), "P32: analyses are made and counted"


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
