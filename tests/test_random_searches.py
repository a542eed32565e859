"""What holds for every search, by random models and settings: P2 to P4 of the design."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
from support import climbing, stepping
from support.climbing import CLIMBING, Climbing, climber
from support.letters import (
    HOSTILE,
    LETTERS,
    breadth_first,
    comparable,
    depth_first,
    die,
    interrupted,
    run,
)
from support.scripted import Call, Reply
from support.stepping import MARKER, STEPPING, single


class Random(NamedTuple):
    """A search whose model and settings are drawn."""

    method: str
    task: Any
    reply: Reply
    settings: dict[str, Any]
    problem: str = "x"


class SelfPublished(Climbing):
    """Says itself that it has plans, as `adaptive` wants it."""

    def published(self, method: str) -> Mapping[str, Any]:
        return {"draw": "plans", "shots": 2}


PLANS = SelfPublished()


def over_plans(seed: int) -> Random:
    method, settings = climbing.drawn(seed)
    return Random(method, CLIMBING, climber(seed), {**settings, "speculate": seed % 3}, "6")


def by_rollback(seed: int) -> Random:
    reply, settings = stepping.drawn(seed)
    protocol = ("two_call", "single_call")[seed // 2 % 2]
    settings |= {"parallel": seed % 2 == 0, "protocol": protocol}
    return Random("rollback", STEPPING, single(reply), settings)


def levels(seed: int) -> Random:
    def reply(call: Call) -> str | list[str]:
        at = call.prompt.count("\nStep ") + seed
        if call.role == "score":
            return f"Evaluation Score: 0.{at % 10}"
        return [f"{MARKER} {at}" if at % 4 == 3 else f"{at} {of}" for of in range(call.n)]

    return Random("level_tot", STEPPING, reply, {"n_generate": 3, "steps": 4})


SEARCHES: dict[str, Callable[[int], Random]] = {
    "tot_bfs": lambda seed: Random("tot_bfs", LETTERS, die(seed), breadth_first(seed)),
    "tot_dfs": lambda seed: Random("tot_dfs", LETTERS, die(seed), depth_first(seed)),
    "plans": over_plans,
    "adaptive": lambda seed: Random("adaptive", PLANS, climber(seed), {"samples": 12}, "9"),
    "rollback": by_rollback,
    "chain": lambda seed: Random("chain", STEPPING, lambda call: "a step", {"steps": 1 + seed % 4}),
    "level_tot": levels,
}


@pytest.mark.parametrize("pool", [range(8), pytest.param(range(8, 300), marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", SEARCHES)
async def test_a_search_stopped_after_every_node_ends_the_same(kind: str, pool: range) -> None:
    for seed in pool:
        method, task, reply, settings, problem = SEARCHES[kind](seed)
        whole, seen = await run(method, task, reply, problem, **settings)
        resumed = await interrupted(method, task, reply, problem, **settings)
        assert comparable(resumed) == comparable(whole), "P4"
        usage = whole["usage"]
        assert usage.get("requests", 0) == len(seen), "P2"
        assert usage.get("samples", 0) == sum(call.n for call in seen), "P2"


GAME, BOARD = "4 9 10 13", "\n".join("abcdefghij")
SENTENCES = "It was late. He sat. She ran. Nobody cared."
EVERYTHING = {**HOSTILE, "number": "9" * 50_000, "steps": "Step 1:" * 50_000, "json": '{"a": 1}'}
ENDS: dict[str, list[tuple[Any, str, dict[str, Any], str]]] = {
    "tot_bfs": [
        (LETTERS, "x", {"generate": "propose", "evaluate": judged, "limit_thoughts": 100}, "")
        for judged in ("value", "vote")
    ],
    "tot_dfs": [
        ("crosswords", BOARD, {"max_records": 3}, ""),
        ("game24", GAME, {"max_records": 3}, ""),
    ],
    "chain": [(STEPPING, "x", {"steps": 2}, "step_limit")],
    "level_tot": [(STEPPING, "x", {"steps": 2}, "step_limit")],
    "rollback": [(STEPPING, "x", {"steps": 3, "parallel": at}, "") for at in (True, False)],
    "cot": [
        (task, problem, {"n_generate": 2}, "finished")
        for task, problem in (
            ("gsm8k", "?"),
            ("strategyqa", "?"),
            ("question", "?"),
            ("creative_writing", SENTENCES),
            ("game24", GAME),
        )
    ],
    **{name: [(CLIMBING, "6", {}, "dead_end")] for name in climbing.METHODS},
}
"""Tasks, problems and settings of a method, and why it ends when it can read nothing."""


@pytest.mark.parametrize("text", EVERYTHING.values(), ids=EVERYTHING)
@pytest.mark.parametrize("method", ENDS)
async def test_no_text_of_a_model_raises(method: str, text: str) -> None:
    for task, problem, context, reason in ENDS[method]:
        out, _ = await run(method, task, lambda call: text, problem, **context)
        assert out["stop_reason"] and reason in ("", out["stop_reason"]), "P3"
        unread = out["usage"].get("parse_errors", {})
        if method == "rollback":
            # Nothing is to be read out of an empty analysis, so nobody is asked to.
            role = "extract_index" if text.strip() else "analyse"
            assert unread[role] == out["usage"]["analyses"]
        if method in climbing.METHODS:
            notes = [t["note"].partition(":")[0] for t in list(out["tree"].values())[1:]]
            assert notes
            assert unread.get("generate", 0) == len(notes) - notes.count("E_LIMIT")
