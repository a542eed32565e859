"""Algorithm 2 of Tree of Thoughts: hand-solved cases and properties P17 to P22 of the design."""

from typing import Any

import pytest
from support.letters import BAD, LETTERS, depth_first, die, run, steps
from support.pools import POOLS
from support.scripted import Call

import thoughtgraph as tg
from thoughtgraph.graphs.tot_dfs import visited

BY_HAND = {
    **{"next|x|": "a\nbb", "next|x|b": "c\nd!\n!", "next|x|a": "c"},
    **{"value|x|b": "3", "value|x|a": "3"},
    **{"value|x|bc": "0", "value|x|bd": "1", "value|x|ac": "4"},
}


async def test_a_search_by_hand() -> None:
    context = {"steps": 2, "threshold": 2.0, "n_evaluate": 1, "proposal_samples": 1}
    walk = []
    out: Any = {}
    async for names, state in steps("tot_dfs", lambda c: BY_HAND[c.prompt], **context):
        walk += names
        out = state
    rows = [
        (t["id"], t["parent"], t["text"], t.get("value"), t["status"], t.get("visit"))
        for t in out["tree"].values()
    ]
    assert rows == [
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
        *("backtrack", "select"),
        *("evaluate", "select"),  # a
        *("generate", "select"),
        *("evaluate", "select"),  # ac
        "answer",
    ]


@pytest.mark.parametrize("pool", POOLS)
async def test_what_holds_for_every_search(pool: range) -> None:
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
