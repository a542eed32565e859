"""An oracle that cannot be asked is refused before anything is spent; one that is asked decides."""

from functools import partial
from typing import Any

import pytest
from support.acting import Errand, Odds, walker
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.cli.describe import fit

ELSEWHERE = {"refine", "adaptive"}
"""Methods that ask one and call no tools: tested in their own files."""
TOLD = [name for name, entry in registry.METHODS.items() if entry.asks_oracle]
TOLD = [name for name in TOLD if name not in ELSEWHERE]


async def compare(gold: str, answer: str) -> bool:
    return answer == gold


async def scored(answer: str) -> Any:
    return 0.4


async def worded(answer: str) -> Any:
    return "no"


async def unasked() -> bool:
    return True


class Gold:
    async def __call__(self, answer: str) -> bool:
        return answer == "b"


def searching(method: str, oracle: Any) -> tuple[Any, ScriptedChat]:
    model = ScriptedChat(reply=walker(5, Odds(places="ab", finish=0.6)))
    return tg.build(method, task=Errand(), model=model, oracle=oracle), model


CALLABLES = (lambda answer: True, str.strip, compare, unasked, partial(compare, "a", "b"), Gold)


@pytest.mark.parametrize("method", TOLD)
def test_what_is_no_async_function_of_an_answer_is_refused_when_built(method: str) -> None:
    for oracle in (*CALLABLES, "Paris"):
        with pytest.raises(tg.InputError, match=r"is no oracle; give an async function") as caught:
            searching(method, oracle)
        assert "\n" not in str(caught.value)


async def test_it_is_refused_before_anything_is_spent_where_the_context_names_the_task() -> None:
    model = ScriptedChat(reply=walker(5))
    graph = tg.build("refine", model=model, oracle=lambda answer: True)  # type: ignore[arg-type, return-value]
    with pytest.raises(tg.InputError, match="is no oracle"):
        await graph.ainvoke({"problem": "4 9 10 13"}, context={"task": "game24"})
    assert model.seen == []


@pytest.mark.parametrize("method", sorted(set(registry.METHODS) - {*TOLD, *ELSEWHERE}))
def test_a_method_that_asks_none_refuses_one(method: str) -> None:
    task = next(task for task in registry.TASKS if fit(method, task) == "")
    model = ScriptedChat(reply=lambda call: "")
    for oracle in (True, partial(compare, "b")):
        with pytest.raises(tg.InputError, match=rf"'{method}' never asks .*choose one of refine"):
            tg.build(method, task=task, model=model, oracle=oracle)


@pytest.mark.parametrize("method", TOLD)
async def test_only_a_clear_yes_to_an_answer_solves_the_search(method: str) -> None:
    for right in (partial(compare, "b"), Gold()):
        graph, _ = searching(method, right)
        out = await graph.ainvoke({"problem": "a"})
        assert (out["answer"], out["stop_reason"], out["oracle"]) == ("b", "verified", True)
        assert "a" in {each.get("answer") for each in out["tree"].values()}
    for unclear in (scored, worded):
        graph, _ = searching(method, unclear)
        with pytest.raises(tg.InputError, match="it must say True or False"):
            await graph.ainvoke({"problem": "a"})


@pytest.mark.parametrize("method", ["refine", "reflexion", "adaptive"])
async def test_the_exact_check_as_a_setting_is_the_oracle_that_it_stands_for(method: str) -> None:
    outs = []
    for oracle, context in ((True, {}), (False, {"exact_check": True})):
        if method == "reflexion":
            (graph, _), problem = searching(method, oracle), "a"
        else:
            model, problem = ScriptedChat(reply=guesses), "4 9 10 13"
            graph = tg.build(method, task="game24", model=model, oracle=oracle)
        outs.append(await graph.ainvoke({"problem": problem}, context=context))
    told, checked = outs
    assert checked["oracle"] and checked["stop_reason"] == told["stop_reason"] == "verified"
    assert checked["answer"] == told["answer"]
    assert checked["usage"]["requests"] == told["usage"]["requests"]


def guesses(call: Any) -> list[str]:
    """Two wrong answers and then right ones."""
    first = int(call.draw[1]) * call.n
    right, wrong = "Answer: (10 - 4) * (13 - 9) = 24", "Answer: 4 + 9 + 10 + 13 = 24"
    return [right if first + at > 1 else wrong for at in range(call.n)]


async def test_an_oracle_and_the_exact_check_are_not_given_together() -> None:
    model = ScriptedChat(reply=guesses)
    graph = tg.build("refine", task="game24", model=model, oracle=partial(compare, "b"))
    with pytest.raises(tg.InputError, match="give one of them"):
        await graph.ainvoke({"problem": "4 9 10 13"}, context={"exact_check": True})
    assert model.seen == []
