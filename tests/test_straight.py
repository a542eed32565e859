"""Methods that never go back: chains of thought, samples and votes."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from support.letters import run
from support.pools import POOLS
from support.scripted import Call, rng
from support.stepping import MARKER
from support.stepping import run as grown

from thoughtgraph.bench.metrics import best_of_k
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
    out, seen = await grown("level_tot", counting, n_generate=3)
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
        ("level_tot", {}, f"{MARKER} 4", "finished"),
        ("level_tot", {"steps": 2}, "on", "step_limit"),
        ("level_tot", {"limit_requests": 3}, "on", "budget"),
        ("level_tot", {}, "Evaluation Score: 0", "dead_end"),
    ],
)
async def test_why_they_end(method: str, settings: Any, text: str, reason: str) -> None:
    out, seen = await grown(method, lambda call: text, **settings)
    assert out["stop_reason"] == reason
    assert out["answer"] == ("4" if reason == "finished" else None)
    assert len(seen) <= settings.get("limit_requests", 100)


QUESTION = "What is 6 times 7?"
EXPRESSION = "(10 - 4) * (13 - 9)"


def said(answers: Sequence[str | None]) -> list[str]:
    """Completions with these answers; None stands for one without."""
    return [
        "no idea" if a is None else f"Strategy:\n…\nAnswer:\nthe answer is {a}" for a in answers
    ]


def drawn(seed: object, n: int) -> list[str | None]:
    draws = rng("answers", seed)
    return [draws.choice([None, "1", "2", "3", "4"]) for _ in range(n)]


@pytest.mark.parametrize(
    ("method", "answers", "winner", "values"),
    [
        # The first that can be read.
        ("cot", ["7", "42", "5"], "7", None),
        ("cot", [None, "42"], "42", None),
        # The majority; a tie goes to the first; the unreadable do not vote.
        ("cot_sc", ["1", "2", "2", None], "2", [1.0, 2.0, 2.0, 0.0]),
        ("cot_sc", ["3", "1", "1", "3"], "3", [2.0] * 4),
        ("cot_sc", [None, None, "5"], "5", [0.0, 0.0, 1.0]),
        ("cot_sc", [None, None, None], None, [0.0] * 3),
        # Equal as numbers.
        ("cot_sc", ["1,000", "7", "$1000.00"], "1000", [2.0, 1.0, 2.0]),
    ],
)
async def test_which_sample_is_the_answer(
    method: str, answers: list[str | None], winner: str | None, values: list[float] | None
) -> None:
    reply, count = said(answers), len(answers)
    out, seen = await run(method, "gsm8k", lambda call: reply, QUESTION, n_generate=count)
    assert [call.n for call in seen] == [count]
    assert out["answer"] == winner
    assert [answer is None for answer in out["candidates"]] == [each is None for each in answers]
    assert method == "cot_sc" or out["candidates"] == answers
    assert (out["usage"]["requests"], out["usage"]["samples"]) == (1, count)
    assert out["usage"].get("parse_errors", {}).get("generate", 0) == answers.count(None)
    if values:
        assert [thought["value"] for thought in list(out["tree"].values())[1:]] == values


async def test_game24_votes_on_the_expression_not_on_its_value() -> None:
    expressions = ["(13 - 9) * (10 - 4)", "4 + 9 + 10 + 13", EXPRESSION, "4 + 9 + 10 + 13"]
    lines = [f"Answer: {expression} = 24" for expression in expressions]
    out, _ = await run("cot_sc", "game24", lambda call: lines, "4 9 10 13", n_generate=4)
    assert out["answer"] == "4 + 9 + 10 + 13"


@pytest.mark.parametrize("seeds", POOLS)
async def test_a_vote_depends_on_order_for_ties_alone_and_best_of_k_never_falls(
    seeds: range,
) -> None:
    for seed in seeds:
        answers = drawn(seed, 9)
        votes = Counter(answer for answer in answers if answer)
        tied = [answer for answer in votes if votes[answer] == max(votes.values())]
        for order in (answers, rng(seed).sample(answers, 9)):

            def reply(call: Call, order: Sequence[str | None] = order) -> list[str]:
                return said(order)

            out, _ = await run("cot_sc", "gsm8k", reply, f"Question {seed}?", n_generate=9)
            assert Counter(out["candidates"]) == Counter(answers)
            first = next((answer for answer in order if answer in tied), None)
            assert out["answer"] == first, f"P6: {seed}"
            scores = [float(answer == "3") for answer in out["candidates"]]
            curve = [best_of_k(scores, k) for k in range(10)]
            assert curve == sorted(curve), f"P7: {seed}"
            assert curve[-1] == float("3" in answers) >= float(out["answer"] == "3")
