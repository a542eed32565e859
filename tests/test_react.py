"""ReAct and Reflexion: hand-solved trajectories."""

import pytest
from support.acting import Errand, run
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg


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
    steps = [(t["text"], t["failed"]) for t in list(out["tree"].values())[1:]]
    assert steps == [("first", False), ("lost", True), ("odd", True), ("done", False)]
    assert out["tree"]["3"]["observation"].startswith("Invalid action: Fly to c")
    assert (out["answer"], out["stop_reason"]) == ("the end", "finished")
    usage = out["usage"]
    assert usage["parse_errors"] == {"generate": 2}
    assert (usage["requests"], usage["tool_cost"], usage["tool_cost_path"]) == (5, 2.0, 2.0)
    assert usage["tool_calls"] == {"Go": 2, "Finish": 1}


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


@pytest.mark.parametrize(
    ("trials", "said", "reason", "reflected"), [(5, "a", "verified", 0), (3, "b", "round_limit", 2)]
)
async def test_trials_end_with_a_right_answer_or_the_last(
    trials: int, said: str, reason: str, reflected: int
) -> None:
    out = await run("reflexion", lambda call: f"sure>Finish[{said}]", trials=trials)
    assert (out["answer"], out["stop_reason"]) == (said, reason)
    roles = {role: spent["requests"] for role, spent in out["usage"]["roles"].items()}
    assert roles == {"generate": reflected + 1, **({"reflect": reflected} if reflected else {})}


async def test_reflexion_needs_to_be_told() -> None:
    # Its task has an exact check, which a run may ask for yet.
    graph = tg.build("reflexion", task=Errand(), model=ScriptedChat(reply=lambda call: ""))
    with pytest.raises(tg.CapabilityError, match="oracle"):
        await graph.ainvoke({"problem": "x"})
