"""Every output of every method carries the answer that was read from it."""

from typing import Any

import pytest
from support.acting import Errand, Odds, walker
from support.climbing import Climbing, climber
from support.letters import Letters, die
from support.scripted import Call, Reply, ScriptedChat
from support.stepping import Stepping
from support.stepping import walker as reasoner

import thoughtgraph as tg
from thoughtgraph import registry

LETTERS = Letters()


def asked(call: Call) -> str:
    """Two samples in three say where their answer stands."""
    return "" if call.draw and call.draw[-1] % 3 == 2 else "So the answer is: 7."


def refined(seed: int) -> Reply:
    """The first output is wrong, the next unreadable, the third right."""
    answers = ["Answer: 4 + 9 + 10 + 13 = 24", "I cannot", "Answer: (10 - 4) * (13 - 9) = 24"]
    return lambda call: answers[min(2, int(call.draw[1]) if call.draw else 0)]


def spelt(seed: int) -> Reply:
    return die(seed, alphabet="abc")


SEARCHES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "io": ("question", lambda seed: asked, {"n_generate": 3}),
    "cot": ("question", lambda seed: asked, {"n_generate": 3}),
    "cot_sc": ("question", lambda seed: asked, {"n_generate": 4}),
    "adaptive": ("question", lambda seed: asked, {"samples": 4}),
    "refine": ("game24", refined, {"refinements": 3}),
    "tot_bfs": (LETTERS, spelt, {"steps": 2, "breadth": 3}),
    "tot_dfs": (LETTERS, spelt, {"steps": 3}),
    **{
        name: (Climbing(), climber, {"max_calls": 30})
        for name in ("tomt_one_stop", "tomt_tot", "tomt_os", "tomt_block")
    },
    **{
        name: (Stepping(), lambda seed: reasoner(seed, ends=0.3, bad=0.3), {})
        for name in ("chain", "level_tot", "rollback")
    },
    **{
        name: (Errand(), lambda seed: walker(seed, Odds()), {})
        for name in registry.METHODS
        if name in ("react", "reflexion", "fgdip") or name.startswith("itot")
    },
}


@pytest.mark.parametrize("method", registry.METHODS)
async def test_every_output_carries_its_answer(method: str) -> None:
    task, script, settings = SEARCHES[method]
    oracle = method in ("refine", "reflexion")
    problem = {"tomt": "6", "refi": "4 9 10 13"}.get(method[:4], "a")
    found = 0
    for seed in range(3):
        graph = tg.build(method, task=task, model=ScriptedChat(reply=script(seed)), oracle=oracle)
        out = await graph.ainvoke({"problem": problem}, context=settings or None)
        ends = [thought for thought in out["tree"].values() if thought["status"] == "terminal"]
        assert all("answer" in thought for thought in ends)
        carried = [t["answer"] for t in out["tree"].values() if "answer" in t]
        assert set(out["candidates"]) <= set(carried)
        chosen = [t["answer"] for t in out["tree"].values() if t.get("chosen")]
        assert chosen == ([] if out["answer"] is None else [out["answer"]])
        found += len(chosen)
    assert found, "a script that finds nothing shows nothing"
