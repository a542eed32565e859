"""Algorithm 1 of Tree of Thoughts: hand-solved cases and the properties P9 to P16 of the design."""

import random
from typing import Any

import pytest
from support.letters import LETTERS, breadth_first, die, numbers_of, run, steps
from support.pools import POOLS
from support.scripted import Call

import thoughtgraph as tg
from thoughtgraph.nodes.select import draw_states


async def test_drawing_follows_the_values_and_is_uniform_without_any() -> None:
    tree: tg.Tree = {"1": {"value": 0.0}, "2": {"value": 3.0}, "3": {"value": 1.0}}
    often = draw_states(tree, list(tree), 4000, random.Random(1))
    assert often.count("1") == 0
    assert often.count("2") == pytest.approx(3000, rel=0.1)
    none: tg.Tree = {"1": {"value": 0.0}, "2": {"value": 0.0}}
    assert draw_states(none, list(none), 4000, random.Random(1)).count("1") == pytest.approx(
        2000, rel=0.1
    )


async def test_a_search_by_hand() -> None:
    answers = {
        **{"next|x|": "a\nb\nc", "next|x|b": "d\ne", "next|x|c": "d"},
        **{"value|x|a": "1", "value|x|b": "2", "value|x|c": "2"},
        **{"value|x|bd": "3", "value|x|be": "9", "value|x|cd": "9"},
    }
    settings = {"generate": "propose", "evaluate": "value", "n_evaluate": 1, "breadth": 2}
    out, _ = await run("tot_bfs", LETTERS, lambda call: answers[call.prompt], **settings)
    rows = [
        (t["id"], t["parent"], t["text"], t.get("value"), t["status"]) for t in out["tree"].values()
    ]
    assert rows == [
        ("0", None, "", None, "expanded"),
        ("1", "0", "a", 1.0, "pruned"),
        ("2", "0", "b", 2.0, "expanded"),
        ("3", "0", "c", 2.0, "expanded"),
        ("4", "2", "d", 3.0, "pruned"),
        ("5", "2", "e", 9.0, "terminal"),
        ("6", "3", "d", 9.0, "terminal"),
    ]
    assert (out["answer"], out["candidates"]) == ("be", ["be", "cd"])
    assert out["stop_reason"] == "finished"


@pytest.mark.parametrize("pool", POOLS)
async def test_what_holds_for_every_search(pool: range) -> None:
    for seed in pool:
        settings = breadth_first(seed)
        reached = 0
        async for names, state in steps("tot_bfs", die(seed), **settings):
            if "select" in names and state["step"] > reached:
                tree, reached = state["tree"], state["step"]
                level = [key for key in tree if tree[key]["depth"] == reached]
                check_selection(tree, level, state["frontier"], settings)


def check_selection(tree: tg.Tree, level: list[str], kept: list[str], settings: Any) -> None:
    assert len(kept) <= settings["breadth"], "P9"
    assert set(kept) <= set(level), "P9"
    values = [tree[key]["value"] for key in level]
    if settings["select"] == "greedy":
        ranked = sorted(range(len(level)), key=lambda at: (-values[at], at))
        assert kept == [level[at] for at in ranked[: settings["breadth"]]], "P10"
    if settings["evaluate"] == "vote":
        assert sum(values) <= settings["n_evaluate"], "P16"


async def test_a_duplicate_takes_no_place_of_a_candidate_with_a_value() -> None:
    values = {"value|x|a": "4", "value|x|b": "5", "value|x|c": "3", "value|x|d": "0"}

    def reply(lines: str) -> Any:
        return lambda call: lines if call.role == "generate" else values[call.prompt]

    settings = {"generate": "propose", "evaluate": "value", "n_evaluate": 1, "steps": 1}
    for breadth in (1, 2, 3, 4):
        once, _ = await run("tot_bfs", LETTERS, reply("a\nb\nc\nd"), **settings, breadth=breadth)
        for twice in ("a\nb\nb\nc\nd", "a\nb\nc\na\nd", "a\na\nb\nc\nd"):
            out, _ = await run("tot_bfs", LETTERS, reply(twice), **settings, breadth=breadth)
            lost = set(once["candidates"]) - set(out["candidates"])
            assert lost <= {"d"}, "P13: only a candidate of value 0 may make room"


async def test_a_thought_that_is_drawn_twice_bears_the_cost_of_both_expansions() -> None:
    for seed in range(5):
        settings = {"select": "sample", "steps": 3, "breadth": 3}
        out, _ = await run("tot_bfs", LETTERS, die(seed), **settings)
        roles = [role for each in out["tree"].values() for role in each.get("usage", {}).values()]
        assert sum(role["requests"] for role in roles) == out["usage"]["requests"]


async def test_the_official_order_lets_an_earlier_verdict_outrank_a_missing_answer() -> None:
    lines = {
        "4 9 10 13": "4 * 9 = 36 (left: 10 13 36)",
        "10 13 36": "36 - 10 = 26 (left: 13 26)",
        "13 26": "26 - 13 = 13 (left: 13)",
        "13": "13 = 13 (left: 13)",
    }

    def reply(call: Call) -> str:
        return lines[numbers_of(call)] if call.role == "generate" else "likely"

    for compat, value in ((True, 3.0), (False, 0.0)):
        context = {"repo_compat": compat, "strict_parse": False}
        out, _ = await run("tot_bfs", "game24", reply, "4 9 10 13", **context)
        assert out["tree"]["4"]["value"] == value
