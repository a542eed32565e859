"""Chain Reasoning and level-greedy ToT Reasoning, the baselines of Thought Rollback."""

from pathlib import Path
from typing import Any

import pytest
from support.letters import HOSTILE, comparable, edges, interrupted
from support.scripted import Call
from support.stepping import MARKER, Stepping, run, shape

from thoughtgraph.tasks.rollback_prompts import score_of, single_step, unlabelled


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


async def test_the_drawn_graphs() -> None:
    assert edges("chain", Stepping()) == {
        ("start", "start"),
        ("start", "generate"),
        ("generate", "register"),
        ("register", "generate"),
        ("register", "answer"),
        ("start", "answer"),
        ("answer", "end"),
    }
    assert edges("level_tot", Stepping()) >= {
        ("generate", "register"),
        ("register", "evaluate"),
        ("evaluate", "select"),
        ("select", "generate"),
        ("select", "answer"),
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


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("method", ["chain", "level_tot"])
async def test_no_text_raises(method: str, text: str) -> None:
    out, _ = await run(method, lambda call: text, steps=2)
    assert out["stop_reason"] == "step_limit"


@pytest.mark.parametrize("method", ["chain", "level_tot"])
async def test_a_run_that_is_stopped_anywhere_ends_the_same(method: str) -> None:
    whole, _ = await run(method, counting if method == "level_tot" else one, **SETTINGS[method])
    reply = counting if method == "level_tot" else one
    pieces = await interrupted(method, Stepping(), reply, **SETTINGS[method])
    assert comparable(pieces) == comparable(whole)


SETTINGS: dict[str, dict[str, Any]] = {"chain": {"steps": 4}, "level_tot": {"n_generate": 3}}


def one(call: Call) -> str:
    return "a step"


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Step 3: 1 + 1 = 2", "1 + 1 = 2"),
        ("**Step 3.** Step 3: so", "so"),
        ("step 3. step 4. so", "so"),
        ("Next step: 1 + 1 = 2", "1 + 1 = 2"),
        ("**Next step:** so", "so"),
        ("### The next step 3: so", "so"),
        ("Step 3. Next Step: so", "so"),
        ("Step: so", "so"),
        ("Next step:", ""),
        ("Step 2 was wrong", "Step 2 was wrong"),
        ("The next step is to add: 1 + 1", "The next step is to add: 1 + 1"),
        ("Step by step: so", "Step by step: so"),
        ("  plain  ", "plain"),
    ],
)
def test_labels_are_dropped(text: str, step: str) -> None:
    assert unlabelled(text) == step


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Evaluation Score: 0.25", 0.25),
        ("evaluation score: 1", 1.0),
        ("**Evaluation Score:** .5", 0.5),
        ("**Evaluation Score**: 0.25/1", 0.25),
        ("Evaluation Score = 0.8 out of 1", 0.8),
        ("Evaluation Score (0-1): 0.8", 0.8),
        ("### Evaluation Score\n0.8", 0.8),
        (r"Evaluation Score: $\boxed{0.8}$", 0.8),
        ("The evaluation score is 1.0.", 1.0),
        ("Evaluation Score: 8/10", None),
        ("Evaluation Score: 0,8", None),
        ("Evaluation Score: 80%", None),
        ("Evaluation Score: 0.7-0.8", None),
        ("Evaluation Score: -0.5", None),
        ("Evaluation Score: 7", None),
        ("Evaluation Score: high", None),
        ("0.4", None),
    ],
)
def test_scores_are_read(text: str, score: float | None) -> None:
    assert score_of(text) == score


@pytest.mark.parametrize(
    ("text", "number", "step"),
    [
        ("Step 1: a\nb\n\n**Step 2.** c\nThe final solution is 7", 1, "Step 1: a\nb\n\n"),
        ("a\nStep 2: c", 1, "a\n"),
        ("Step 1. a\nStep 2. b\nStep 3. c\nStep 4. d", 3, "Step 3. c\n"),
        ("Step 1. a\nStep 2. b", 3, "Step 1. a\nStep 2. b"),
        ("\nStep 2. b", 1, "Step 2. b"),
        ("By Step 2: nothing.\nSo a step 3: b", 1, "By Step 2: nothing.\nSo a step 3: b"),
        ("Step 3. c", 3, "Step 3. c"),
        ("Next step 2: b\nNext step 3: c", 2, "Next step 2: b\n"),
        ("<steps>\nStep 2. b\n</steps>", 2, "Step 2. b"),
        ("<steps>\nStep 1. a\nStep 2. b\n</steps>\nDone.", 2, "Step 2. b\n\nDone."),
        ("", 1, ""),
    ],
)
def test_a_response_is_one_step(text: str, number: int, step: str) -> None:
    assert single_step(text, number) == step


@pytest.mark.parametrize("method", ["chain", "level_tot", "rollback"])
async def test_a_thought_holds_no_label(method: str) -> None:
    def reply(call: Call) -> str:
        return f"Next step: {MARKER} 7" if call.role == "generate" else "Evaluation Score: 1"

    out, _ = await run(method, reply)
    (*_, step) = out["tree"].values()
    assert step["text"] == f"{MARKER} 7"


async def test_a_first_response_that_solves_all_does_not_end_the_chain() -> None:
    said = f"Step 1. a\nStep 2. b\nStep 3. {MARKER} 7"
    out, _ = await run("chain", lambda call: said)
    assert [t["text"] for t in out["tree"].values()] == ["", "a", "b", f"{MARKER} 7"]
    assert (out["answer"], out["tree"]["1"]["raw"]) == ("7", said)


async def test_a_chain_shows_its_examples_at_every_step(tmp_path: Path) -> None:
    out, seen = await run("chain", one, steps=3, shots=2)
    assert len(shape(out["tree"])) == len(seen) == 3
    assert all("worked example 1" in call.prompt for call in seen)
    file = tmp_path / "mine.md"
    file.write_text("my own example")
    _, seen = await run("chain", one, steps=1, shots=2, examples=str(file))
    assert "my own example" in seen[0].prompt
    assert "worked example" not in seen[0].prompt
