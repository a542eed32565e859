"""`adaptive`: hand-solved searches, its stopping rule, what it never does."""

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from digests.searches import PLANS
from support.climbing import CLIMBING, climber
from support.letters import run
from support.pools import POOLS
from support.scripted import Call, Reply, ScriptedChat, rng

import thoughtgraph as tg
from thoughtgraph.graphs.adaptive import leader_probability, samples_to_settle


async def seen(task: Any, reply: Reply, problem: str, **context: Any) -> tuple[Any, list[int]]:
    """A search; returns its output and how many samples each request was for."""
    out, calls = await run("adaptive", task, reply, problem, **context)
    return out, [call.n for call in calls]


def batches(*texts: Sequence[str]) -> Reply:
    """Answers the draws in order, each with the first of its samples."""

    def reply(call: Call) -> Sequence[str]:
        assert call.draw is not None
        return texts[call.draw.expansion][: call.n]

    return reply


def sums(*answers: str) -> list[str]:
    return [f"The answer is {answer}" for answer in answers]


async def test_a_task_without_answers_is_told_what_to_publish() -> None:
    with pytest.raises(tg.CapabilityError, match="set draw=plans"):
        tg.build("adaptive", task=CLIMBING, model=ScriptedChat(reply={"generate": "end"}))


def test_the_rule_is_the_beta_posterior_of_the_paper() -> None:
    assert leader_probability(0, 0) == 0.5
    assert leader_probability(4, 0) == 1 - 1 / 32
    assert leader_probability(1, 0) == 0.75
    for first, second in ((3, 1), (7, 2), (12, 11)):
        leads = leader_probability(first, second)
        assert leads + leader_probability(second, first) == pytest.approx(1)
        draws = random.Random(0)
        won = [draws.betavariate(first + 1, second + 1) > 0.5 for _ in range(20_000)]
        assert sum(won) / len(won) == pytest.approx(leads, abs=0.01)


TIED = "; 5 of 10 votes, tied with 2: the first one counts"


@pytest.mark.parametrize(
    ("drawn", "settings", "sizes", "answer", "outcome"),
    [
        ("4444", {}, [4], "4", "finished with an answer; 4 of 4 votes"),
        # 6 of 8 and a runner-up with 1 are sure.
        ("4546 4444 444444", {}, [4, 4], "4", "; 6 of 8 votes"),
        # However open the vote is.
        ("1212 12121212 12121212", {"samples": 10}, [4, 6], "1", TIED),
        ("???? ????", {"samples": 8}, [4, 4], None, ""),
    ],
)
async def test_a_vote_draws_what_could_settle_it(
    drawn: str, settings: Any, sizes: list[int], answer: str | None, outcome: str
) -> None:
    reply = batches(*(sums(*texts) for texts in drawn.split()))
    out, asked = await seen("gsm8k", reply, "2 + 2?", **settings)
    assert asked == sizes
    assert (out["answer"], out["stop_reason"]) == (answer, "finished")
    assert out["usage"]["thoughts"] == sum(sizes)
    assert out["outcome"].endswith(outcome)
    assert out["usage"].get("parse_errors", {}).get("generate", 0) == drawn.count("?")


async def test_an_oracle_ends_the_search_at_the_first_right_answer() -> None:
    wrong, right = "Answer: 4 + 9 + 10 + 13 = 24", "Answer: (10 - 4) * (13 - 9) = 24"
    reply = batches([wrong] * 4, [wrong, right, wrong, wrong])
    model = ScriptedChat(reply=reply)
    graph = tg.build("adaptive", task="game24", model=model, oracle=True)
    out = await graph.ainvoke({"problem": "4 9 10 13"})
    assert [call.n for call in model.seen] == [4, 4], "that wrong ones agree settles nothing"
    assert (out["answer"], out["stop_reason"]) == ("(10 - 4) * (13 - 9)", "verified")
    assert out["oracle"] is True


async def test_a_plan_is_kept_up_to_its_fault_and_continued() -> None:
    """The height is 6: whoever climbs above it cannot stand."""
    first = ["+3\n+9\nend", "+2\n+2\n+7\nend", "oops", "+2\n+2\n+5"]
    second = ["+9", "+1\n+1\nend", "+2\nend", "end"]

    def reply(call: Call) -> Sequence[str]:
        assert call.draw is not None
        return {"0": first, "2": second}[call.draw.thought]

    out, sizes = await seen(PLANS, reply, "6")
    rows = [
        (t["id"], t["parent"], t["text"], t["status"], t.get("note", ""))
        for t in list(out["tree"].values())[1:]
    ]
    again = "the same beginning was drawn before"
    assert rows == [
        ("1", "0", "+3", "open", "E_HIGH: 12 is above 6"),
        ("2", "0", "+2\n+2", "expanded", "E_HIGH: 11 is above 6"),
        ("3", "0", "oops", "pruned", "E_SYNTAX: "),
        ("4", "0", "+2\n+2", "pruned", f"{again}; E_HIGH: 9 is above 6"),
        ("5", "2", "+9", "pruned", "E_HIGH: 13 is above 6"),
        ("6", "2", "+1\n+1\nend", "terminal", ""),
        ("7", "2", "+2\nend", "terminal", ""),
        ("8", "2", "end", "terminal", ""),
    ]
    assert (out["answer"], out["stop_reason"], len(sizes)) == ("6", "finished", 2)
    assert out["usage"]["parse_errors"] == {"generate": 1}


@pytest.mark.parametrize("pool", POOLS)
async def test_what_holds_for_every_search_over_plans(pool: range) -> None:
    for seed in pool:
        samples = 4 * (1 + seed % 4)
        out, sizes = await seen(PLANS, climber(seed), "9", samples=samples)
        assert sum(sizes) == len(out["tree"]) - 1 <= samples
        for thought in out["tree"].values():
            if thought["status"] == "pruned":
                continue
            climbed = [t["text"] for t in tg.path_to(out["tree"], thought["id"])]
            steps = [line for text in climbed for line in text.split("\n") if line != "end"]
            assert sum(map(int, steps)) <= 9, "every step that is kept can stand"
        ends = [t["answer"] for t in out["tree"].values() if t["status"] == "terminal"]
        assert out["answer"] == (ends[0] if ends else None)


@pytest.mark.parametrize("pool", POOLS)
async def test_what_holds_for_every_vote(pool: range) -> None:
    for seed in pool:
        draws = rng("odds", seed)
        odds = [draws.random() for _ in range(4)]

        def reply(call: Call, seed: int = seed, odds: Sequence[float] = odds) -> Sequence[str]:
            own = rng(seed, call.draw)
            return [f"The answer is {own.choices('123?', odds)[0]}" for _ in range(call.n)]

        out, sizes = await seen("gsm8k", reply, "?", samples=20)
        votes = [t["answer"] for t in list(out["tree"].values())[1:]]
        assert len(votes) == sum(sizes) <= 20
        counts = {answer: votes.count(answer) for answer in votes if answer is not None}
        assert out["answer"] == max(counts, key=lambda answer: counts[answer], default=None)
        assert len(votes) == 20 or samples_to_settle(counts, 0.95) == 0
        for before, size in pairwise([0, *sizes]):
            assert size <= 20 - before
