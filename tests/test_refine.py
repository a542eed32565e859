from typing import Any

import pytest
from support.pools import POOLS
from support.scripted import ScriptedChat, rng

import thoughtgraph as tg

PUZZLE = "4 9 10 13"
RIGHT = "Answer: (10 - 4) * (13 - 9) = 24"
SENTENCES = "It rained. Nobody came. The cat slept. She kept the key."


def roles(model):
    return [call.role for call in model.seen]


def wrong(number):
    return f"Answer: {number} + 4 + 9 + 10 + 13 = 24"


async def solve(reply, *, context=None, task="game24", problem=PUZZLE, oracle: Any = True):
    model = ScriptedChat(reply=reply)
    graph = tg.build("refine", task=task, model=model, oracle=oracle)
    return await graph.ainvoke({"problem": problem}, context=context), model


async def write(reply, **context):
    model = ScriptedChat(reply=reply)
    graph = tg.build("refine", task="creative_writing", model=model)
    return await graph.ainvoke({"problem": SENTENCES}, context=context), model


@pytest.mark.parametrize("task", ["game24", None])
async def test_game24_that_nobody_judges_is_refused_before_anything_is_spent(task):
    model = ScriptedChat(reply=lambda call: RIGHT)
    graph = tg.build("refine", task=task, model=model)
    context = {} if task else {"task": "game24"}
    with pytest.raises(tg.CapabilityError, match=r"'game24'.*oracle=True") as caught:
        await graph.ainvoke({"problem": PUZZLE}, context=context)
    assert "\n" not in str(caught.value)
    assert model.seen == []


def test_a_task_that_cannot_be_refined_is_refused_with_any_oracle():
    with pytest.raises(tg.CapabilityError, match="ask for a better output"):
        tg.build("refine", task="gsm8k", model=ScriptedChat(reply=lambda call: ""), oracle=True)


def test_a_task_without_an_exact_check_needs_an_oracle_of_the_caller():
    with pytest.raises(tg.CapabilityError, match="verify an answer exactly"):
        tg.build(
            "refine",
            task="creative_writing",
            model=ScriptedChat(reply=lambda call: ""),
            oracle=True,
        )


def test_the_drawn_graph_is_the_loop_of_the_paper():
    graph = tg.build("refine", task="creative_writing", model=ScriptedChat(reply=lambda call: ""))
    edges = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    assert {("generate", "check"), ("check", "refine"), ("refine", "check")} <= edges
    assert ("check", "answer") in edges
    assert ("generate", "refine") not in edges


async def test_a_right_first_output_is_not_refined():
    out, model = await solve(lambda call: RIGHT)
    assert roles(model) == ["generate"]
    assert out["answer"] == "(10 - 4) * (13 - 9)"
    assert out["stop_reason"] == "verified"
    assert out["oracle"] is True


async def test_every_wrong_output_is_shown_and_the_right_one_ends_the_loop():
    def reply(call):
        turn = int(call.draw[1])
        return RIGHT if turn == 2 else wrong(turn)

    out, model = await solve(reply)
    assert roles(model) == ["generate", "refine", "refine"]
    assert [wrong(turn) in model.seen[-1].prompt for turn in (0, 1)] == [True, True]
    assert "refined answer" in model.seen[-1].prompt
    assert out["answer"] == "(10 - 4) * (13 - 9)"
    parents = {key: thought["parent"] for key, thought in out["tree"].items()}
    assert parents == {"0": None, "1": "0", "2": "1", "3": "2"}
    assert [out["tree"][key]["value"] for key in "123"] == [0.0, 0.0, 1.0]


async def test_ten_refinements_at_most_and_the_last_output_is_the_answer():
    out, model = await solve(lambda call: wrong(call.draw[1]))
    assert roles(model) == ["generate"] + ["refine"] * 10
    assert out["stop_reason"] == "round_limit"
    assert out["answer"] == "10 + 4 + 9 + 10 + 13"
    assert len(out["candidates"]) == 11


async def test_the_callers_own_oracle_decides():
    asked = []

    async def oracle(answer):
        asked.append(answer)
        return answer.startswith("1 ")

    out, model = await solve(lambda call: wrong(call.draw[1]), oracle=oracle)
    assert asked == ["0 + 4 + 9 + 10 + 13", "1 + 4 + 9 + 10 + 13"]
    assert out["oracle"] is True
    assert roles(model) == ["generate", "refine"]


async def test_an_output_without_an_answer_is_wrong_and_refined():
    out, model = await solve(lambda call: "no idea" if call.role == "generate" else RIGHT)
    assert roles(model) == ["generate", "refine"]
    assert out["answer"] == "(10 - 4) * (13 - 9)"


async def test_writing_asks_the_model_and_shows_the_last_passage_alone():
    def reply(call):
        if call.role == "judge":
            good = "PASSAGE 2" in call.prompt
            return (
                "Hm.\nThe passage is " + ("perfectly" if good else "not perfectly") + " coherent."
            )
        return f"PASSAGE {call.draw[1]}"

    out, model = await write(reply)
    assert roles(model) == ["generate", "judge", "refine", "judge", "refine", "judge"]
    last = model.seen[4].prompt
    assert "PASSAGE 1" in last
    assert "PASSAGE 0" not in last
    assert SENTENCES in last
    assert out["answer"] == "PASSAGE 2"
    assert out["oracle"] is False


@pytest.mark.parametrize(
    "verdict", ["", "It could be better.", "{'coherent': 1}", "not perfectly coherent"]
)
async def test_writing_is_refined_five_times_when_no_verdict_is_good(verdict):
    out, model = await write(lambda call: verdict if call.role == "judge" else "A passage.")
    assert roles(model).count("refine") == 5
    malformed = out["usage"].get("parse_errors", {}).get("judge", 0)
    # Equal passages are judged once: later verdicts are not asked for again.
    assert malformed == (0 if "perfectly coherent" in verdict else 1)
    assert out["stop_reason"] == "round_limit"


async def test_a_given_draft_takes_the_place_of_the_first_sample():
    def reply(call):
        if call.role == "judge":
            return "The passage is perfectly coherent"
        raise AssertionError(f"nothing is to be written: {call.role}")

    out, model = await write(reply, draft="Plan:\nRain.\nPassage:\nIt rained all day.")
    assert roles(model) == ["judge"]
    assert out["answer"] == "It rained all day."
    assert "Plan" not in model.seen[0].prompt.split("Passage:")[1]
    assert out["usage"]["requests"] == 1


async def test_a_passage_of_a_tree_search_can_be_refined():
    def reply(call):
        if call.role == "vote":
            return "The best choice is 2"
        if call.role == "judge":
            return "The passage is not perfectly coherent"
        return [f"{call.role} {call.draw[1]} {n}" for n in range(call.n)]

    model = ScriptedChat(reply=reply)
    tree = tg.build("tot_bfs", task="creative_writing", model=model)
    found = await tree.ainvoke({"problem": SENTENCES}, context={"n_generate": 2})
    assert found["answer"] == "generate 2 1"
    refine = tg.build("refine", task="creative_writing", model=model)
    out = await refine.ainvoke(
        {"problem": SENTENCES}, context={"draft": found["answer"], "refinements": 1}
    )
    assert out["tree"]["1"]["text"] == "generate 2 1"
    assert out["answer"] == "refine 1 0"


@pytest.mark.parametrize(
    ("context", "answer", "reason"),
    [
        ({"limit_requests": 0}, None, "budget"),
        ({"limit_requests": 2}, "1 + 4 + 9 + 10 + 13", "budget"),
        ({"limit_thoughts": 3}, "2 + 4 + 9 + 10 + 13", "budget"),
        ({"limit_depth": 2}, "1 + 4 + 9 + 10 + 13", "step_limit"),
        ({"refinements": 0}, "0 + 4 + 9 + 10 + 13", "round_limit"),
    ],
)
async def test_a_limit_ends_the_loop_with_the_latest_output(context, answer, reason):
    out, _ = await solve(lambda call: wrong(call.draw[1]), context=context)
    assert (out["answer"], out["stop_reason"]) == (answer, reason)


async def test_a_verdict_that_a_limit_forbids_ends_the_loop():
    out, model = await write(lambda call: "A passage.", limit_requests=1)
    assert roles(model) == ["generate"]
    assert (out["answer"], out["stop_reason"]) == ("A passage.", "budget")


@pytest.mark.parametrize("seeds", POOLS)
async def test_no_refinement_of_a_right_output_and_never_more_than_k(seeds):
    def reply(call):
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
        refinements = roles(model).count("refine")
        assert refinements <= k, "P8"
        assert len(values) == 1 + refinements
        assert all(value == 0.0 for value in values[:-1]), "P8"
        assert (out["stop_reason"] == "verified") == (values[-1] == 1.0)
        assert values[-1] == 1.0 or refinements == k
