"""A search of several thoughts for every method: its task, its scripted model, its problem."""

from typing import Any, NamedTuple

from support.acting import Errand, Odds
from support.acting import walker as actor
from support.climbing import Climbing
from support.players import play
from support.scripted import Call, Reply
from support.stepping import Stepping
from support.stepping import walker as stepper


class Case(NamedTuple):
    """A search that needs several thoughts: task, model, problem and what the graph is told."""

    task: Any
    reply: Reply
    problem: str
    context: dict[str, Any]
    oracle: Any = False


async def never(answer: str) -> bool:
    return False


def game(context: dict[str, Any], oracle: Any = False) -> Case:
    return Case("game24", play_call, "4 9 10 13", context, oracle)


def play_call(call: Call) -> str:
    seen: Any = call
    return play(seen)


def steps(context: dict[str, Any]) -> Case:
    return Case(Stepping(), stepper(1, ends=0.0, bad=0.3), "x", {"steps": 12, **context})


def plans(context: dict[str, Any]) -> Case:
    return Case(Climbing(), lambda call: "+1\n+1\noops", "30", {"branches": 3, **context})


def errand(context: dict[str, Any], oracle: Any = False) -> Case:
    return Case(Errand(), actor(5, Odds(finish=0.0)), "a", context, oracle)


CASES = {
    "io": game({"n_generate": 9}),
    "cot": game({"n_generate": 9}),
    "cot_sc": game({"n_generate": 9}),
    "adaptive": game({"samples": 12}, never),
    "refine": game({}, never),
    "tot_bfs": game({}),
    "tot_dfs": game({"outputs": 0}),
    "tomt_one_stop": plans({"max_calls": 30, "branches": 30}),
    "tomt_tot": plans({}),
    "tomt_os": plans({}),
    "tomt_block": plans({}),
    "rollback": steps({}),
    "chain": steps({}),
    "level_tot": steps({}),
    "react": errand({"max_steps": 12}),
    "reflexion": errand({"max_steps": 12}, never),
    "itot_a_star": errand({}),
    "itot_d_star_lite": errand({}),
    "itot_best_first": errand({}),
    "itot_dfs": errand({}),
    "fgdip": errand({}),
}


def untimed(thought: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in thought.items() if name != "usage"}
