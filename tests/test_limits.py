"""Every method keeps to its limits, says so, and asks for nothing once one is reached."""

import asyncio
from typing import Any

import pytest
from support.acting import Errand, Walk
from support.leaping import leaping
from support.searches import CASES, built

from thoughtgraph import registry


def test_every_method_is_here() -> None:
    assert set(CASES) == set(registry.METHODS)


async def search(method: str, **limits: Any) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """One search: its result, the usage after each superstep, and the requests it sent."""
    case = CASES[method]
    graph, model = built(case, method, checkpointer=None)
    out: dict[str, Any] = {}
    spent: list[dict[str, Any]] = []
    async for out in graph.astream(
        {"problem": case.problem}, context={**case.context, **limits}, stream_mode="values"
    ):
        spent.append(out.get("usage", {}))
    return out, spent, len(model.seen)


COUNTERS = {
    **dict.fromkeys(["requests", "calls", "samples", "prompt_tokens", "completion_tokens"], int),
    **dict.fromkeys(["cached", "thoughts", "evaluated", "reasoning_steps", "rounds"], int),
    **dict.fromkeys(["expansions", "reexpansions", "rollbacks", "analyses"], int),
    **dict.fromkeys(["tool_calls", "tool_failures", "parse_errors"], dict),
    **dict.fromkeys(["tool_cost", "tool_cost_path"], float),
}
"""What every method reports, used or not."""


@pytest.mark.parametrize("method", CASES)
async def test_the_limit_on_thoughts_ends_a_search_at_once_and_all_is_counted(method: str) -> None:
    for limit in (0, 1, 3, 5):
        out, spent, sent = await search(method, limit_thoughts=limit)
        usage = out["usage"]
        assert out["stop_reason"] == "budget"
        assert len(out["tree"]) - 1 == usage["thoughts"] <= limit
        then = [each.get("requests", 0) for each in spent if each.get("thoughts", 0) >= limit]
        assert sent <= (then[0] if then else sent), "nothing is asked once the limit is reached"
        assert sent or not limit
        assert {name: type(usage[name]) for name in COUNTERS} == COUNTERS
        assert usage["requests"] == sent
        assert sum(role["requests"] for role in usage["roles"].values()) == sent
        assert bool(usage["reasoning_steps"]) == (out["answer"] is not None)


@pytest.mark.parametrize("method", ["io", "cot", "cot_sc"])
async def test_samples_that_could_not_be_kept_are_not_paid_for(method: str) -> None:
    out, _, _ = await search(method, limit_thoughts=4)
    assert out["usage"]["samples"] == len(out["candidates"]) == 4
    enough, _, _ = await search(method, limit_thoughts=9)
    assert enough["stop_reason"] == "finished", "a limit that forbids nothing ends nothing"


async def test_states_whose_children_could_not_be_kept_are_not_expanded() -> None:
    out, _, _ = await search("tot_bfs", limit_thoughts=7)
    first = out["usage"]["roles"]["generate"]["requests"]
    assert first == 2, "the root and one of five states: only one child is still allowed"


async def test_the_path_to_the_answer_is_counted() -> None:
    out, _, _ = await search("tot_bfs")
    assert out["stop_reason"] == "finished"
    assert out["usage"]["reasoning_steps"] == 4, "three equations and the answer"


@pytest.mark.parametrize("method", CASES)
def test_the_limit_on_seconds_cancels_what_is_in_flight(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[method]
    for answered in (0, 1, 6):
        graph, model = built(case, method, checkpointer=None)
        model.delay = lambda call: 0.0 if len(model.seen) <= answered else 600.0  # noqa: B023
        search = graph.ainvoke({"problem": case.problem}, context={**case.context, **LIMIT})
        out = leaping(search, monkeypatch)
        if len(model.seen) <= answered:
            assert out["stop_reason"] != "budget", "a limit that was not reached ends nothing"
            continue
        assert (out["stop_reason"], out["error"]) == ("budget", "")
        assert out["usage"]["requests"] == answered, "what was answered is kept"
        assert 0.5 <= out["usage"]["seconds"] <= 0.502


LIMIT = {"limit_seconds": 0.5}


class Stuck(Walk):
    """Tools of which every call takes for ever."""

    async def call(self, name: str, argument: str, state: Any) -> Any:
        await asyncio.sleep(600.0)


@pytest.mark.parametrize(
    "method", ["react", "reflexion", "itot_a_star", "itot_d_star_lite", "fgdip"]
)
def test_the_limit_on_seconds_cancels_tools_as_well(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[method]._replace(task=Errand(Stuck()))
    graph, _ = built(case, method, checkpointer=None)
    search = graph.ainvoke({"problem": case.problem}, context={**case.context, **LIMIT})
    out = leaping(search, monkeypatch)
    assert (out["stop_reason"], out["error"]) == ("budget", "")
    assert 0.5 <= out["usage"]["seconds"] <= 0.502
    assert not out["usage"]["tool_calls"], "a call without an answer is none"


@pytest.mark.parametrize("method", CASES)
async def test_a_search_whose_time_is_up_before_it_asks_ends(method: str) -> None:
    """Else its router would send for the same request for ever."""
    async with asyncio.timeout(60):
        out, _, sent = await search(method, limit_seconds=1e-9)
    assert (out["stop_reason"], sent) == ("budget", 0)
