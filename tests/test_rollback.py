"""Thought Rollback: searches solved by hand, why they end, what a model is asked."""

from typing import Any

import pytest
from support import letters
from support.scripted import Call, Reply
from support.stepping import (
    MARKER,
    PROBLEM,
    mistaken,
    paths,
    run,
    scripted,
    shape,
    walker,
)

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.exchange import Draw
from thoughtgraph.nodes.rollback.paths import alpha, beta

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


async def test_the_same_rollback_in_parallel() -> None:
    out, _ = await run("rollback", WORKED)
    alone, _ = await run("rollback", WORKED, parallel=False)
    assert paths(out["tree"]) == paths(alone["tree"])
    assert out["usage"]["levels"] < alone["usage"]["levels"]


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


async def test_the_first_solution_is_that_of_the_corrected_path() -> None:
    for parallel in (True, False):
        settings = {"parallel": parallel}
        out, seen = await letters.run("rollback", "gsm8k", mistaken, "4 + 9?", **settings)
        assert (out["answer"], out["candidates"][1]) == ("13", "14")
        early, fewer = await letters.run(
            "rollback", "gsm8k", mistaken, "4 + 9?", ensemble="first", **settings
        )
        assert early["answer"] == "13", "a solution that another may still precede settles nothing"
        assert len(fewer) < len(seen)
    out, _ = await letters.run("chain", "gsm8k", mistaken, "4 + 9?")
    assert out["answer"] == "14"


@pytest.mark.parametrize(
    ("settings", "reply", "reason"),
    [
        ({"solutions": 2}, walker(3, ends=0.5, bad=1.0), "finished"),
        ({"solutions": 1}, walker(3, ends=0.5, bad=0.0), "finished"),
        ({}, walker(3, ends=0.5, bad=0.0), "exhausted"),
        ({"limit_requests": 2}, walker(3, ends=0.0, bad=0.0), "budget"),
        ({"limit_requests": 0}, walker(3, ends=0.0, bad=0.0), "budget"),
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


@MODES
async def test_a_failing_endpoint_ends_the_search_with_the_best_answer_so_far(
    parallel: bool,
) -> None:
    def fails(call: Call) -> str:
        if call.role == "extract_index":
            return "Bad step index: 1"
        if call.role == "generate" and call.draw is not None and call.draw[2] == 1:
            raise ModelError("the endpoint is gone")
        return f"{MARKER} 5"

    with pytest.raises(ModelError, match="gone") as failed:
        await run("rollback", fails, parallel=parallel)
    out = failed.value.result
    assert out is not None and (out["stop_reason"], out["answer"]) == ("error", "5")
    assert set(out["ensembles"]) and out["error"] == str(failed.value)
