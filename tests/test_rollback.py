"""Thought Rollback: searches solved by hand, why they end, what a model is asked."""

from collections import Counter
from typing import Any

import pytest
from support import letters
from support.scripted import Call, Reply
from support.stepping import (
    MARKER,
    PROBLEM,
    mistaken,
    run,
    scripted,
    shape,
    walker,
)

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.exchange import Draw
from thoughtgraph.nodes.rollback.paths import alpha, beta
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
async def test_a_path_is_not_credited_with_the_analysis_of_its_own_mistake(parallel: bool) -> None:
    """Section 4.2: a rollback is outgoing for the thought, incoming for the new path alone."""
    steps = {"": "a", "a": "b", "ab": "10", "a|ab": "c", "ac": "10", "|ac": "d", "d": "12"}
    reply = scripted(steps, {"ab": "2", "ac": "1"})
    out, _ = await run("rollback", reply, parallel=parallel)
    ends = {
        texts(path_to(out["tree"], key))[-2]: (t["answer"], t["alpha"], t["beta"], t["value"])
        for key, t in out["tree"].items()
        if t["status"] == "terminal"
    }
    assert ends == {"b": ("10", 1, 0, 0.5), "c": ("10", 1, 1, 1.0), "d": ("12", 0, 1, 2.0)}
    assert (out["answer"], out["ensembles"]["majority"]) == ("12", "10")


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


FORKED = scripted(
    {"": "a", "a": "b", "ab": "e", "abe": "f", "abef": "1", "a|ab": "d", "ad": "2"}, {"ab": "2"}
)
"""The chain a, b, e, f, whose step b is bad; warned of it, d follows a."""


@pytest.mark.parametrize(
    ("parallel", "drop_paths", "grown"),
    [
        (False, True, {"a", "b", "d"}),
        # Analysing b and reading the analysis takes two rounds, in which its path went on.
        (True, True, {"a", "b", "d", "e", "f"}),
        (False, False, {"a", "b", "d", "e", "f"}),
        (True, False, {"a", "b", "d", "e", "f"}),
    ],
)
async def test_a_dropped_path_is_grown_no_further(
    parallel: bool, drop_paths: bool, grown: set[str]
) -> None:
    settings: dict[str, Any] = {"parallel": parallel, "drop_paths": drop_paths}
    out, seen = await run("rollback", FORKED, path_rollbacks=0, **settings)
    kept = {f"{MARKER} 2"} if drop_paths else {f"{MARKER} 1", f"{MARKER} 2"}
    assert {thought["text"] for thought in out["tree"].values()} == {"", *grown, *kept}
    assert out["stop_reason"] == "exhausted"
    assert not any(call.role == "analyse" and "f\n</steps>" in call.prompt for call in seen)
    within, _ = await run("rollback", FORKED, path_rollbacks=1, **settings)
    assert f"{MARKER} 1" in {t["text"] for t in within["tree"].values()}, "one is within the limit"


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


@MODES
async def test_a_model_that_finds_everything_bad_ends(parallel: bool) -> None:
    always = walker(1, ends=0.3, bad=1.0)
    settings = {"steps": 6, "solutions": 1000, "limit_requests": None, "limit_rounds": None}
    out, _ = await run("rollback", always, parallel=parallel, **settings)
    assert out["stop_reason"] == "exhausted"
    into = Counter(t["rollback"]["to"] for t in out["tree"].values() if "rollback" in t)
    assert max(into.values()) == 3, "the published limits are reached, and not exceeded"
    assert max(alpha(out["tree"], key) for key in out["tree"]) <= 4
