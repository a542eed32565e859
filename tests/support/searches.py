"""Searches for every method: tasks, scripted models, problems, and graphs of them."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from langgraph.checkpoint.memory import InMemorySaver
from support import letters, stepping
from support.acting import Errand, Odds
from support.acting import walker as actor
from support.climbing import Climbing, climber
from support.letters import Letters
from support.players import play
from support.scripted import Call, Reply, ScriptedChat
from support.stepping import Stepping

import thoughtgraph as tg
from thoughtgraph.building import Graph

THREAD: Any = {"configurable": {"thread_id": "1"}}


class Case(NamedTuple):
    """A search: task, model, problem, what the graph is told, and who knows the answer."""

    task: Any
    reply: Reply
    problem: str
    context: dict[str, Any]
    oracle: Any = False


def built(case: Case, method: str, **more: Any) -> tuple[Graph, ScriptedChat]:
    """A graph of a case, with a saver of its own, and its model."""
    model = ScriptedChat(reply=case.reply)
    options: dict[str, Any] = {"checkpointer": InMemorySaver(), **more}
    graph = tg.build(method, task=case.task, model=model, oracle=case.oracle, **options)
    return graph, model


async def never(answer: str) -> bool:
    return False


def play_call(call: Call) -> str:
    seen: Any = call
    return play(seen)


def _game(context: dict[str, Any], oracle: Any = False) -> Case:
    return Case("game24", play_call, "4 9 10 13", context, oracle)


def _steps() -> Case:
    return Case(Stepping(), stepping.walker(1, ends=0.0, bad=0.3), "x", {"steps": 12})


def _plans(**context: Any) -> Case:
    return Case(Climbing(), lambda call: "+1\n+1\noops", "30", {"branches": 3, **context})


def _errand(context: dict[str, Any], oracle: Any = False) -> Case:
    return Case(Errand(), actor(5, Odds(finish=0.0)), "a", context, oracle)


CASES = {
    "io": _game({"n_generate": 9}),
    "cot": _game({"n_generate": 9}),
    "cot_sc": _game({"n_generate": 9}),
    "adaptive": _game({"samples": 12}, never),
    "refine": _game({}, never),
    "tot_bfs": _game({}),
    "tot_dfs": _game({"outputs": 0}),
    "tomt_one_stop": _plans(max_calls=30, branches=30),
    "tomt_tot": _plans(),
    "tomt_os": _plans(),
    "tomt_block": _plans(),
    "rollback": _steps(),
    "chain": _steps(),
    "level_tot": _steps(),
    "react": _errand({"max_steps": 12}),
    "reflexion": _errand({"max_steps": 12}, never),
    "itot_a_star": _errand({}),
    "itot_d_star_lite": _errand({}),
    "itot_best_first": _errand({}),
    "itot_dfs": _errand({}),
    "fgdip": _errand({}),
}
"""A search of several thoughts for every method."""


def _voted(call: Call) -> str:
    """Two samples in three say where their answer stands."""
    return "" if call.draw and call.draw[-1] % 3 == 2 else "So the answer is: 7."


def _refined(call: Call) -> str:
    """The first output is wrong, the next unreadable, the third right."""
    answers = ["Answer: 4 + 9 + 10 + 13 = 24", "I cannot", "Answer: (10 - 4) * (13 - 9) = 24"]
    return answers[min(2, int(call.draw[1]) if call.draw else 0)]


def _ending(method: str) -> Callable[[int], Case]:
    if method in ("io", "cot", "cot_sc", "adaptive"):
        count = "samples" if method == "adaptive" else "n_generate"
        number = 4 if method in ("adaptive", "cot_sc") else 3
        return lambda seed: Case("question", _voted, "a", {count: number})
    if method == "refine":
        return lambda seed: Case("game24", _refined, "4 9 10 13", {"refinements": 3}, True)
    if method.startswith("tot_"):
        sizes = {"steps": 2, "breadth": 3} if method == "tot_bfs" else {"steps": 3}
        return lambda seed: Case(Letters(), letters.die(seed, alphabet="abc"), "a", sizes)
    if method.startswith("tomt"):
        return lambda seed: Case(Climbing(), climber(seed), "6", {"max_calls": 30})
    if method in ("chain", "level_tot", "rollback"):
        return lambda seed: Case(Stepping(), stepping.walker(seed, ends=0.3, bad=0.3), "a", {})
    return lambda seed: Case(Errand(), actor(seed, Odds()), "a", {}, method == "reflexion")


ENDING = {method: _ending(method) for method in CASES}
"""A search with outputs for every method, by a seed."""


def untimed(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a tree without what its thoughts cost: seconds differ from run to run."""
    return {key: {**thought, "usage": None} for key, thought in tree.items()}
