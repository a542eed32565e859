"""How a search ended, in words: answers, limits by name, votes, ties, what could not be read."""

from typing import Any

import pytest
from support.acting import Errand, Odds
from support.acting import walker as actor
from support.climbing import Climbing
from support.scripted import Call, ScriptedChat
from support.searches import never
from support.stepping import MARKER, Stepping

import thoughtgraph as tg
from thoughtgraph import outcome
from thoughtgraph.cli.screen.events import Narrator
from thoughtgraph.cli.viewer.page import payload
from thoughtgraph.results import stored
from thoughtgraph.tasks.rollback_prompts import UNREAD

SENTENCES = "One. Two. Three. Four."


async def run(
    method: str, model: Any, task: Any, problem: str, oracle: Any = False, **context: Any
) -> dict[str, Any]:
    graph = tg.build(method, task=task, model=ScriptedChat(reply=model), oracle=oracle)
    return dict(await graph.ainvoke({"problem": problem}, context=context))


async def write(method: str, role: str, said: str, **context: Any) -> dict[str, Any]:
    """Writes texts, of which one role says the same each time."""

    def reply(call: Call) -> str:
        return said if call.role == role else f"Text {call.draw}"

    return await run(method, reply, "creative_writing", SENTENCES, **context)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (["4", "5", "4", "4", "6"], "finished with an answer; 3 of 5 votes"),
        (["12", "84", "96", "7"], "1 of 4 votes, tied with 84, 96, 7: the first one counts"),
        (["12", "", "12", ""], "2 of 2 votes; 2 votes could not be read"),
    ],
)
async def test_votes_are_told_with_ties_and_what_could_not_be_read(
    answers: list[str], words: str
) -> None:
    said = [f"So the answer is {answer}." if answer else "Who knows" for answer in answers]
    out = await run("cot_sc", lambda call: said, "gsm8k", "2 + 2?", n_generate=len(said))
    assert out["answer"] == answers[0]
    assert out["outcome"].endswith(words)
    if answers[0] == "4":
        vote = {"by": "votes", "step": 0, "got": 3.0, "of": 5.0, "tied": [], "unread": 0}
        assert out["votes"] == [vote]
    (shown,) = payload([stored(out)])["runs"]  # type: ignore[list-item]
    assert shown["outcome"] == out["outcome"]
    assert shown["verified"] == "unknown: gsm8k has no exact check"


async def test_votes_that_nobody_can_read_elect_nobody() -> None:
    out = await write("tot_bfs", "vote", "hm")
    assert [(vote["got"], vote["of"], vote["unread"]) for vote in out["votes"]] == [(0, 0, 5)] * 2
    assert "step 2: no vote of 5 could be read, so the first one counts" in out["outcome"]
    assert "step 1: no vote of 5 could be read" in out["outcome"]


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
    assert words in out["outcome"] and "0.5" not in out["outcome"]
    (shown,) = payload([stored(out)])["runs"]  # type: ignore[list-item]
    assert shown["outcome"] == stored(out)["outcome"] == out["outcome"]
    lines = [str(event) for event in Narrator(out["tree"], "x").grew({}, out["tree"])]
    assert f"value     1: 0.5 ({UNREAD})" in lines


async def test_a_bound_of_the_method_is_named() -> None:
    out = await run("react", actor(5, Odds(finish=0.0)), Errand(), "a", max_steps=3)
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
    base: dict[str, Any] = {"task": "game24", "settings": {}, "answer": "1"}
    base["stop_reason"] = "finished"
    assert outcome.verdict({**base, "verified": False}) == "no, by the exact check of game24"
    assert outcome.verdict({**base, "verified": None}).startswith("unknown")
    told = {**base, "stop_reason": "verified", "verified": True, "oracle": True}
    assert outcome.verdict(told) == "yes, by the oracle"
    assert outcome.rightness(False, "7") == "no, it is '7'"


async def test_an_answer_that_the_oracle_refused_is_not_called_unknown() -> None:
    out = await write("refine", "", "", refinements=1, oracle=never)
    assert out["verified"] is False
    assert outcome.verdict({**out, "task": "creative_writing"}) == "no, by the oracle"
    assert "with an answer that the oracle found wrong" in out["outcome"]
