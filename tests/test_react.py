"""ReAct and Reflexion: hand-solved trajectories, the drawn graphs, limits, hostile text."""

from functools import cache
from typing import Any, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.acting import Errand, Odds, Walk, by_prompt, walker
from support.letters import HOSTILE, comparable, edges
from support.pools import POOLS
from support.scripted import Call, Reply, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.building import Graph

METHODS = ("react", "reflexion")


@cache
def built(method: str) -> tuple[Graph, ScriptedChat, Errand]:
    model, task = ScriptedChat(reply=lambda call: ""), Errand()
    return tg.build(method, task=task, model=model, oracle=method == "reflexion"), model, task


async def run(method: str, reply: Reply, problem: str = "a", **context: Any) -> Any:
    graph, model, task = built(method)
    model.reply, model.seen, task.walk = reply, [], Walk()
    return await graph.ainvoke({"problem": problem}, context=context or None)


def steps(out: Any, trial: int = 0) -> list[tuple[Any, ...]]:
    """The steps of one trial: texts and what was observed."""
    first = tg.children_of(out["tree"], "0")[trial]["id"]
    below = [t for t in out["tree"].values() if int(t["id"]) >= int(first)]
    chain = [below[0]]
    for thought in below[1:]:
        if thought["parent"] == chain[-1]["id"]:
            chain.append(thought)
    return [(t["text"], t["observation"]) for t in chain]


REACT = {
    ("start", "start"),
    ("start", "generate"),
    ("generate", "call_tool"),
    ("generate", "act"),  # a thought without an action
    ("generate", "generate"),  # an action that cannot be read
    ("generate", "answer"),
    ("act", "call_tool"),
    ("act", "generate"),
    ("act", "answer"),
    ("call_tool", "generate"),
    ("call_tool", "answer"),
    ("answer", "end"),
}
REFLEXION = REACT - {("call_tool", "answer")} | {
    ("generate", "check"),  # the step limit
    ("act", "check"),
    ("call_tool", "check"),
    ("check", "reflect"),
    ("check", "answer"),
    ("reflect", "generate"),
    ("reflect", "answer"),
}


async def test_the_drawn_graphs() -> None:
    assert edges("react", Errand()) == REACT
    graph, _, _ = built("reflexion")
    drawn = graph.get_graph().edges
    assert {(e.source.strip("_"), e.target.strip("_")) for e in drawn} == REFLEXION


async def test_a_trajectory_by_hand() -> None:
    lines = {
        ("generate", "0"): "first>Go[a]",
        ("generate", "1"): "lost",  # no action: asked for alone
        ("act", "1"): "Go[b!]",
        ("generate", "2"): "odd>Fly to c",  # an action that cannot be read
        ("generate", "3"): "done>Finish[the end]",
    }

    def reply(call: Call) -> str:
        assert call.draw is not None
        return lines[call.role, call.draw[1]]

    out = await run("react", reply)
    assert [(t["text"], t["failed"]) for t in list(out["tree"].values())[1:]] == [
        ("first", False),
        ("lost", True),
        ("odd", True),
        ("done", False),
    ]
    assert out["tree"]["3"]["observation"].startswith("Invalid action: Fly to c")
    assert (out["answer"], out["stop_reason"]) == ("the end", "finished")
    usage = out["usage"]
    assert usage["parse_errors"] == {"generate": 2}
    assert (usage["requests"], usage["tool_cost"], usage["tool_cost_path"]) == (5, 2.0, 2.0)
    assert usage["tool_calls"] == {"Go": 2, "Finish": 1}


async def test_the_model_is_shown_every_step_so_far() -> None:
    await run(
        "react", by_prompt({"Go[b]": "end>Finish[x]", "Go[a]": "s>Go[b]", "react": "s>Go[a]"})
    )
    _, model, _ = built("react")
    assert model.seen[2].prompt.split("\n")[1:3] == ["s>Go[a]=been a", "s>Go[b]=been a b"]
    assert model.seen[0].stop == ["\nObservation"]


async def test_no_answer_within_the_steps() -> None:
    out = await run("react", lambda call: "on>Go[a]")
    assert (out["answer"], out["stop_reason"], out["usage"]["requests"]) == (None, "step_limit", 7)


async def test_a_second_trial_knows_the_lesson_of_the_first() -> None:
    def reply(call: Call) -> str:
        if call.role == "reflect":
            return "look\nelsewhere"
        return "again>Finish[a]" if "lesson look elsewhere" in call.prompt else "sure>Finish[b]"

    out = await run("reflexion", reply)
    assert (out["answer"], out["stop_reason"], out["oracle"]) == ("a", "verified", True)
    first, second = tg.children_of(out["tree"], "0")
    assert (first["note"], first["lesson"]) == ("the oracle says wrong", "look elsewhere")
    assert second["shown"] == {"lessons": [first["id"]]}
    assert second["note"] == "the oracle says right"


async def test_a_right_answer_is_not_reflected_on() -> None:
    out = await run("reflexion", lambda call: "sure>Finish[a]", trials=5)
    assert (out["usage"]["requests"], out["stop_reason"]) == (1, "verified")


async def test_trials_end_with_the_last_answer() -> None:
    out = await run("reflexion", lambda call: "sure>Finish[b]", trials=3)
    assert (out["answer"], out["stop_reason"]) == ("b", "round_limit")
    assert out["usage"]["roles"]["reflect"]["requests"] == 2


async def test_reflexion_needs_to_be_told() -> None:
    # Its task has an exact check, which a run may ask for yet.
    graph = tg.build("reflexion", task=Errand(), model=ScriptedChat(reply=lambda call: ""))
    with pytest.raises(tg.CapabilityError, match="oracle"):
        await graph.ainvoke({"problem": "x"})


@pytest.mark.parametrize("seeds", POOLS)
async def test_p53_one_trial_is_react(seeds: range) -> None:
    for seed in seeds:
        reply, limit = walker(seed, Odds(lost=0.2)), cast("dict[str, Any]", {"max_steps": 4})
        single = await run("react", reply, **limit)
        trial = await run("reflexion", reply, trials=1, **limit)
        assert steps(single) == steps(trial)
        assert single["answer"] == trial["answer"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seeds", POOLS)
async def test_p1_p2_the_same_again_and_counted_as_the_model_counts(
    seeds: range, method: str
) -> None:
    for seed in seeds:
        reply = walker(seed, Odds(lost=0.2))
        first = await run(method, reply)
        seen = list(built(method)[1].seen)
        assert comparable(first) == comparable(await run(method, reply))
        assert first["usage"]["requests"] == len(seen)
        assert first["usage"]["samples"] == sum(call.n for call in seen)


@pytest.mark.parametrize("method", METHODS)
async def test_p4_interrupted_anywhere_it_ends_the_same(method: str) -> None:
    for seed in range(3):
        reply = walker(seed, Odds(lost=0.2))
        whole = comparable(await run(method, reply))
        saver = InMemorySaver()
        given: Any = {"problem": "a"}
        config: Any = {"configurable": {"thread_id": "1"}}
        while True:
            graph = tg.build(
                method,
                task=Errand(),
                model=ScriptedChat(reply=reply),
                oracle=method == "reflexion",
                checkpointer=saver,
            )
            out = await graph.ainvoke(given, config, interrupt_after="*")
            if not (await graph.aget_state(config)).next:
                break
            given = None
        assert comparable(out) == whole


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("method", METHODS)
async def test_p3_a_hostile_model_never_raises(method: str, text: str) -> None:
    out = await run(method, lambda call: text)
    assert (out["answer"], out["error"]) == (None, "")
    assert out["usage"]["parse_errors"]["generate"] > 0


@pytest.mark.parametrize("allowed", range(6))
@pytest.mark.parametrize("method", METHODS)
async def test_the_request_limit_is_never_passed(method: str, allowed: int) -> None:
    out = await run(method, lambda call: "on>Go[a]", limit_requests=allowed)
    assert len(built(method)[1].seen) == out["usage"]["requests"] == allowed
    assert (out["answer"], out["stop_reason"]) == (None, "budget")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("limit", "reason"),
    [({"limit_thoughts": 3}, "budget"), ({"limit_depth": 3}, "step_limit")],
)
async def test_other_limits_end_the_run_with_their_reason(
    method: str, limit: dict[str, Any], reason: str
) -> None:
    out = await run(method, lambda call: "on>Go[a]", **limit)
    assert (len(out["tree"]), out["stop_reason"]) == (4, reason)
