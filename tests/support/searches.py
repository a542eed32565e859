"""Searches for every method: tasks, scripted models, problems, and graphs of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from langgraph.checkpoint.memory import InMemorySaver
from support import stepping
from support.acting import Errand, Odds
from support.acting import walker as actor
from support.climbing import Climbing
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


def untimed(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a tree without what its thoughts cost: seconds differ from run to run."""
    return {key: {**thought, "usage": None} for key, thought in tree.items()}
