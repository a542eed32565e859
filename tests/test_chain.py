"""Chain Reasoning and level-greedy ToT Reasoning, the baselines of Thought Rollback."""

from typing import Any

import pytest
from support.scripted import Call
from support.stepping import MARKER, run, shape

from thoughtgraph.tasks.rollback_prompts import unlabelled


def steps_of(call: Call) -> list[str]:
    block = call.prompt.rpartition("<steps>\n")[2].partition("\n</steps>")[0]
    return [unlabelled(line) for line in block.split("\n")] if "<steps>\n" in call.prompt else []


def counting(call: Call) -> list[str] | str:
    """Every level has the steps 1 to n; a step's score is in `SCORES`, by its path."""
    if call.role == "score":
        return SCORES["".join(steps_of(call))]
    names = [str(at) for at in range(1, call.n + 1)]
    return [f"{MARKER} {name}" if len(steps_of(call)) == 2 else name for name in names]


SCORES = {
    **{"1": "Evaluation Score: 0.3", "2": "Evaluation Score: 0.9", "3": "nothing to say"},
    **{"21": "Evaluation Score: 0.4", "22": "evaluation score: .8", "23": "Evaluation Score: 0.8"},
    **{f"22{MARKER} {at}": f"Evaluation Score: 0.{at}" for at in (1, 2, 3)},
}


async def test_levels_by_hand() -> None:
    out, seen = await run("level_tot", counting, n_generate=3)
    kept = [t["text"] for t in out["tree"].values() if t["status"] != "pruned"]
    assert kept == ["", "2", "2", f"{MARKER} 3"]
    assert out["tree"]["3"]["value"] == 0.5, "a score that cannot be read"
    assert out["usage"]["parse_errors"] == {"score": 1}
    assert (out["answer"], out["stop_reason"], len(seen)) == ("3", "finished", 12)


@pytest.mark.parametrize(
    ("method", "settings", "text", "reason"),
    [
        ("chain", {}, f"{MARKER} 4", "finished"),
        ("chain", {"steps": 3}, "on", "step_limit"),
        ("chain", {"limit_depth": 2}, "on", "step_limit"),
        ("chain", {"limit_requests": 2}, "on", "budget"),
        ("chain", {"limit_thoughts": 2}, "on", "budget"),
        ("chain", {"limit_requests": 0}, "on", "budget"),
        ("level_tot", {}, f"{MARKER} 4", "finished"),
        ("level_tot", {"steps": 2}, "on", "step_limit"),
        ("level_tot", {"limit_requests": 3}, "on", "budget"),
        ("level_tot", {}, "Evaluation Score: 0", "dead_end"),
    ],
)
async def test_why_they_end(method: str, settings: Any, text: str, reason: str) -> None:
    out, seen = await run(method, lambda call: text, **settings)
    assert out["stop_reason"] == reason
    assert out["answer"] == ("4" if reason == "finished" else None)
    assert len(seen) <= settings.get("limit_requests", 100)


async def test_a_first_response_that_solves_all_does_not_end_the_chain() -> None:
    said = f"Step 1. a\nStep 2. b\nStep 3. {MARKER} 7"
    out, _ = await run("chain", lambda call: said)
    assert [t["text"] for t in out["tree"].values()] == ["", "a", "b", f"{MARKER} 7"]
    assert (out["answer"], out["tree"]["1"]["raw"]) == ("7", said)


async def test_an_empty_step_is_asked_for_again_and_then_stands() -> None:
    def once(call: Call) -> str:
        return "" if call.draw is not None and call.draw[3] == 0 else f"{MARKER} 7"

    out, seen = await run("chain", once)
    assert (out["answer"], len(seen)) == ("7", 2)
    out, seen = await run("chain", lambda call: "", steps=2)
    assert [t["text"] for t in list(out["tree"].values())[1:]] == ["(no output)"] * 2
    assert (out["stop_reason"], len(seen)) == ("step_limit", 4)


async def test_a_chain_shows_its_examples_at_every_step() -> None:
    out, seen = await run("chain", lambda call: "a step", steps=3, shots=2)
    assert len(shape(out["tree"])) == len(seen) == 3
    assert all("worked example 1" in call.prompt for call in seen)
