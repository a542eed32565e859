"""Searches whose model and settings are drawn, of methods with steps, plans and letters."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from support import climbing, stepping
from support.climbing import CLIMBING, Climbing, climber
from support.letters import LETTERS, breadth_first, depth_first, die
from support.scripted import Call, Reply
from support.stepping import MARKER, STEPPING, single


class Drawn(NamedTuple):
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


def over_plans(seed: int) -> Drawn:
    method, settings = climbing.drawn(seed)
    return Drawn(method, CLIMBING, climber(seed), {**settings, "speculate": seed % 3}, "6")


def by_rollback(seed: int) -> Drawn:
    reply, settings = stepping.drawn(seed)
    protocol = ("two_call", "single_call")[seed // 2 % 2]
    settings |= {"parallel": seed % 2 == 0, "protocol": protocol}
    return Drawn("rollback", STEPPING, single(reply), settings)


def by_levels(seed: int) -> Drawn:
    def reply(call: Call) -> str | list[str]:
        at = call.prompt.count("\nStep ") + seed
        if call.role == "score":
            return f"Evaluation Score: 0.{at % 10}"
        return [f"{MARKER} {at}" if at % 4 == 3 else f"{at} {of}" for of in range(call.n)]

    return Drawn("level_tot", STEPPING, reply, {"n_generate": 3, "steps": 4})


def by_chain(seed: int) -> Drawn:
    return Drawn("chain", STEPPING, lambda call: "a step", {"steps": 1 + seed % 4})


SEARCHES: dict[str, Callable[[int], Drawn]] = {
    "tot_bfs": lambda seed: Drawn("tot_bfs", LETTERS, die(seed), breadth_first(seed)),
    "tot_dfs": lambda seed: Drawn("tot_dfs", LETTERS, die(seed), depth_first(seed)),
    "plans": over_plans,
    "adaptive": lambda seed: Drawn("adaptive", PLANS, climber(seed), {"samples": 12}, "9"),
    "rollback": by_rollback,
    "chain": by_chain,
    "level_tot": by_levels,
}
