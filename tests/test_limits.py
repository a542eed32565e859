"""Limits, and how a search says that it ended."""

import asyncio
from typing import Any

import pytest
from support.acting import Errand, Odds, Walk
from support.acting import walker as actor
from support.climbing import Climbing
from support.clock import leaping
from support.scripted import Call, ScriptedChat
from support.searches import CASES, built, never
from support.stepping import MARKER, Stepping

import thoughtgraph as tg
from thoughtgraph import outcome, registry
from thoughtgraph.cli.screen.events import event_lines
from thoughtgraph.cli.viewer.page import payload
from thoughtgraph.nodes.thought_events import events
from thoughtgraph.results import stored
from thoughtgraph.tasks.rollback_prompts import UNREAD


def test_every_method_is_here() -> None:
    assert set(CASES) == set(registry.METHODS)


async def search(method: str, **limits: Any) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """One search: its result, the usage after each superstep, and the requests it sent."""
    case = CASES[method]
    graph, model = built(case, method, checkpointer=None)
    out: dict[str, Any] = {}
    spent: list[dict[str, Any]] = []
    async for out in graph.astream(
        {"problem": case.problem}, context={**case.context, **limits}, stream_mode="values"
    ):
        spent.append(out.get("usage", {}))
    return out, spent, len(model.seen)


COUNTERS = {
    **dict.fromkeys(["requests", "calls", "samples", "prompt_tokens", "completion_tokens"], int),
    **dict.fromkeys(["cached", "thoughts", "evaluated", "reasoning_steps", "rounds"], int),
    **dict.fromkeys(["expansions", "reexpansions", "rollbacks", "analyses"], int),
    **dict.fromkeys(["tool_calls", "tool_failures", "parse_errors"], dict),
    **dict.fromkeys(["tool_cost", "tool_cost_path"], float),
}
"""What every method reports, used or not."""


@pytest.mark.parametrize("method", CASES)
async def test_the_limit_on_thoughts_ends_a_search_at_once_and_all_is_counted(method: str) -> None:
    for limit in (0, 1, 3, 5):
        out, spent, sent = await search(method, limit_thoughts=limit)
        usage = out["usage"]
        assert out["stop_reason"] == "budget"
        assert len(out["tree"]) - 1 == usage["thoughts"] <= limit
        then = [each.get("requests", 0) for each in spent if each.get("thoughts", 0) >= limit]
        assert sent <= (then[0] if then else sent), "nothing is asked once the limit is reached"
        assert sent or not limit
        assert {name: type(usage[name]) for name in COUNTERS} == COUNTERS
        assert usage["requests"] == sent
        assert sum(role["requests"] for role in usage["roles"].values()) == sent
        assert bool(usage["reasoning_steps"]) == (out["answer"] is not None)


@pytest.mark.parametrize("method", CASES)
async def test_the_limit_on_requests_is_never_passed(method: str) -> None:
    for limit in (0, 1, 2, 3, 5, 8):
        out, _, sent = await search(method, limit_requests=limit)
        assert sent == out["usage"]["requests"] <= limit
        assert out["stop_reason"] == "budget" or sent, "what can do with less ends by itself"


@pytest.mark.parametrize("method", ["io", "cot", "cot_sc"])
async def test_samples_that_could_not_be_kept_are_not_paid_for(method: str) -> None:
    out, _, _ = await search(method, limit_thoughts=4)
    assert out["usage"]["samples"] == len(out["candidates"]) == 4
    enough, _, _ = await search(method, limit_thoughts=9)
    assert enough["stop_reason"] == "finished", "a limit that forbids nothing ends nothing"


async def test_states_whose_children_could_not_be_kept_are_not_expanded() -> None:
    out, _, _ = await search("tot_bfs", limit_thoughts=7)
    first = out["usage"]["roles"]["generate"]["requests"]
    assert first == 2, "the root and one of five states: only one child is still allowed"


async def test_the_path_to_the_answer_is_counted() -> None:
    out, _, _ = await search("tot_bfs")
    assert out["stop_reason"] == "finished"
    assert out["usage"]["reasoning_steps"] == 4, "three equations and the answer"


@pytest.mark.parametrize("method", CASES)
def test_the_limit_on_seconds_cancels_what_is_in_flight(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[method]
    for answered in (0, 1, 6):
        graph, model = built(case, method, checkpointer=None)
        model.delay = lambda call: 0.0 if len(model.seen) <= answered else 600.0  # noqa: B023
        search = graph.ainvoke({"problem": case.problem}, context={**case.context, **LIMIT})
        out = leaping(search, monkeypatch)
        if len(model.seen) <= answered:
            assert out["stop_reason"] != "budget", "a limit that was not reached ends nothing"
            continue
        assert (out["stop_reason"], out["error"]) == ("budget", "")
        assert out["usage"]["requests"] == answered, "what was answered is kept"
        assert 0.5 <= out["usage"]["seconds"] <= 0.502


LIMIT = {"limit_seconds": 0.5}


class Stuck(Walk):
    """Tools of which every call takes for ever."""

    async def call(self, name: str, argument: str, state: Any) -> Any:
        await asyncio.sleep(600.0)


@pytest.mark.parametrize("method", ["react", "reflexion", "itot_a_star", "fgdip"])
def test_the_limit_on_seconds_cancels_tools_as_well(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[method]._replace(task=Errand(Stuck()))
    graph, _ = built(case, method, checkpointer=None)
    search = graph.ainvoke({"problem": case.problem}, context={**case.context, **LIMIT})
    out = leaping(search, monkeypatch)
    assert (out["stop_reason"], out["error"]) == ("budget", "")
    assert 0.5 <= out["usage"]["seconds"] <= 0.502
    assert not out["usage"]["tool_calls"], "a call without an answer is none"


@pytest.mark.parametrize("method", CASES)
async def test_a_search_whose_time_is_up_before_it_asks_ends(method: str) -> None:
    """Else its router would send for the same request for ever."""
    async with asyncio.timeout(60):
        out, _, sent = await search(method, limit_seconds=1e-9)
    assert (out["stop_reason"], sent) == ("budget", 0)


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
    assert shown["verified"] == "not checked: gsm8k has no exact check"


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
    made = [{**event, "node": "x"} for event in events({}, {"thoughts": out["tree"]}, "x")]
    lines = [str(event) for event in event_lines(made, out["tree"], "x")]
    assert f"judged      1: 0.5 ({UNREAD})" in lines


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
        assert (
            f"stopped by the limit on {limit} (limit_{limit}=2), without an answer"
            in out["outcome"]
        )


def test_a_wrong_answer_is_never_called_right() -> None:
    base: dict[str, Any] = {"task": "game24", "settings": {}, "answer": "1"}
    base["stop_reason"] = "finished"
    assert outcome.verdict({**base, "verified": False}) == "no, by the exact check of game24"
    assert outcome.verdict({**base, "verified": None}).startswith("not checked")
    told = {**base, "stop_reason": "verified", "verified": True, "oracle": True}
    assert outcome.verdict(told) == "yes, by the oracle"


async def test_an_answer_that_the_oracle_refused_is_not_called_unknown() -> None:
    out = await write("refine", "", "", refinements=1, oracle=never)
    assert out["verified"] is False
    assert outcome.verdict({**out, "task": "creative_writing"}) == "no, by the oracle"
    assert "with an answer that the oracle found wrong" in out["outcome"]
