"""Algorithm 1 of Tree of Thoughts: hand-solved cases and the properties P1 to P16 of the design."""

import random
from itertools import combinations
from typing import Any

import pytest
from support.letters import HOSTILE, Letters, comparable, die, edges, interrupted, run, steps
from support.pools import POOLS
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.nodes.select import best_states, draw_states
from thoughtgraph.tasks.game24.game24 import Game24, solvable
from thoughtgraph.tasks.game24.lines import remaining
from thoughtgraph.tools.arithmetic import evaluate


def drawn_settings(seed: int) -> dict[str, Any]:
    draws = random.Random(seed)
    return {
        "seed": seed,
        "steps": draws.randint(1, 3),
        "generate": draws.choice(["propose", "sample"]),
        "n_generate": draws.randint(1, 4),
        "evaluate": draws.choice(["value", "vote"]),
        "n_evaluate": draws.randint(1, 3),
        "select": draws.choice(["greedy", "sample"]),
        "breadth": draws.randint(1, 4),
    }


async def test_the_worked_selection() -> None:
    tree: tg.Tree = {str(at): {"value": v} for at, v in enumerate([3.0, 60.0, 3.0, 60.0, 1.0])}
    assert best_states(tree, list(tree), 3) == ["1", "3", "0"]


async def test_drawing_follows_the_values_and_is_uniform_without_any() -> None:
    tree: tg.Tree = {"1": {"value": 0.0}, "2": {"value": 3.0}, "3": {"value": 1.0}}
    often = draw_states(tree, list(tree), 4000, random.Random(1))
    assert often.count("1") == 0
    assert often.count("2") == pytest.approx(3000, rel=0.1)
    none: tg.Tree = {"1": {"value": 0.0}, "2": {"value": 0.0}}
    assert draw_states(none, list(none), 4000, random.Random(1)).count("1") == pytest.approx(
        2000, rel=0.1
    )


async def test_the_drawn_graph_is_algorithm_1() -> None:
    assert edges("tot_bfs", "game24") == {
        ("start", "start"),
        ("start", "generate"),
        ("generate", "register"),
        ("register", "generate"),
        ("register", "evaluate"),
        ("evaluate", "select"),
        ("select", "generate"),
        ("select", "evaluate"),
        ("select", "answer"),
        ("start", "answer"),
        ("register", "select"),
        ("answer", "end"),
    }


async def test_a_search_by_hand() -> None:
    answers = {
        "next|x|": "a\nb\nc",
        "next|x|b": "d\ne",
        "next|x|c": "d",
        "value|x|a": "1",
        "value|x|b": "2",
        "value|x|c": "2",
        "value|x|bd": "3",
        "value|x|be": "9",
        "value|x|cd": "9",
    }
    settings = {"generate": "propose", "evaluate": "value", "n_evaluate": 1, "breadth": 2}
    out, _ = await run("tot_bfs", Letters(), lambda call: answers[call.prompt], **settings)
    rows = [
        (t["id"], t["parent"], t["text"], t.get("value"), t["status"]) for t in out["tree"].values()
    ]
    assert rows == [
        ("0", None, "", None, "expanded"),
        ("1", "0", "a", 1.0, "pruned"),
        ("2", "0", "b", 2.0, "expanded"),
        ("3", "0", "c", 2.0, "expanded"),
        ("4", "2", "d", 3.0, "pruned"),
        ("5", "2", "e", 9.0, "terminal"),
        ("6", "3", "d", 9.0, "terminal"),
    ]
    assert (out["answer"], out["candidates"], out["stop_reason"]) == (
        "be",
        ["be", "cd"],
        "finished",
    )


@pytest.mark.parametrize("pool", POOLS)
async def test_what_holds_for_every_search(pool: range) -> None:
    for seed in pool:
        settings = drawn_settings(seed)
        kept = [[""]]
        out: dict[str, Any] = {}
        levels: list[list[str]] = []
        async for names, state in steps("tot_bfs", Letters(), die(seed), **settings):
            out = state
            if "select" in names and state["step"] == len(kept):
                tree = state["tree"]
                level = [k for k in tree if tree[k]["depth"] == state["step"]]
                check_selection(tree, level, state["frontier"], settings)
                kept.append(state["frontier"])
                levels.append(level)
        again, model = await run("tot_bfs", Letters(), die(seed), **settings)
        assert again["tree"] == out["tree"], "P1"
        check_usage(again["usage"], model)


def check_selection(tree: tg.Tree, level: list[str], kept: list[str], settings: Any) -> None:
    assert len(kept) <= settings["breadth"], "P9"
    assert set(kept) <= set(level), "P9"
    values = [tree[key]["value"] for key in level]
    if settings["select"] == "greedy":
        ranked = sorted(range(len(level)), key=lambda at: (-values[at], at))
        assert kept == [level[at] for at in ranked[: settings["breadth"]]], "P10"
    if settings["evaluate"] == "vote":
        assert sum(values) <= settings["n_evaluate"], "P16"


def check_usage(usage: Any, model: ScriptedChat) -> None:
    assert usage.get("requests", 0) == len(model.seen), "P2"
    assert usage.get("samples", 0) == sum(call.n for call in model.seen), "P2"
    assert usage.get("samples", 0) >= usage.get("requests", 0), "P2"


@pytest.mark.parametrize("pool", [range(8), pytest.param(range(200), marks=pytest.mark.slow)])
async def test_a_search_stopped_after_every_node_ends_the_same(pool: range) -> None:
    for seed in pool:
        settings = drawn_settings(seed)
        whole, _ = await run("tot_bfs", Letters(), die(seed), **settings)
        resumed = await interrupted("tot_bfs", Letters(), die(seed), **settings)
        assert comparable(resumed) == comparable(whole), "P4"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("judgement", ["value", "vote"])
async def test_no_text_of_the_model_raises(text: str, judgement: str) -> None:
    settings = {"evaluate": judgement, "generate": "propose", "limit_thoughts": 100}
    out, _ = await run("tot_bfs", Letters(), lambda call: text, **settings)
    assert out["stop_reason"], "P3"


async def test_all_states_are_kept_when_the_breadth_allows_it() -> None:
    alphabet = "abc"
    settings = {"generate": "propose", "evaluate": "value", "steps": 2, "breadth": 9}
    found = []
    for seed in (1, 2):
        judge = die(seed)

        def reply(call: Call, judge: Any = judge) -> Any:
            return "\n".join(alphabet) if call.role == "generate" else judge(call)

        out, _ = await run("tot_bfs", Letters(), reply, **settings)
        found.append(out["candidates"])
    assert set(found[0]) == set(found[1]) == {a + b for a in alphabet for b in alphabet}, "P11"
    assert found[0] != found[1]


async def test_one_sampled_step_with_a_constant_evaluator_is_best_of_k() -> None:
    def reply(call: Call) -> Any:
        return list("dacb") if call.role == "generate" else "5"

    settings = {
        "generate": "sample",
        "n_generate": 4,
        "breadth": 4,
        "steps": 1,
        "evaluate": "value",
    }
    out, model = await run("tot_bfs", Letters(), reply, **settings)
    assert out["candidates"] == ["d", "a", "c", "b"], "P12"
    assert [call.role for call in model.seen].count("generate") == 1


async def test_a_duplicate_takes_no_place_of_a_candidate_with_a_value() -> None:
    values = {"value|x|a": "4", "value|x|b": "5", "value|x|c": "3", "value|x|d": "0"}

    def reply(lines: str) -> Any:
        return lambda call: lines if call.role == "generate" else values[call.prompt]

    settings = {"generate": "propose", "evaluate": "value", "n_evaluate": 1, "steps": 1}
    for breadth in (1, 2, 3, 4):
        once, _ = await run("tot_bfs", Letters(), reply("a\nb\nc\nd"), **settings, breadth=breadth)
        for twice in ("a\nb\nb\nc\nd", "a\nb\nc\na\nd", "a\na\nb\nc\nd"):
            out, _ = await run("tot_bfs", Letters(), reply(twice), **settings, breadth=breadth)
            lost = set(once["candidates"]) - set(out["candidates"])
            assert lost <= {"d"}, "P13: only a candidate of value 0 may make room"


async def test_scaling_the_values_changes_no_greedy_selection() -> None:
    for seed in range(20):
        settings = {**drawn_settings(seed), "select": "greedy", "evaluate": "value"}
        one, _ = await run("tot_bfs", Letters(), die(seed), **settings)
        other, _ = await run("tot_bfs", Letters(scale=0.01), die(seed), **settings)
        assert one["candidates"] == other["candidates"], "P14"


def equations(numbers: str) -> list[str]:
    """Every right equation over two of the numbers, in the task's form."""
    parts = numbers.split()
    lines = []
    for i, j in combinations(range(len(parts)), 2):
        rest = [parts[k] for k in range(len(parts)) if k not in (i, j)]
        for a, b in ((parts[i], parts[j]), (parts[j], parts[i])):
            for sign in "+-*/":
                if sign == "/" and evaluate(b) == 0:
                    continue
                result = evaluate(f"({a}) {sign} ({b})")
                lines.append(f"{a} {sign} {b} = {result} (left: {' '.join([*rest, str(result)])})")
    return lines


async def test_complete_proposals_and_a_perfect_evaluator_solve_every_puzzle() -> None:
    task = Game24()

    def reply(call: Call) -> str:
        if call.role == "generate":
            numbers = call.prompt.rstrip().split("\n")[-2].removeprefix("Input: ")
            if "Steps:" in call.prompt:
                return "Answer: " + composed(call.prompt)
            return "\n".join(equations(numbers))
        if "Judge:" in call.prompt:
            return "sure"
        left = call.prompt.split("\n")[-1]
        return "sure" if solvable(tuple(map(evaluate, left.split()))) else "impossible"

    for problem in ("4 9 10 13", "1 2 4 7", "3 3 8 8"):
        graph = tg.build("tot_bfs", task=task, model=ScriptedChat(reply=reply))
        out = await graph.ainvoke({"problem": problem}, context={"breadth": 1, "n_evaluate": 1})
        assert out["answer"], problem
        assert task.check(problem, out["answer"]), "P15: breadth 1 suffices"
        for thought in out["tree"].values():
            path = tg.path_to(out["tree"], thought["id"])
            if path and "left" in thought["text"]:
                assert len(remaining(problem, path).split()) == 4 - thought["depth"], "P15"


def composed(prompt: str) -> str:
    """The one expression that the steps of a prompt amount to."""
    terms: dict[str, list[str]] = {}
    steps_taken = prompt.rpartition("Steps:\n")[2].strip().split("\n")
    expression = ""
    for line in steps_taken:
        equation = line.split(" (left")[0]
        left, result = equation.split(" = ")
        a, sign, b = left.split()
        a, b = (terms[x].pop() if terms.get(x) else x for x in (a, b))
        expression = f"({a} {sign} {b})"
        terms.setdefault(result, []).append(expression)
    return f"{expression} = 24"


@pytest.mark.parametrize("allowed", range(12))
async def test_the_request_limit_is_never_passed(allowed: int) -> None:
    out, model = await run(
        "tot_bfs",
        Letters(),
        die(3, alphabet="abcd"),
        generate="propose",
        evaluate="value",
        limit_requests=allowed,
        breadth=3,
        steps=3,
    )
    assert len(model.seen) <= allowed
    assert out["stop_reason"] in ("budget", "finished", "dead_end")


async def test_the_official_order_lets_an_earlier_verdict_outrank_a_missing_answer() -> None:
    lines = {
        "4 9 10 13": "4 * 9 = 36 (left: 10 13 36)",
        "10 13 36": "36 - 10 = 26 (left: 13 26)",
        "13 26": "26 - 13 = 13 (left: 13)",
        "13": "13 = 13 (left: 13)",
    }

    def reply(call: Call) -> str:
        if call.role == "generate":
            return lines[call.prompt.rstrip().split("\n")[-2].removeprefix("Input: ")]
        return "likely"

    for compat, value in ((True, 3.0), (False, 0.0)):
        model = ScriptedChat(reply=reply)
        graph = tg.build("tot_bfs", task="game24", model=model)
        context = {"repo_compat": compat, "strict_parse": False}
        out = await graph.ainvoke({"problem": "4 9 10 13"}, context=context)
        assert out["tree"]["4"]["value"] == value
