"""Informed Tree of Thought: hand-solved searches."""

from collections.abc import Callable
from typing import Any

import pytest
from support.acting import Errand, Odds, Walk, run, walker
from support.informed import A_STAR, D_STAR, pops, states, waiting
from support.scripted import Call, ScriptedChat, rng

import thoughtgraph as tg

SCORES = {"a": 7, "b": 8, "c": 9, "d": 3, "end": 10}
SCRIPT = {("0", 0): ["a>Go[a]", "b>Go[b!]"], ("1", 0): ["c>Go[c]", "d>Go[d!]"]}


def last_step(call: Call) -> str:
    return call.prompt.rpartition("\n")[2]


def by_hand(call: Call) -> list[str]:
    if call.role == "generate":
        assert call.draw is not None
        return SCRIPT.get((call.draw[1], call.draw[2]), ["end>Finish[x]"] * call.n)
    return [f"Score: {SCORES[last_step(call).partition('>')[0]]}"]


def steps(*lines: str, score: str = "Score: 5") -> Callable[[Call], list[str]]:
    """The same steps whatever was done so far, and one score for all."""
    return lambda call: [*lines] if call.role == "generate" else [score]


async def test_the_worked_example_of_d_star_lite():
    trace = await states(D_STAR, by_hand, n_generate=2)
    # Before round 1's children, round 2's, round 3's entered the open set, and after.
    after = [
        {
            t["text"]: (t["cost"], t["priority"])
            for t in state["tree"].values()
            if t["id"] in waiting(state)
        }
        for names, state in trace
        if "select" in names and state["step"] > 1
    ]
    assert after[0] == {"a": (1, -6), "b": (2, -6), "": (1, -4)}
    assert after[1] == {"c": (2, -7), "b": (2, -6), "a": (2, -5), "": (2, -3), "d": (3, 0)}
    assert pops(trace) == [["0"], ["1"], ["3"], ["5"]]
    out = trace[-1][1]
    assert (out["answer"], out["stop_reason"]) == ("x", "finished")
    usage = out["usage"]
    assert (usage["tool_cost"], usage["tool_cost_path"]) == (4.0, 2.0)
    assert usage["tool_calls"] == {"Go": 4, "Finish": 1}
    assert usage["tool_failures"] == {"Go": 2}
    assert (usage["rounds"], usage["expansions"], usage["evaluated"]) == (4, 3, 5)


@pytest.mark.parametrize(
    ("context", "costs"),
    [({}, [2.0, 2.0, 3.0, 3.0]), ({"sibling_base": "snapshot"}, [2.0, 1.0, 2.0, 1.0])],
)
async def test_a_child_begins_where_its_elder_siblings_failures_left_its_parent(context, costs):
    """Algorithm 2 as printed: line 16 raises the V_g(s) that line 17 adds to, one child by one."""
    reply = steps("a>Go[a!]", "b>Go[b]", "c>Go[c!]", "d>Go[d]")
    out = await run(D_STAR, reply, n_generate=4, rounds=1, **context)
    assert [out["tree"][key]["cost"] for key in "1234"] == costs
    assert out["tree"]["0"]["cost"] == 2.0


@pytest.mark.parametrize("method", [A_STAR, D_STAR])
async def test_an_action_that_calls_no_tool_is_no_cheaper_than_one_that_fails(method):
    # As printed, a child also pays for the failures of those before it, whatever it is itself.
    apart: Any = {"sibling_base": "snapshot"} if method == D_STAR else {}
    for action in ("", "Fly[a]", "Go", "Go[]"):
        reply = steps(f"odd>{action}", "try>Ride[b!]", "go>Ride[c]")
        trace = await states(method, reply, n_generate=3, rounds=2, **apart)
        tree, usage = trace[-1][1]["tree"], trace[-1][1]["usage"]
        odd, failed = tree["1"], tree["2"]
        assert (odd["price"], odd["invalid"], failed["failed"]) == (0.0, True, True)
        assert odd["cost"] >= failed["cost"] >= 2
        assert pops(trace)[1] == ["3" if method == D_STAR else "1"], "of equal ones the oldest"
        assert usage["tool_cost"] == 2.0 * sum(usage["tool_calls"].values()), "it was not paid for"


async def test_a_score_that_cannot_be_read_is_the_lowest():
    def reply(call: Call) -> list[str]:
        step = f"s>Go[{rng(call.draw).random()}]"
        return [step] * call.n if call.role == "generate" else ["dear me"]

    out = await run(A_STAR, reply, rounds=2, n_generate=2)
    assert [t.get("value") for t in out["tree"].values()] == [None, 1.0, 1.0]
    assert out["usage"]["parse_errors"] == {"value": 2}


async def test_an_expansion_keeps_distinct_steps_and_a_second_one_adds_new_ones_only():
    samples = [["s>Go[x!]", "s>Go[x!]", "s>Go[y]"], ["s>Go[y]", "s>Go[z]", "s>Go[x!]"]]

    def reply(call: Call) -> list[str]:
        if call.role == "value":
            return ["Score: 1"]
        assert call.draw is not None
        return samples[call.draw[2]] if call.draw[1] == "0" else ["t>Go[far]"] * 3

    walk = Walk()
    out = await run(D_STAR, reply, walk, rounds=3, n_generate=3)
    below = [(t["action"] or {})["argument"] for t in tg.children_of(out["tree"], "0")]
    assert below == ["x!", "y", "z"]
    assert sum(argument in ("x!", "y", "z") for _, argument, _ in walk.called) == 3
    assert out["usage"]["reexpansions"] >= 1


async def test_without_reexpansion_ancestors_get_dearer_only():
    reply = walker(1, Odds(bad=0.6, finish=0.0))
    trace = await states(D_STAR, reply, reexpand=False, rounds=8, n_generate=3)
    taken = [key for batch in pops(trace) for key in batch]
    assert len(taken) == len(set(taken))
    assert "0" not in waiting(trace[-1][1])
    assert trace[-1][1]["tree"]["0"]["cost"] > 0


@pytest.mark.parametrize(
    ("context", "end"),
    [
        ({"rounds": 2, "fallback": "none"}, (None, "round_limit")),
        ({"rounds": 2, "fallback": "best_open_terminal"}, ("x", "round_limit")),
        ({"limit_requests": 4}, ("x", "budget")),
    ],
)
async def test_stopped_before_an_answer_is_taken_it_gives_nothing_or_its_best(context, end):
    def reply(call: Call) -> list[str]:
        if call.role == "value":
            return ["Score: 1" if "Finish" in last_step(call) else "Score: 9"]
        return ["on>Go[a]", "end>Finish[x]"]

    out = await run(A_STAR, reply, n_generate=2, **context)
    assert (out["answer"], out["stop_reason"]) == end


async def test_an_oracle_drops_wrong_answers():
    def reply(call: Call) -> list[str]:
        if call.role == "value":
            return ["Score: 9" if "no" in call.prompt else "Score: 2"]
        return ["no>Finish[b]", "yes>Finish[a]"]

    graph = tg.build(A_STAR, task=Errand(), model=ScriptedChat(reply=reply), oracle=True)
    out = await graph.ainvoke({"problem": "a"}, context={"n_generate": 2})
    assert (out["answer"], out["oracle"], out["usage"]["rounds"]) == ("a", True, 3)
    assert out["tree"]["1"]["note"] == "the oracle says wrong"
    blind = await run(A_STAR, reply, n_generate=2)
    assert (blind["answer"], blind["oracle"]) == ("b", False)
