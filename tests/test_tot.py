"""Tree of Thoughts, breadth first and depth first: by hand and properties."""

import random
from typing import Any

import pytest
from support.letters import BAD, LETTERS, breadth_first, depth_first, die, numbers_of, run, steps
from support.pools import POOLS
from support.scripted import Call

import thoughtgraph as tg
from thoughtgraph.graphs.tot_bfs import draw_states, selection
from thoughtgraph.nodes.families.depth_first import visited


async def test_drawing_follows_the_values_and_is_uniform_without_any() -> None:
    tree: tg.Tree = {"1": {"value": 0.0}, "2": {"value": 3.0}, "3": {"value": 1.0}}
    often = draw_states(tree, list(tree), 4000, random.Random(1))
    assert often.count("1") == 0
    assert often.count("2") == pytest.approx(3000, rel=0.1)
    none: tg.Tree = {"1": {"value": 0.0}, "2": {"value": 0.0}}
    assert draw_states(none, list(none), 4000, random.Random(1)).count("1") == pytest.approx(
        2000, rel=0.1
    )


def rows(out: Any, *fields: str) -> list[tuple[Any, ...]]:
    shown = ("id", "parent", "text", *fields)
    return [tuple(thought.get(field) for field in shown) for thought in out["tree"].values()]


async def test_a_search_by_hand() -> None:
    answers = {
        **{"next|x|": "a\nb\nc", "next|x|b": "d\ne", "next|x|c": "d"},
        **{"value|x|a": "1", "value|x|b": "2", "value|x|c": "2"},
        **{"value|x|bd": "3", "value|x|be": "9", "value|x|cd": "9"},
    }
    settings = {"generate": "propose", "evaluate": "value", "n_evaluate": 1, "breadth": 2}
    out, _ = await run("tot_bfs", LETTERS, lambda call: answers[call.prompt], **settings)
    assert rows(out, "value", "status") == [
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
                tree, reached = state["thoughts"], state["step"]
                level = [key for key in tree if tree[key]["depth"] == reached]
                check_selection(tree, level, selection(state), settings)


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


BY_HAND = {
    **{"next|x|": "a\nbb", "next|x|b": "c\nd!\n!", "next|x|a": "c"},
    **{"value|x|b": "3", "value|x|a": "3"},
    **{"value|x|bc": "0", "value|x|bd": "1", "value|x|ac": "4"},
}


async def test_a_depth_first_search_by_hand() -> None:
    context = {"steps": 2, "threshold": 2.0, "n_evaluate": 1, "proposal_samples": 1}
    walk = []
    out: Any = {}
    async for names, state in steps("tot_dfs", lambda c: BY_HAND[c.prompt], **context):
        walk += names
        out = state
    assert rows(out, "value", "status", "visit") == [
        ("0", None, "", None, "expanded", None),
        ("1", "0", "a", 3.0, "expanded", 4),
        ("2", "0", "b", 3.0, "expanded", 1),
        ("3", "2", "c", 0.0, "pruned", 3),
        ("4", "2", "d", 1.0, "pruned", 2),
        ("5", "2", "!", None, "pruned", None),
        ("6", "1", "c", 4.0, "terminal", 5),
    ]
    assert (out["answer"], out["candidates"], out["stop_reason"]) == ("ac", ["ac"], "finished")
    assert walk == [
        *("start", "generate", "select"),
        *("evaluate", "select"),  # b
        *("generate", "select"),
        *("evaluate", "select"),  # bd
        *("evaluate", "select"),  # bc
        *("backtrack", "evaluate", "select"),  # a
        *("generate", "select"),
        *("evaluate", "select"),  # ac
        "answer",
    ]


@pytest.mark.parametrize("pool", POOLS)
async def test_what_holds_for_every_depth_first_search(pool: range) -> None:
    for seed in pool:
        settings = depth_first(seed)
        out, seen = await run("tot_dfs", LETTERS, die(seed), **settings)
        judged = [call.prompt for call in seen if call.role == "value"]
        assert len(set(judged)) == len(judged), "a verdict is asked for once"
        records = visited(out["tree"].values())
        assert [t["visit"] for t in records] == list(range(1, len(records) + 1))
        visits = [t["id"] for t in records]
        assert visits == algorithm_2(out["tree"], settings), "P17, P18, P22: the recursion's"
        check_answer(out, settings)


def check_answer(out: Any, settings: Any) -> None:
    records = visited(out["tree"].values())
    passed = [t for t in records if t["status"] == "terminal"]
    if passed and settings["answer_from"] == "outputs":
        expected = passed[0]
    elif records:
        deepest = max(t["depth"] for t in records)
        expected = next(t for t in records if t["depth"] == deepest)
        assert len(out["candidates"]) == sum(t["depth"] == deepest for t in records)
    else:
        assert out["answer"] is None
        assert out["stop_reason"] in ("dead_end", "exhausted")
        return
    assert out["answer"] == "".join(t["text"] for t in tg.path_to(out["tree"], expected["id"])), (
        "P20"
    )


def algorithm_2(tree: tg.Tree, settings: Any) -> list[str]:
    """The visits of the paper's recursion over the thoughts and values that a run had."""
    visits: list[str] = []
    outputs: list[str] = []

    def full() -> bool:
        return len(visits) == settings["max_records"] or 0 < settings["outputs"] == len(outputs)

    def dfs(state: str, t: int) -> None:
        if t > settings["steps"]:
            outputs.append(state)
            return
        distinct = {child["text"]: child for child in reversed(tg.children_of(tree, state))}
        distinct.pop(BAD, None)
        order = sorted(distinct.values(), key=lambda c: (-c.get("score", 0), int(c["id"])))
        for child in order[: settings["max_per_state"]]:
            if full():
                return
            visits.append(child["id"])
            if child["value"] > settings["threshold"] or settings["variant"] == "no_prune":
                dfs(child["id"], t + 1)

    dfs("0", 1)
    return visits


@pytest.mark.parametrize(
    ("proposals", "settings", "answer", "reason"),
    [
        ({}, {"greedy_steps": 3}, "aaa", "finished"),
        ({"": "a\nbb\n!!!", "b": "!\n??", "!": "!\n??"}, {"repo_compat": False}, "!?", "dead_end"),
        ({"": "a\nbb\n!!!", "b": "!\n??", "!": "!\n??"}, {"repo_compat": True}, "b!", "dead_end"),
    ],
)
async def test_the_greedy_variant_follows_the_best_candidate_without_verdicts(
    proposals: dict[str, str], settings: Any, answer: str, reason: str
) -> None:
    """Whatever it overwrites (section 4.3); with `repo_compat` one that overwrites nothing."""

    def reply(call: Call) -> str:
        return proposals.get(call.prompt.removeprefix("next|x|"), "" if proposals else "a\nb")

    out, seen = await run("tot_dfs", LETTERS, reply, variant="no_backtrack", **settings)
    assert (out["answer"], out["stop_reason"]) == (answer, reason)
    assert {call.role for call in seen} == {"generate"}


async def test_equal_prompts_are_expanded_once_where_the_settings_say_so() -> None:
    def reply(call: Call) -> str:
        return "h1. adapt (certain)\nh2. worry (high)" if call.role == "generate" else "sure"

    for reuse in (True, False):
        clues = "\n".join("abcdefghij")
        context = {"reuse_proposals": reuse, "proposal_samples": 1}
        out, seen = await run("tot_dfs", "crosswords", reply, clues, **context)
        orders = [[t["text"][:2] for t in tg.path_to(out["tree"], k)] for k in out["tree"]]
        assert ["h1", "h2"] in orders
        assert ["h2", "h1"] in orders
        asked = [call.prompt for call in seen if call.role == "generate"]
        assert len(asked) - len(set(asked)) == (0 if reuse else 1)
