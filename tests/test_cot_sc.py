from collections import Counter

import pytest
from support.pools import POOLS
from support.scripted import ScriptedChat, rng

import thoughtgraph as tg
from thoughtgraph.bench.metrics import best_of_k

QUESTION = "What is 6 times 7?"


def said(answers):
    """Completions that give these answers; None stands for one that gives none."""
    return [
        "no idea" if a is None else f"Strategy:\n…\nAnswer:\nthe answer is {a}" for a in answers
    ]


def drawn(seed, n):
    draws = rng("answers", seed)
    return [draws.choice([None, "1", "2", "3", "4"]) for _ in range(n)]


async def run(method, answers, task="gsm8k", problem=QUESTION, reply=None):
    model = ScriptedChat(reply=reply or (lambda call: said(answers)))
    graph = tg.build(method, task=task, model=model)
    return await graph.ainvoke({"problem": problem}, context={"n_generate": len(answers)}), model


async def test_twenty_samples_are_one_request():
    model = ScriptedChat(reply=lambda call: said([str(n % 4) for n in range(call.n)]))
    out = await tg.build("cot_sc", task="gsm8k", model=model).ainvoke({"problem": QUESTION})
    assert [call.n for call in model.seen] == [20]
    assert (out["usage"]["samples"], out["usage"]["calls"]) == (20, 1)
    assert len(out["candidates"]) == 20


async def test_an_endpoint_that_returns_fewer_samples_is_called_more_often_for_one_request():
    model = ScriptedChat(reply=lambda call: said(["4"] * call.n))
    graph = tg.build("cot_sc", task="gsm8k", model=tg.ChatPort(model, choices=8))
    usage = (await graph.ainvoke({"problem": QUESTION}))["usage"]
    assert (usage["requests"], usage["calls"], usage["samples"]) == (1, 3, 20)


@pytest.mark.parametrize(
    ("answers", "winner"),
    [
        (["1", "2", "2"], "2"),
        (["3", "1", "1", "3"], "3"),
        ([None, None, "5"], "5"),
        ([None, None, None], None),
        (["1,000", "7", "$1000.00"], "1000"),
    ],
    ids=["majority", "a tie goes to the first", "the unreadable do not vote", "none", "canonical"],
)
async def test_the_vote(answers, winner):
    out, _ = await run("cot_sc", answers)
    assert out["answer"] == winner
    assert len(out["candidates"]) == len(answers)
    assert out["usage"].get("parse_errors", {}).get("generate", 0) == answers.count(None)


async def test_every_sample_knows_how_many_agree_with_it():
    out, _ = await run("cot_sc", ["1", "2", "2", None])
    assert [out["tree"][key]["value"] for key in "1234"] == [1.0, 2.0, 2.0, 0.0]


async def test_game24_votes_on_the_expression_not_on_its_value():
    lines = [
        "Answer: (13 - 9) * (10 - 4) = 24",
        "Answer: 4 + 9 + 10 + 13 = 24",
        "Answer: (10 - 4) * (13 - 9) = 24",
        "Answer: 4 + 9 + 10 + 13 = 24",
    ]
    out, _ = await run("cot_sc", lines, "game24", "4 9 10 13", reply=lambda call: lines)
    assert out["answer"] == "4 + 9 + 10 + 13"


async def test_game24_takes_a_hundred_samples_unless_told_otherwise():
    model = ScriptedChat(reply=lambda call: "Answer: 4 * 6")
    graph = tg.build("cot_sc", task="game24", model=model)
    out = await graph.ainvoke({"problem": "4 9 10 13"})
    assert model.seen[0].n == 100
    assert len(out["candidates"]) == 100


async def test_nothing_is_voted_on_when_no_request_is_allowed():
    model = ScriptedChat(reply=lambda call: said(["1"]))
    graph = tg.build("cot_sc", task="gsm8k", model=model)
    out = await graph.ainvoke({"problem": QUESTION}, context={"limit_requests": 0})
    assert (out["answer"], out["stop_reason"], out["candidates"]) == (None, "budget", [])


@pytest.mark.parametrize("seeds", POOLS)
async def test_one_sample_equals_chain_of_thought(seeds):
    def reply(call):
        return said(drawn(call.prompt, call.n))

    graphs = [
        tg.build(method, task="gsm8k", model=ScriptedChat(reply=reply))
        for method in ("cot_sc", "cot")
    ]
    for seed in seeds:
        voted, plain = [
            await graph.ainvoke({"problem": f"Question {seed}?"}, context={"n_generate": 1})
            for graph in graphs
        ]
        for field in ("answer", "candidates", "stop_reason"):
            assert voted[field] == plain[field], f"P5: {seed}"
        assert voted["tree"]["1"]["text"] == plain["tree"]["1"]["text"]


@pytest.mark.parametrize("seeds", POOLS)
async def test_the_order_of_samples_matters_for_ties_alone(seeds):
    def reply(call):
        seed, turn = call.prompt.split("Question ")[1].split("?")[0].split(".")
        answers = drawn(int(seed), 7)
        return said(rng(seed).sample(answers, 7) if int(turn) else answers)

    graph = tg.build("cot_sc", task="gsm8k", model=ScriptedChat(reply=reply))
    for seed in seeds:
        outs = [
            await graph.ainvoke({"problem": f"Question {seed}.{turn}?"}, context={"n_generate": 7})
            for turn in (0, 1)
        ]
        votes = Counter(answer for answer in drawn(seed, 7) if answer)
        tied = [answer for answer in votes if votes[answer] == max(votes.values())]
        assert Counter(outs[0]["candidates"]) == Counter(outs[1]["candidates"])
        assert all(out["answer"] in (tied or [None]) for out in outs), f"P6: {seed}"
        if len(tied) == 1:
            assert outs[0]["answer"] == outs[1]["answer"], f"P6: {seed}"


@pytest.mark.parametrize("seeds", POOLS)
async def test_best_of_k_never_falls_with_k(seeds):
    graph = tg.build(
        "cot_sc",
        task="gsm8k",
        model=ScriptedChat(reply=lambda call: said(drawn(call.prompt, call.n))),
    )
    for seed in seeds:
        out = await graph.ainvoke({"problem": f"Question {seed}?"}, context={"n_generate": 9})
        scores = [float(answer == "3") for answer in out["candidates"]]
        curve = [best_of_k(scores, k) for k in range(10)]
        assert curve == sorted(curve), f"P7: {seed}"
        assert curve[-1] == float("3" in out["candidates"])
        assert curve[-1] >= float(out["answer"] == "3")
