"""How a search ended, in words: answers, limits by name, votes, ties, what could not be read."""

from typing import Any

import pytest
from support.acting import Errand, Odds
from support.acting import walker as actor
from support.climbing import Climbing
from support.scripted import Call, ScriptedChat
from support.stepping import MARKER, Stepping

import thoughtgraph as tg
from thoughtgraph import outcome
from thoughtgraph.cli.screen.events import Narrator
from thoughtgraph.cli.viewer.page import payload
from thoughtgraph.results import stored
from thoughtgraph.tasks.rollback_prompts import UNREAD


async def run(method: str, model: Any, task: Any, problem: str, **context: Any) -> dict[str, Any]:
    graph = tg.build(method, task=task, model=ScriptedChat(reply=model))
    return dict(await graph.ainvoke({"problem": problem}, context=context))


async def sums(answers: list[str]) -> dict[str, Any]:
    """Self-consistency on free questions, with these samples."""
    said = [f"So the answer is {answer}." if answer else "Who knows" for answer in answers]
    return await run("cot_sc", lambda call: said, "gsm8k", "2 + 2?", n_generate=len(said))


async def test_a_majority_is_told_with_its_votes() -> None:
    out = await sums(["4", "5", "4", "4", "6"])
    assert out["outcome"] == "finished with an answer; 3 of 5 votes"
    assert out["votes"] == [
        {"by": "votes", "step": 0, "got": 3.0, "of": 5.0, "tied": [], "unread": 0}
    ]


async def test_a_tie_is_called_a_tie() -> None:
    out = await sums(["12", "84", "96", "7", "1"])
    assert out["answer"] == "12"
    assert out["outcome"].endswith("1 of 5 votes, tied with 84, 96, 7, 1: the first one counts")


async def test_samples_without_an_answer_are_told() -> None:
    out = await sums(["12", "", "12", ""])
    assert out["outcome"].endswith("2 of 2 votes; 2 votes could not be read")


def writing(vote: str) -> Any:
    def reply(call: Call) -> str:
        return vote if call.role == "vote" else f"Text {call.draw}"

    return reply


async def test_votes_that_nobody_can_read_elect_nobody() -> None:
    out = await run("tot_bfs", writing("hm"), "creative_writing", "One. Two. Three. Four.")
    assert [(vote["got"], vote["of"], vote["unread"]) for vote in out["votes"]] == [(0, 0, 5)] * 2
    assert "step 2: no vote of 5 could be read, so the first one counts" in out["outcome"]
    assert "step 1: no vote of 5 could be read" in out["outcome"]


async def test_every_depth_of_a_voted_search_is_told() -> None:
    choice = writing("The best choice is 2")
    out = await run("tot_bfs", choice, "creative_writing", "One. Two. Three. Four.")
    assert [vote["step"] for vote in out["votes"]] == [1, 2]
    assert out["outcome"] == "finished with an answer; step 2: 5 of 5 votes"


def scoring(score: str) -> Any:
    return lambda call: f"Evaluation Score: {score}. {MARKER} 3"


async def test_equal_scores_are_told_and_unread_ones() -> None:
    out = await run("level_tot", scoring("hm"), Stepping(), "x", n_generate=3)
    (vote,) = out["votes"]
    assert (vote["by"], vote["got"], vote["unread"], len(vote["tied"])) == ("scores", None, 3, 2)
    assert "no score of 3 could be read, so the first one counts" in out["outcome"]


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (0.4, "nothing of its own score could be read, so a default counted; 1 score could not"),
        (0.5, "so a default counted, tied with 3, 3: the first one counts; 1 score could not be"),
    ],
)
async def test_a_winner_without_a_score_of_its_own_is_not_told_with_the_default(
    others: float, words: str
) -> None:
    told = iter(["hm", *[f"Evaluation Score: {others}"] * 2])

    def reply(call: Call) -> str:
        return next(told) if call.role == "score" else f"{MARKER} 3"

    out = await run("level_tot", reply, Stepping(), "x", n_generate=3)
    (vote,) = out["votes"]
    assert (vote["got"], vote["of"], vote["unread"]) == (None, 1.0, 1)
    assert words in out["outcome"]
    assert "0.5" not in out["outcome"]
    (shown,) = payload([stored(out)])["runs"]  # type: ignore[list-item]
    assert shown["outcome"] == stored(out)["outcome"] == out["outcome"]
    lines = [str(event) for event in Narrator(out["tree"], "x").grew({}, out["tree"])]
    assert f"value     1: 0.5 ({UNREAD})" in lines


@pytest.mark.parametrize(
    ("ensemble", "words"),
    [("majority", "votes"), ("ratio", "weighted vote"), ("last", "")],
)
async def test_an_ensemble_tells_its_weights(ensemble: str, words: str) -> None:
    def reply(call: Call) -> str:
        return "The final solution is 4. Bad step index: 1"

    task: Any = "gsm8k"
    out = await run("rollback", reply, task, "2 + 2?", ensemble=ensemble, solutions=2)
    assert (words in out["outcome"]) if words else not out["votes"]
    assert out["stop_reason"] == "finished"


async def test_a_bound_of_the_method_is_named() -> None:
    errand = actor(5, Odds(finish=0.0))
    out = await run("react", errand, Errand(), "a", max_steps=3)
    assert (out["stop_reason"], out["limit"]) == ("step_limit", "max_steps")
    assert "the method's own bound (max_steps=3)" in out["outcome"]
    plan = await run("tomt_os", lambda call: "+1\n+1\noops", Climbing(), "30", max_calls=4)
    assert (plan["stop_reason"], plan["limit"]) == ("budget", "max_calls")


@pytest.mark.parametrize("limit", ["requests", "thoughts", "rounds", "depth"])
async def test_a_limit_is_named(limit: str) -> None:
    errand = actor(5, Odds(finish=0.0))
    out = await run("itot_a_star", errand, Errand(), "a", rounds=50, **{f"limit_{limit}": 2})
    assert out["limit"] == f"limit_{limit}"
    if limit == "depth":
        assert "as nothing was left to search within the limit on depth" in out["outcome"]
    else:
        assert f"stopped by the limit on {limit} (limit_{limit}=2)" in out["outcome"]


def test_a_wrong_answer_is_never_called_right() -> None:
    base: dict[str, Any] = {
        "task": "game24",
        "settings": {},
        "answer": "1",
        "stop_reason": "finished",
    }
    assert outcome.verdict({**base, "verified": False}) == "no, by the exact check of game24"
    assert outcome.verdict({**base, "verified": None}).startswith("unknown")
    told = {**base, "stop_reason": "verified", "verified": True, "oracle": True}
    assert outcome.verdict(told) == "yes, by the oracle"
    assert outcome.rightness(False, "7") == "no, it is '7'"


async def test_the_page_has_the_sentence_of_the_result() -> None:
    out = await sums(["12", "84"])
    (shown,) = payload([stored(out)])["runs"]  # type: ignore[list-item]
    assert shown["outcome"] == out["outcome"]
    assert shown["verified"] == "unknown: gsm8k has no exact check"


@pytest.mark.parametrize(
    ("judgement", "words"),
    [
        ("The passage is perfectly coherent", "that the model finds good"),
        ("The passage is not perfectly coherent", "that the model does not find good yet"),
    ],
)
async def test_what_the_model_thinks_of_its_answer_is_told(judgement: str, words: str) -> None:
    def reply(call: Call) -> str:
        return judgement if call.role == "judge" else f"Text {call.draw}"

    given = "One. Two. Three. Four."
    out = await run("refine", reply, "creative_writing", given, refinements=1)
    assert f"with an answer {words}" in out["outcome"]


async def test_an_answer_that_the_oracle_refused_is_not_called_unknown() -> None:
    async def never(answer: str) -> bool:
        return False

    model = ScriptedChat(reply=lambda call: "Text")
    graph = tg.build("refine", task="creative_writing", model=model, oracle=never)
    given = {"problem": "One. Two. Three. Four."}
    out = await graph.ainvoke(given, context={"refinements": 1})
    assert out["verified"] is False
    assert outcome.verdict({**out, "task": "creative_writing"}) == "no, by the oracle"
    assert "with an answer that the oracle found wrong" in out["outcome"]
