"""Tree-of-Mixed-Thought: hand-solved searches, the paper's recursion, what speculation keeps."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest
from support.climbing import CLIMBING, climber, drawn
from support.letters import built
from support.letters import run as searched
from support.pools import POOLS
from support.scripted import Call, Reply, rng

from thoughtgraph.errors import ModelError
from thoughtgraph.llm.exchange import Draw


async def seen(
    method: str, reply: Reply, problem: str = "6", **context: Any
) -> tuple[Any, list[Call]]:
    return await searched(method, CLIMBING, reply, problem, **context)


async def run(method: str, reply: Reply, problem: str = "6", **context: Any) -> Any:
    return (await seen(method, reply, problem, **context))[0]


def scripted(lines: Mapping[tuple[str, int], str]) -> Reply:
    """Answers by the continued thought and the index of the call."""

    def reply(call: Call) -> str:
        assert call.draw is not None
        _, thought, index, _ = call.draw
        return lines[thought, index]

    return reply


def rows(out: Any) -> list[tuple[Any, ...]]:
    return [
        (t["id"], t["parent"], t["text"], t["status"], t.get("note", "").partition(":")[0])
        for t in list(out["tree"].values())[1:]
    ]


STEPWISE = {
    ("0", 0): "+3\n+9",  # the second line is beyond the one step wanted
    ("1", 0): "+4",  # 7 > 6
    ("1", 1): "+3",
    ("3", 0): "oops",
    ("3", 1): "+1",
    ("3", 2): "+1",  # all three refused: back to thought 1
    ("1", 2): "+2",
    ("7", 0): "end",
}


async def test_step_by_step_by_hand() -> None:
    out = await run("tomt_tot", scripted(STEPWISE))
    assert rows(out) == [
        ("1", "0", "+3", "expanded", ""),
        ("2", "1", "+4", "pruned", "E_HIGH"),
        ("3", "1", "+3", "expanded", "no continuation was accepted"),
        ("4", "3", "oops", "pruned", "E_SYNTAX"),
        ("5", "3", "+1", "pruned", "E_HIGH"),
        ("6", "3", "+1", "pruned", "E_HIGH"),
        ("7", "1", "+2", "expanded", ""),
        ("8", "7", "end", "terminal", ""),
    ]
    assert (out["answer"], out["stop_reason"]) == ("5", "finished")
    usage = out["usage"]
    assert (usage["requests"], usage["evaluated"], usage["parse_errors"]) == (8, 8, {"generate": 1})
    assert out["tree"]["7"]["tool_state"] == {"at": 5}
    assert out["tree"]["7"]["observation"] == "at 5"
    assert out["tree"]["2"]["raw"] == "+4"
    assert out["tree"]["1"]["usage"]["generate"]["requests"] == 3, "three calls continued it"


async def test_one_stop_below_the_first_step_by_hand() -> None:
    lines = {
        ("0", 0): "+1\n+1\nend",  # depth 1 < sn: one step
        ("1", 0): "+2\n+2\n+9\nend",  # all that remains: one bad step refuses the whole
        ("1", 1): "+2\n+2\nend",  # the second child: one step
        ("3", 0): "+3\nend\n+1",  # what follows the end is dropped
    }
    out = await run("tomt_os", scripted(lines))
    assert rows(out) == [
        ("1", "0", "+1", "expanded", ""),
        ("2", "1", "+2\n+2\n+9\nend", "pruned", "E_HIGH"),
        ("3", "1", "+2", "expanded", ""),
        ("4", "3", "+3\nend", "terminal", ""),
    ]
    assert (out["answer"], out["stop_reason"]) == ("6", "finished")
    asked = [t["created_by"]["steps"] for t in list(out["tree"].values())[1:]]
    assert asked == [1, None, 1, None]


async def test_blocks_by_hand() -> None:
    lines = {("0", 0): "+1\n+9", ("0", 1): "+1\n+2\nend", ("2", 0): "+3\nend"}
    out = await run("tomt_block", scripted(lines), block_size=2)
    assert rows(out) == [
        ("1", "0", "+1\n+9", "pruned", "E_HIGH"),
        ("2", "0", "+1\n+2", "expanded", ""),
        ("3", "2", "+3\nend", "terminal", ""),
    ]
    assert out["answer"] == "6"


ENDLESS = ("tomt_tot", "+1", "99")


@pytest.mark.parametrize(
    ("search", "settings", "answer", "reason", "requests"),
    [
        (("tomt_one_stop", "+2\nend", "6"), {}, "2", "finished", 1),
        (("tomt_one_stop", "+9\nend", "6"), {}, None, "dead_end", 1),
        (("tomt_one_stop", "+2", "6"), {}, None, "budget", 1),
        # Two at the root, two below each of them.
        (("tomt_tot", "+4", "6"), {"branches": 2}, None, "dead_end", 6),
        (ENDLESS, {"max_calls": 7}, None, "budget", 7),
        (ENDLESS, {"limit_thoughts": 3}, None, "budget", 3),
        (ENDLESS, {"limit_rounds": 3}, None, "round_limit", 3),
        *((ENDLESS, {"limit_requests": at, "speculate": 2}, None, "budget", at) for at in range(5)),
    ],
)
async def test_what_ends_a_search_and_after_how_many_calls(
    search: tuple[str, str, str], settings: Any, answer: str | None, reason: str, requests: int
) -> None:
    method, text, problem = search
    out, calls = await seen(method, lambda call: text, problem, **settings)
    assert (out["answer"], out["stop_reason"]) == (answer, reason)
    assert len(calls) == out["usage"].get("requests", 0) == requests
    assert "speculate" in settings or len(out["tree"]) == requests + 1


@pytest.mark.parametrize("limit", [{"max_steps": 3}, {"limit_depth": 3}])
async def test_a_plan_that_grows_too_long_is_refused(limit: dict[str, Any]) -> None:
    out = await run("tomt_tot", lambda call: "+1", problem="99", branches=1, **limit)
    assert out["stop_reason"] == "dead_end"
    last = list(out["tree"].values())[-1]
    assert last["note"].startswith("E_LIMIT")
    plan = [t for t in out["tree"].values() if t["depth"] and t["status"] != "pruned"]
    assert len(plan) <= 3


def algorithm_1(
    method: str, reply: Callable[[str, int], str], problem: str, settings: Mapping[str, Any]
) -> tuple[list[tuple[str, str, str]], str | None, str]:
    """The recursion over the same texts: every call with its fate, the answer, how it ended."""
    made: list[tuple[str, str, str]] = []

    def portion(d: int, i: int) -> int | None:
        if method == "tomt_one_stop" or (
            method == "tomt_os" and d >= settings["start_depth"] and i == 0
        ):
            return None
        return settings["block_size"] if method == "tomt_block" else 1

    def dfs(thought: str, prefix: list[Any], d: int) -> tuple[str, str | None]:
        for i in range(settings["branches"]):
            if len(made) == settings["max_calls"]:
                return "budget", None
            [chunk] = CLIMBING.plan(problem, [], [], portion(d, i), {}).read([reply(thought, i)])
            ruling = CLIMBING.execute(problem, prefix, chunk, {})
            key = str(len(made) + 1)
            fate = "accepted" if ruling.accepted else "refused"
            made.append((thought, ruling.text, fate))
            if not ruling.accepted:
                continue
            if ruling.answer is not None:
                return "finished", ruling.answer
            below: Any = {"text": ruling.text, "tool_state": ruling.tool_state}
            found = dfs(key, [*prefix, below], d + 1)
            if found[0] != "dead_end":
                return found
        return "dead_end", None

    status, answer = dfs("0", [], 1)
    return made, answer, status


@pytest.mark.parametrize("pool", POOLS)
async def test_every_search_is_the_recursion_of_the_paper(pool: range) -> None:
    ends = set()
    for seed in pool:
        method, settings = drawn(seed)
        problem = str(Random(seed).randint(2, 9))
        out, calls = await seen(method, climber(seed), problem, **settings)
        assert out["usage"]["requests"] == len(calls) == len(out["tree"]) - 1, "P2"

        def reply(thought: str, index: int, seed: int = seed, problem: str = problem) -> str:
            call = Call("generate", "", Draw(problem, thought, index), 1, None)
            return str(climber(seed)(call))

        made, answer, status = algorithm_1(method, reply, problem, settings)
        assert made == [
            (t["parent"], t["text"], "refused" if t["status"] == "pruned" else "accepted")
            for t in list(out["tree"].values())[1:]
        ]
        assert (out["answer"], out["stop_reason"]) == (answer, status)
        ends.add(status)
    assert ends == {"finished", "budget", "dead_end"}


def failing(seed: int) -> Reply:
    """A climber whose endpoint refuses some calls, always the same ones."""
    write = climber(seed)

    def reply(call: Call) -> Any:
        if rng("refused", seed, call.draw).random() < 0.1:
            raise ModelError("the endpoint is gone")
        return write(call)

    return reply


@pytest.mark.parametrize("pool", POOLS)
async def test_speculation_changes_nothing_but_the_cost(pool: range) -> None:
    """Neither do failures and delays of calls that are made ahead of need."""
    ends, saved = set(), 0
    for seed in pool:
        method, settings = drawn(seed)
        model = built(method, CLIMBING)[1]
        for reply in (climber(seed), failing(seed)):
            outs = []
            for ahead in range(settings["branches"] + 1):
                model.delay = lambda call, at=ahead: rng(at, call.draw).random() / 1000
                context = {**settings, "speculate": ahead, "on_error": "report"}
                outs.append(await run(method, reply, **context))
            model.delay = 0.0
            plain, *faster = outs
            ends.add(plain["stop_reason"])
            least = plain["usage"]
            for out in faster:
                for part in ("tree", "answer", "stop_reason", "error"):
                    assert out[part] == plain[part], seed
                cost = out["usage"]
                assert cost["evaluated"] == least["evaluated"], "calls as T counts"
                assert cost["requests"] >= least["requests"]
                assert cost["levels"] <= least["levels"]
                saved += least["levels"] - cost["levels"]
    assert saved > 0
    assert ends >= {"finished", "error", "dead_end"}


@pytest.mark.parametrize("limit", [{"max_calls": 5}, {"limit_thoughts": 5}, {"limit_rounds": 5}])
async def test_calls_that_waited_are_judged_within_the_limits(limit: dict[str, Any]) -> None:
    lines = {("0", 0): "+1", **{("1", at): "+9" for at in range(3)}, ("0", 1): "+9", ("0", 2): "+9"}
    plain, ahead = [
        await run("tomt_tot", scripted(lines), **limit, speculate=speculate) for speculate in (0, 2)
    ]
    assert [parent for _, parent, *_ in rows(plain)] == ["0", "1", "1", "1", "0"]
    assert (ahead["tree"], ahead["stop_reason"]) == (plain["tree"], plain["stop_reason"])
    assert plain["stop_reason"] == ("round_limit" if "limit_rounds" in limit else "budget")
