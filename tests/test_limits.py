"""Every method keeps to the limit on thoughts, says so, and asks for nothing once it is reached."""

import asyncio
import time
from typing import Any

import pytest
from support.acting import Errand, Walk
from support.scripted import ScriptedChat
from support.searches import CASES

import thoughtgraph as tg
from thoughtgraph import registry


def test_every_method_is_here() -> None:
    assert set(CASES) == set(registry.METHODS)


async def search(method: str, **limits: Any) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """One search: its result, the usage after each superstep, and the requests it sent."""
    case = CASES[method]
    model = ScriptedChat(reply=case.reply)
    graph = tg.build(method, task=case.task, model=model, oracle=case.oracle)
    out: dict[str, Any] = {}
    spent: list[dict[str, Any]] = []
    async for out in graph.astream(
        {"problem": case.problem}, context={**case.context, **limits}, stream_mode="values"
    ):
        spent.append(out.get("usage", {}))
    return out, spent, len(model.seen)


@pytest.mark.parametrize("limit", [0, 1, 5])
@pytest.mark.parametrize("method", CASES)
async def test_the_limit_on_thoughts_ends_the_search_at_once(method: str, limit: int) -> None:
    out, spent, sent = await search(method, limit_thoughts=limit)
    assert out["stop_reason"] == "budget"
    assert len(out["tree"]) - 1 == out["usage"]["thoughts"] <= limit
    then = [usage.get("requests", 0) for usage in spent if usage.get("thoughts", 0) >= limit]
    assert sent <= (then[0] if then else sent), "nothing is asked once the limit is reached"
    assert sent or not limit


@pytest.mark.parametrize("method", ["io", "cot", "cot_sc"])
async def test_samples_that_could_not_be_kept_are_not_paid_for(method: str) -> None:
    out, _, _ = await search(method, limit_thoughts=4)
    assert out["usage"]["samples"] == 4
    assert len(out["candidates"]) == 4
    enough, _, _ = await search(method, limit_thoughts=9)
    assert enough["stop_reason"] == "finished", "a limit that forbids nothing ends nothing"


async def test_states_whose_children_could_not_be_kept_are_not_expanded() -> None:
    out, _, _ = await search("tot_bfs", limit_thoughts=7)
    first = out["usage"]["roles"]["generate"]["requests"]
    assert first == 2, "the root and one of five states: only one child is still allowed"


COUNTERS = {
    "requests": int,
    "calls": int,
    "samples": int,
    "prompt_tokens": int,
    "completion_tokens": int,
    "cached": int,
    "thoughts": int,
    "evaluated": int,
    "reasoning_steps": int,
    "rounds": int,
    "expansions": int,
    "reexpansions": int,
    "rollbacks": int,
    "analyses": int,
    "tool_calls": dict,
    "tool_failures": dict,
    "tool_cost": float,
    "tool_cost_path": float,
    "parse_errors": dict,
}
"""What every method reports, used or not."""


@pytest.mark.parametrize("method", CASES)
async def test_every_method_reports_every_counter(method: str) -> None:
    out, _, sent = await search(method, limit_thoughts=3)
    usage = out["usage"]
    assert {name: type(usage[name]) for name in COUNTERS} == COUNTERS
    assert usage["requests"] == sent
    assert usage["thoughts"] == len(out["tree"]) - 1
    assert sum(role["requests"] for role in usage["roles"].values()) == sent
    assert bool(usage["reasoning_steps"]) == (out["answer"] is not None)


async def test_the_path_to_the_answer_is_counted() -> None:
    out, _, _ = await search("tot_bfs")
    assert out["stop_reason"] == "finished"
    assert out["usage"]["reasoning_steps"] == 4, "three equations and the answer"


GRACE = 5.0
"""Seconds that Ctrl-C waits for answers on their way: a limit on seconds waits no longer."""


@pytest.mark.parametrize("answered", [0, 1, 6])
@pytest.mark.parametrize("method", CASES)
async def test_the_limit_on_seconds_cancels_what_is_in_flight(method: str, answered: int) -> None:
    case = CASES[method]
    model = ScriptedChat(reply=case.reply)
    model.delay = lambda call: 0.0 if len(model.seen) <= answered else 600.0
    graph = tg.build(method, task=case.task, model=model, oracle=case.oracle)
    context = {**case.context, "limit_seconds": 0.5}
    began = time.monotonic()
    async with asyncio.timeout(60):
        out = await graph.ainvoke({"problem": case.problem}, context=context)
    if len(model.seen) <= answered:
        assert out["stop_reason"] != "budget", "a limit that was not reached ends nothing"
        return
    assert (out["stop_reason"], out["error"]) == ("budget", "")
    assert out["usage"]["requests"] == answered, "what was answered is kept"
    assert 0.5 <= out["usage"]["seconds"] < 0.5 + GRACE
    assert time.monotonic() - began < 30.0, "600 seconds would have been waited for"


class Stuck(Walk):
    """Tools of which every call takes for ever."""

    async def call(self, name: str, argument: str, state: Any) -> Any:
        await asyncio.sleep(600.0)


@pytest.mark.parametrize(
    "method", ["react", "reflexion", "itot_a_star", "itot_d_star_lite", "fgdip"]
)
async def test_the_limit_on_seconds_cancels_tools_as_well(method: str) -> None:
    case = CASES[method]
    model = ScriptedChat(reply=case.reply)
    graph = tg.build(method, task=Errand(Stuck()), model=model, oracle=case.oracle)
    async with asyncio.timeout(60):
        out = await graph.ainvoke(
            {"problem": case.problem}, context={**case.context, "limit_seconds": 0.5}
        )
    assert (out["stop_reason"], out["error"]) == ("budget", "")
    assert 0.5 <= out["usage"]["seconds"] < 0.5 + GRACE
    assert not out["usage"]["tool_calls"], "a call without an answer is none"
