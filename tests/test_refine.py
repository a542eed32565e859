"""Refinement: the loop of the paper, who judges it, what ends it."""

from typing import Any

import pytest
from support.letters import run
from support.pools import POOLS
from support.scripted import Call, Reply, ScriptedChat, rng

import thoughtgraph as tg

PUZZLE = "4 9 10 13"
RIGHT = "Answer: (10 - 4) * (13 - 9) = 24"
SENTENCES = "It rained. Nobody came. The cat slept. She kept the key."


def wrong(number: object) -> str:
    return f"Answer: {number} + 4 + 9 + 10 + 13 = 24"


def turn(call: Call) -> int:
    """How often the output was refined before."""
    assert call.draw is not None
    return int(call.draw.thought)


def always_wrong(call: Call) -> str:
    return wrong(turn(call))


async def solve(reply: Reply, oracle: Any = True, **context: Any) -> tuple[Any, list[Call]]:
    model = ScriptedChat(reply=reply)
    graph = tg.build("refine", task="game24", model=model, oracle=oracle)
    return await graph.ainvoke({"problem": PUZZLE}, context=context), model.seen


async def write(reply: Reply, **context: Any) -> tuple[Any, list[Call]]:
    return await run("refine", "creative_writing", reply, SENTENCES, **context)


def roles(seen: list[Call]) -> list[str]:
    return [call.role for call in seen]


async def test_every_wrong_output_is_shown_and_the_right_one_ends_the_loop() -> None:
    out, seen = await solve(lambda call: RIGHT if turn(call) == 2 else always_wrong(call))
    assert roles(seen) == ["generate", "refine", "refine"]
    assert all(text in seen[-1].prompt for text in (wrong(0), wrong(1), "refined answer"))
    assert (out["answer"], out["stop_reason"]) == ("(10 - 4) * (13 - 9)", "verified")
    assert out["oracle"] is True
    parents = {key: thought["parent"] for key, thought in out["tree"].items()}
    assert parents == {"0": None, "1": "0", "2": "1", "3": "2"}
    assert [out["tree"][key]["value"] for key in "123"] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("context", "turns", "reason"),
    [
        ({}, 11, "round_limit"),
        ({"limit_requests": 0}, 0, "budget"),
        ({"limit_requests": 2}, 2, "budget"),
        ({"limit_thoughts": 3}, 3, "budget"),
        ({"limit_depth": 2}, 2, "step_limit"),
        ({"refinements": 0}, 1, "round_limit"),
    ],
)
async def test_a_limit_ends_the_loop_with_the_latest_output(
    context: dict[str, Any], turns: int, reason: str
) -> None:
    out, seen = await solve(always_wrong, **context)
    assert roles(seen) == ["generate", *["refine"] * 10][:turns]
    assert len(out["candidates"]) == turns
    assert out["answer"] == (f"{turns - 1} + 4 + 9 + 10 + 13" if turns else None)
    assert out["stop_reason"] == reason


@pytest.mark.parametrize(
    ("verdict", "malformed"),
    [
        ("", 1),
        ("It could be better.", 1),
        ("{'coherent': 1}", 1),
        ("not perfectly coherent", 0),
    ],
)
async def test_writing_is_refined_five_times_when_no_verdict_is_good(
    verdict: str, malformed: int
) -> None:
    out, seen = await write(lambda call: verdict if call.role == "judge" else "A passage.")
    assert roles(seen).count("refine") == 5
    # Equal passages are judged once: later verdicts are not asked for again.
    assert out["usage"].get("parse_errors", {}).get("judge", 0) == malformed
    assert out["stop_reason"] == "round_limit"


async def test_a_draft_takes_the_place_of_the_first_sample() -> None:
    reply = {"judge": "The passage is perfectly coherent"}
    model = ScriptedChat(reply=reply)
    graph = tg.build("refine", task="creative_writing", model=model)
    context = {"draft": "Plan:\nRain.\nPassage:\nIt rained all day."}
    out = await graph.ainvoke({"problem": SENTENCES}, context=context)
    assert roles(model.seen) == ["judge"]
    assert out["answer"] == "It rained all day."
    assert "Plan" not in model.seen[0].prompt.split("Passage:")[1]
    assert out["usage"]["requests"] == 1


async def test_a_verdict_that_a_limit_forbids_ends_the_loop() -> None:
    out, seen = await write(lambda call: "A passage.", limit_requests=1)
    assert roles(seen) == ["generate"]
    assert (out["answer"], out["stop_reason"]) == ("A passage.", "budget")


@pytest.mark.parametrize("seeds", POOLS)
async def test_no_refinement_of_a_right_output_and_never_more_than_k(seeds: range) -> None:
    def reply(call: Call) -> str:
        draws = rng(call.prompt, call.draw)
        return draws.choice([RIGHT, wrong(draws.randrange(9)), "", "\x00", "Answer: 4 9 ="])

    model = ScriptedChat(reply=reply)
    graph = tg.build("refine", task="game24", model=model, oracle=True)
    for seed in seeds:
        model.seen.clear()
        puzzle = " ".join(map(str, rng("puzzle", seed).sample([4, 9, 10, 13], 4)))
        k = rng("k", seed).randrange(6)
        context = {"refinements": k, "seed": seed}
        out = await graph.ainvoke({"problem": puzzle}, context=context)
        values = [t["value"] for key, t in out["tree"].items() if key != "0"]
        refinements = roles(model.seen).count("refine")
        assert refinements <= k, "P8"
        assert len(values) == 1 + refinements
        assert all(value == 0.0 for value in values[:-1]), "P8"
        assert (out["stop_reason"] == "verified") == (values[-1] == 1.0)
        assert values[-1] == 1.0 or refinements == k
