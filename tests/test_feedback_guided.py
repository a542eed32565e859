"""FGDIP: hand-solved searches, ablations, the properties P46 to P52."""

import random
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.acting import Errand, Odds, built, by_visit, run, seen, shown_step, visited, walker
from support.pools import POOLS
from support.scripted import Call, Reply, ScriptedChat
from support.searches import THREAD

import thoughtgraph as tg
from thoughtgraph.nodes.families.layers import SAME
from thoughtgraph.outcome import REJECTED


async def search(reply: Reply, **context: Any) -> tuple[Any, list[Call]]:
    out = await run("fgdip", reply, **context)
    return out, seen("fgdip")


def scripted(steps: dict[str, list[str]], entities: str = "a, b", **said: str) -> Reply:
    """Writes the steps below a thought; judges by the last thought or answer, whose spaces are
    underscores here."""

    def reply(call: Call) -> str:
        last = call.prompt.rpartition("\n")[2]
        if call.role == "generate":
            assert call.draw is not None
            return steps[call.draw[1]][call.draw[2]]
        if call.role == "step_eval":
            return said.get(last.partition(">")[0].replace(" ", "_"), "sure")
        if call.role == "answer_eval":
            return said.get(last.rpartition("|")[2], "YES")
        return entities if call.role == "extract" else "forced"

    return reply


async def test_a_search_by_hand():
    steps = {
        "1": ["wrong way>Go[x!]", "guess>Finish[one]", "GUESS too>Finish[One]"],
        "2": ["better>Ride[y]", "mumble", "again>Finish[two]"],
        "6": ["never"],
    }
    reply = scripted(steps, wrong_way="impossible", better="maybe", one="NO not a name")
    out, asked = await search(reply)
    tree = out["tree"]
    assert (out["answer"], out["stop_reason"]) == ("two", "finished")
    assert tree["4"]["note"] == f"{REJECTED}not a name"
    assert (tree["5"]["status"], tree["5"]["note"]) == ("pruned", SAME)
    assert tree["7"]["note"] == "impossible", "a step without an action"
    assert visited(out) == ["begin at a", "guess", "begin at b", "again"]
    assert out["usage"]["parse_errors"] == {"generate": 1}
    prompts = [call.prompt.split("\n") for call in asked if call.role == "generate"]
    assert prompts[0] == ["fgdip|a", shown_step(tree["1"]), "Go Ride Finish"]
    assert prompts[1][2:-1] == [f"beside {shown_step(tree['3'])}"]
    assert prompts[3][2:-1] == ["wrong one guess not a name"]
    assert prompts[5][2:-1] == [
        "wrong one guess not a name",
        *(f"beside {shown_step(tree[key])}" for key in ("6", "7")),
    ]


async def test_without_an_accepted_answer_the_most_frequent_one_is_given():
    said = {"1": "x", "2": "Y", "3": "y", "4": "x"}
    steps = {key: [f"s{key}>Finish[{answer}]"] for key, answer in said.items()}
    reply = scripted(steps, "a, b, c, d", x="NO", Y="NO", y="NO")
    out, _ = await search(reply, n_generate=1)
    assert (out["answer"], out["stop_reason"]) == ("x", "exhausted")
    assert out["candidates"] == ["x", "y", "Y", "x"], "x and y are as frequent; x is later"


async def test_answer_checks_are_limited():
    steps = {str(k): [f"s>Finish[{k}]"] for k in range(9)}
    reply = scripted(steps, "a,b,c,d,e,f", **dict.fromkeys("012345678", "NO"))
    out, asked = await search(reply, n_generate=1, max_answer_checks=2)
    assert sum(call.role == "answer_eval" for call in asked) == 2
    assert (out["answer"], out["stop_reason"]) == ("2", "budget")


async def test_without_the_answer_evaluator_the_first_answer_ends_the_search():
    steps = {str(k): [f"s>Finish[{k}]"] for k in range(9)}
    out, _ = await search(scripted(steps, "a,b"), n_generate=1, answer_evaluator=False)
    assert (out["answer"], out["stop_reason"]) == ("1", "finished")


async def test_a_search_begins_at_what_there_is():
    """All entities are impossible, or there is none, or they are not asked for."""
    impossible = dict.fromkeys(("begin_at_a", "begin_at_b"), "impossible")
    steps = {"1": ["s>Finish[x]"], "0": ["s>Finish[x]"]}
    out, _ = await search(scripted(steps, **impossible), n_generate=1)
    assert (out["answer"], visited(out)[0]) == ("x", "begin at a")
    out, _ = await search(scripted(steps, " "), n_generate=1)
    assert out["tree"]["1"]["action"] == {"name": "Go", "argument": "a"}
    assert out["usage"]["parse_errors"] == {"extract": 1}
    out, asked = await search(scripted(steps), extractor=False, n_generate=1)
    assert (out["answer"], [call.role for call in asked]) == ("x", ["generate", "answer_eval"])


async def test_the_exact_check_of_a_task_may_judge_answers():
    steps = {"1": ["s>Finish[b]", "t>Finish[a]"]}
    out, asked = await search(scripted(steps), exact_check=True, n_generate=2)
    assert (out["answer"], out["oracle"]) == ("a", True), "it was told that b is wrong"
    assert not any(call.role == "answer_eval" for call in asked)


@pytest.mark.parametrize(
    ("switch", "hint"), [("feedback", "beside "), ("error_analysis", "wrong ")]
)
async def test_switches_leave_their_block_out(switch, hint):
    for seed in range(3):
        for on in (True, False):
            told: dict[str, Any] = {switch: on, "limit_requests": 25}
            _, asked = await search(walker(seed, Odds(finish=0.4)), **told)
            hinted = any(hint in call.prompt for call in asked)
            assert hinted <= on and (seed or hinted == on)


def settings(seed: int) -> dict[str, Any]:
    draws = random.Random(seed)
    return {
        "n_generate": draws.randint(1, 3),
        "max_depth": draws.randint(1, 4),
        "max_answer_checks": draws.randint(1, 4),
        "extractor": draws.random() < 0.8,
        "step_evaluator": draws.random() < 0.8,
        "answer_evaluator": draws.random() < 0.8,
        "limit_requests": draws.choice([10, 40]),
    }


@pytest.mark.parametrize("seeds", POOLS)
async def test_p46_to_p52_hold_of_random_searches(seeds):
    for seed in seeds:
        context = settings(seed)
        out, asked = await search(walker(seed, Odds(lost=0.1, finish=0.25)), **context)
        tree, visits = out["tree"], by_visit(out)
        for thought in tree.values():
            first_layer = thought["parent"] == "0" and context["extractor"]
            if "visit" in thought and not first_layer and context["step_evaluator"]:
                assert thought["value"] > 0, "P46"
            longest = context["max_depth"] + (thought.get("note") == "forced at the end")
            assert thought["depth"] <= longest, "P52"
        if context["step_evaluator"]:
            check_sure_first(tree, visits)
        checks = [call for call in asked if call.role == "answer_eval"]
        assert len(checks) <= context["max_answer_checks"], "P52"
        assert len(asked) == out["usage"]["requests"] <= context["limit_requests"], "P52"
        if not context["answer_evaluator"]:
            assert not checks and not any("wrong " in call.prompt for call in asked), "P49"
            assert sum(thought["status"] == "terminal" for thought in visits) <= 1
        accepted = [t for t in visits if t.get("note", "").startswith("accepted")]
        assert not accepted or accepted == [visits[-1]], "P51"
        check_prompts(tree, asked)


def check_sure_first(tree: Any, visits: list[Any]) -> None:
    """P47: before a maybe is visited, all that is below its sure siblings has been."""
    for late in visits:
        for early in visits:
            if early["parent"] == late["parent"] and early["value"] > late["value"]:
                below = [t for t in visits if early in [*tg.path_to(tree, t["id"])]]
                labelled = late["value"] < 2 and early["value"] == 2
                terminal = "terminal" in (early["status"], late["status"])
                if labelled and not terminal:
                    assert all(t["visit"] < late["visit"] for t in below)


def check_prompts(tree: Any, asked: list[Call]) -> None:
    """P50: a generation after the j-th rejection shows j errors, and the siblings kept so far."""
    rejections = 0
    for call in asked:
        if call.role == "answer_eval":
            rejections += not built("fgdip")[1].texts(call)[0].startswith("YES")
        if call.role == "generate":
            lines = call.prompt.split("\n")
            assert sum(line.startswith("wrong ") for line in lines) == rejections
            beside = [line for line in lines if line.startswith("beside ")]
            assert beside == [f"beside {shown_step(kept)}" for kept in kept_before(tree, call)]


def kept_before(tree: Any, call: Call) -> list[Any]:
    """The children that were kept before the one that a call asks for."""
    assert call.draw is not None
    made = [t for t in tg.children_of(tree, call.draw[1]) if t["created_by"]["node"] == "generate"]
    return [t for t in made if t["created_by"]["sample"] < call.draw[2] and t.get("note") != SAME]


async def test_a_person_decides_what_is_visited_next():
    """Whatever waits in the tree does so by its status and its value alone."""
    steps = {"1": ["s>Finish[x]"], "2": ["t>Finish[y]"], "3": ["u>Finish[z]"]}
    model = ScriptedChat(reply=scripted(steps, "a, b, c", begin_at_c="impossible"))
    graph = tg.build("fgdip", task=Errand(), model=model, checkpointer=InMemorySaver())
    context: Any = {"n_generate": 1}
    await graph.ainvoke({"problem": "a"}, THREAD, context=context, interrupt_after=["select"])
    changes: Any = {"1": {"status": "pruned"}, "3": {"status": "open", "value": 9}}
    await graph.aupdate_state(THREAD, {"thoughts": changes}, as_node="select")
    out = await graph.ainvoke(None, THREAD)
    assert visited(out) == ["begin at a", "begin at c", "u"]
    assert (out["answer"], tg.children_of(out["tree"], "1")) == ("z", [])
