"""Every method keeps to the limit on thoughts, says so, and asks for nothing once it is reached."""

from typing import Any, NamedTuple

import pytest
from acting import Errand, Odds
from acting import walker as actor
from climbing import Climbing
from players import play
from scripted import Call, Reply, ScriptedChat
from stepping import Stepping
from stepping import walker as stepper

import thoughtgraph as tg
from thoughtgraph import registry


class Case(NamedTuple):
    """A search that needs several thoughts: task, model, problem and what the graph is told."""

    task: Any
    reply: Reply
    problem: str
    context: dict[str, Any]
    oracle: Any = False


async def never(answer: str) -> bool:
    return False


def game(context: dict[str, Any], oracle: Any = False) -> Case:
    return Case("game24", play_call, "4 9 10 13", context, oracle)


def play_call(call: Call) -> str:
    seen: Any = call
    return play(seen)


def steps(context: dict[str, Any]) -> Case:
    return Case(Stepping(), stepper(1, ends=0.0, bad=0.3), "x", {"steps": 12, **context})


def plans(context: dict[str, Any]) -> Case:
    return Case(Climbing(), lambda call: "+1\n+1\noops", "30", {"branches": 3, **context})


def errand(context: dict[str, Any], oracle: Any = False) -> Case:
    return Case(Errand(), actor(5, Odds(finish=0.0)), "a", context, oracle)


CASES = {
    "io": game({"n_generate": 9}),
    "cot": game({"n_generate": 9}),
    "cot_sc": game({"n_generate": 9}),
    "refine": game({}, never),
    "tot_bfs": game({}),
    "tot_dfs": game({"outputs": 0}),
    "tomt_one_stop": plans({"max_calls": 30, "branches": 30}),
    "tomt_tot": plans({}),
    "tomt_os": plans({}),
    "tomt_block": plans({}),
    "rollback": steps({}),
    "chain": steps({}),
    "level_tot": steps({}),
    "react": errand({"max_steps": 12}),
    "reflexion": errand({"max_steps": 12}, never),
    "itot_a_star": errand({}),
    "itot_d_star_lite": errand({}),
    "itot_best_first": errand({}),
    "itot_dfs": errand({}),
    "fgdip": errand({}),
}


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
    assert enough["stop_reason"] == "solved", "a limit that forbids nothing ends nothing"


async def test_states_whose_children_could_not_be_kept_are_not_expanded() -> None:
    out, _, _ = await search("tot_bfs", limit_thoughts=7)
    first = out["usage"]["roles"]["generate"]["requests"]
    assert first == 2, "the root and one of five states: only one child is still allowed"
