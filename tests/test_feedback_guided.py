"""FGDIP: hand-solved searches, the drawn graph, ablations, the properties P46 to P52."""

import random
from functools import cache
from typing import Any, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from support.acting import Errand, Odds, Walk, shown_step, walker
from support.letters import HOSTILE, comparable, edges
from support.pages_script import ScriptedPages
from support.pools import POOLS
from support.scripted import Call, Reply, ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.acting import Hints
from thoughtgraph.building import Graph
from thoughtgraph.nodes.feedback.components import SAME
from thoughtgraph.outcome import REJECTED
from thoughtgraph.prompts import fill
from thoughtgraph.tasks.game24.game24 import Game24
from thoughtgraph.tools.wiki.sources import toolbox


@cache
def built(method: str = "fgdip") -> tuple[Graph, ScriptedChat, Errand]:
    model, task = ScriptedChat(reply=lambda call: ""), Errand()
    return tg.build(method, task=task, model=model), model, task


async def run(reply: Reply, walk: Walk | None = None, **context: Any) -> tuple[Any, list[Call]]:
    graph, model, task = built()
    model.reply, model.seen, task.walk = reply, [], walk or Walk()
    out = await graph.ainvoke({"problem": "a"}, context=context or None)
    return out, list(model.seen)


def scripted(
    steps: dict[tuple[str, int], str],
    *,
    entities: str = "a, b",
    labels: dict[str, str] | None = None,
    verdicts: dict[str, str] | None = None,
) -> Reply:
    """Answers by the thought and the index of the child, by the last thought, by the answer."""

    def reply(call: Call) -> str:
        last = call.prompt.rpartition("\n")[2]
        if call.role == "generate":
            assert call.draw is not None
            return steps[call.draw[1], call.draw[2]]
        if call.role == "extract":
            return entities
        if call.role == "step_eval":
            return (labels or {}).get(last.partition(">")[0], "sure")
        if call.role == "answer_eval":
            return (verdicts or {}).get(last.rpartition("|")[2], "YES")
        return "forced"

    return reply


def notes(out: Any) -> dict[str, tuple[Any, ...]]:
    return {t["text"]: (t["status"], t.get("visit")) for t in list(out["tree"].values())[1:]}


async def test_the_drawn_graph_is_the_algorithm() -> None:
    assert edges("fgdip", Errand()) == {
        ("start", "start"),
        ("start", "extract"),
        ("start", "generate"),  # without extractor
        ("extract", "call_tool"),
        ("extract", "register"),  # a task without tools
        ("extract", "answer"),
        ("generate", "call_tool"),
        ("generate", "register"),  # an action that cannot be read
        ("generate", "answer"),
        ("call_tool", "register"),
        ("register", "generate"),  # the next child
        ("register", "evaluate"),
        ("register", "select"),  # nothing to label
        ("evaluate", "select"),
        ("select", "generate"),
        ("select", "verify"),
        ("select", "conclude"),
        ("select", "answer"),
        ("verify", "select"),  # rejected: backtrack
        ("verify", "answer"),
        ("conclude", "answer"),
        ("answer", "end"),
    }


async def test_the_worked_example_of_the_order() -> None:
    labels = {
        "begin at a": "maybe",
        "begin at b": "sure",
        "begin at c": "impossible",
        "begin at d": "sure",
    }
    reply = scripted(
        {(key, 0): "dead>Go[x]" for key in ("1", "2", "3", "4")},
        entities="a, b, c, d",
        labels={**labels, "dead": "impossible"},
    )
    out, _ = await run(reply, n_generate=1)
    assert notes(out)["begin at b"][1] == 1
    assert notes(out)["begin at d"][1] == 2
    assert notes(out)["begin at a"][1] == 3
    assert notes(out)["begin at c"] == ("pruned", None)
    assert (out["answer"], out["stop_reason"]) == ("forced", "exhausted")


async def test_a_search_by_hand() -> None:
    steps = {
        ("1", 0): "wrong way>Go[x!]",
        ("1", 1): "guess>Finish[one]",
        ("1", 2): "GUESS too>Finish[One]",
        ("2", 0): "better>Ride[y]",
        ("2", 1): "mumble",
        ("2", 2): "again>Finish[two]",
        ("6", 0): "never",
    }
    reply = scripted(
        steps,
        labels={"wrong way": "impossible", "better": "maybe"},
        verdicts={"one": "NO not a name", "two": "YES"},
    )
    out, seen = await run(reply)
    tree = out["tree"]
    assert (out["answer"], out["stop_reason"]) == ("two", "finished")
    assert tree["4"]["note"] == f"{REJECTED}not a name"
    assert (tree["5"]["status"], tree["5"]["note"]) == ("pruned", SAME)
    assert tree["7"]["note"] == "impossible", "a step without an action"
    assert [t["text"] for t in by_visit(tree)] == ["begin at a", "guess", "begin at b", "again"]
    assert out["usage"]["parse_errors"] == {"generate": 1}
    prompts = [call.prompt.split("\n") for call in seen if call.role == "generate"]
    assert prompts[0] == ["fgdip|a", shown_step(tree["1"]), "Go Ride Finish"]
    assert prompts[1][2:-1] == [f"beside {shown_step(tree['3'])}"]
    assert prompts[3][2:-1] == ["wrong one guess not a name"]
    assert prompts[5][2:-1] == [
        "wrong one guess not a name",
        *(f"beside {shown_step(tree[key])}" for key in ("6", "7")),
    ]


def by_visit(tree: Any) -> list[Any]:
    return sorted((t for t in tree.values() if "visit" in t), key=lambda t: t["visit"])


async def test_without_an_accepted_answer_the_most_frequent_one_is_given() -> None:
    said = {"1": "x", "2": "Y", "3": "y", "4": "x"}
    steps = {(key, 0): f"s{key}>Finish[{answer}]" for key, answer in said.items()}
    reply = scripted(steps, entities="a, b, c, d", verdicts=dict.fromkeys("xYy", "NO"))
    out, _ = await run(reply, n_generate=1)
    assert (out["answer"], out["stop_reason"]) == ("x", "exhausted")
    assert out["candidates"] == ["x", "y", "Y", "x"], "x and y are as frequent; x is later"


async def test_an_action_that_calls_no_tool_is_impossible_without_being_asked_about() -> None:
    wants = ["Foo[x]", "Search[]", "Search[Foo[x]: Invalid action]", "Search[Odd]"]

    def reply(call: Call) -> str:
        if call.role == "generate":
            assert call.draw is not None
            return f"I try.\nAction 2: {wants[call.draw[2]]}"
        words = {"extract": '["Milan"]', "step_eval": "Reply: sure", "conclude": "the answer is x"}
        return words[call.role]

    odd = "Invalid action: Foo[x]. The actions are: none."
    pages = ScriptedPages({"Milan": "A city.", "Odd": odd})
    model = ScriptedChat(reply=reply)
    graph = tg.build("fgdip", task="hotpotqa", model=model, tools=toolbox(pages))
    context: Any = {"n_generate": 4, "max_depth": 2}
    out = await graph.ainvoke({"problem": "Where is Milan?"}, context=context)
    steps = tg.children_of(out["tree"], "1")
    assert [(step["observation"] or "")[:14] for step in steps[:2]] == ["Invalid action"] * 2
    assert [(step["status"], step["note"]) for step in steps] == [
        ("pruned", "impossible"),
        ("pruned", "impossible"),
        ("open", "sure"),  # a page that is missing
        ("open", "sure"),  # a page that says what an invalid action is told
    ]
    assert sum(call.role == "step_eval" for call in model.seen) == 3
    usage = out["usage"]
    assert (usage["tool_calls"], usage["tool_failures"]) == ({"Search": 3}, {"Search": 1})
    assert usage["parse_errors"] == {"generate": 2}


async def test_answer_checks_are_limited() -> None:
    reply = scripted(
        {(str(k), 0): f"s>Finish[{k}]" for k in range(9)},
        entities="a,b,c,d,e,f",
        verdicts={str(k): "NO" for k in range(9)},
    )
    out, seen = await run(reply, n_generate=1, max_answer_checks=2)
    assert sum(call.role == "answer_eval" for call in seen) == 2
    assert (out["answer"], out["stop_reason"]) == ("2", "budget")


async def test_when_all_entities_are_impossible_they_are_kept() -> None:
    labels = {"begin at a": "impossible", "begin at b": "impossible"}
    out, _ = await run(scripted({("1", 0): "s>Finish[x]"}, labels=labels), n_generate=1)
    assert (out["answer"], by_visit(out["tree"])[0]["text"]) == ("x", "begin at a")


async def test_nothing_extracted_begins_at_the_problem() -> None:
    out, _ = await run(scripted({("1", 0): "s>Finish[x]"}, entities=" "), n_generate=1)
    assert out["tree"]["1"]["action"] == {"name": "Go", "argument": "a"}
    assert out["usage"]["parse_errors"] == {"extract": 1}


async def test_without_extractor_the_first_layer_is_generated() -> None:
    out, seen = await run(scripted({("0", 0): "s>Finish[x]"}), extractor=False, n_generate=1)
    assert (out["answer"], [call.role for call in seen]) == ("x", ["generate", "answer_eval"])


async def test_without_step_evaluator_the_order_is_the_order_of_generation() -> None:
    reply = scripted(
        {
            ("1", 0): "s>Go[x]",
            ("1", 1): "t>Finish[x]",
            ("3", 0): "u>Finish[y]",
            ("3", 1): "v>Finish[z]",
        }
    )
    out, seen = await run(reply, step_evaluator=False, n_generate=2)
    assert out["answer"] == "y", "the first child is visited before the answer beside it"
    assert not any(call.role == "step_eval" for call in seen)


def test_a_puzzle_without_a_first_equation_is_none_of_its_own_steps() -> None:
    task, puzzle = Game24(), "4 9 10 13"
    path: list[Any] = [{"text": puzzle}]
    asked = task.move(puzzle, path, "react", {}, Hints()).prompt.user
    assert "The steps so far" not in asked
    assert asked.endswith("Numbers: 4 9 10 13\nStep:")
    concluded = task.move(puzzle, path, "fgdip", {}, Hints(wanted="answer"))
    assert concluded.prompt.user.endswith("Input: 4 9 10 13")


async def test_the_exact_check_of_a_task_may_judge_answers() -> None:
    steps = {("1", 0): "s>Finish[b]", ("1", 1): "t>Finish[a]"}
    out, seen = await run(scripted(steps), exact_check=True, n_generate=2)
    assert (out["answer"], out["oracle"]) == ("a", True), "it was told that b is wrong"
    assert not any(call.role == "answer_eval" for call in seen)


async def test_feedback_of_a_whole_layer() -> None:
    steps = {("1", 0): "s>Go[x]", ("2", 0): "t>Finish[y]"}
    labels = {"s": "impossible"}
    _, seen = await run(scripted(steps, labels=labels), n_generate=1, layer_scope="global")
    last = [call for call in seen if call.role == "generate"][-1]
    assert "beside s>Go[x]" in last.prompt


@pytest.mark.parametrize(
    ("switch", "hint"), [("feedback", "beside "), ("error_analysis", "wrong ")]
)
async def test_switches_leave_their_block_out(switch: str, hint: str) -> None:
    for seed in range(5):
        reply = walker(seed, Odds(finish=0.4))
        _, seen = await run(reply)
        assert any(hint in call.prompt for call in seen) or seed
        _, seen = await run(reply, **cast("dict[str, Any]", {switch: False}))
        assert not any(hint in call.prompt for call in seen)


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
async def test_p46_to_p52_hold_of_random_searches(seeds: range) -> None:
    for seed in seeds:
        context = settings(seed)
        reply = walker(seed, Odds(lost=0.1, finish=0.25))
        out, seen = await run(reply, **context)
        tree, visits = out["tree"], by_visit(out["tree"])
        for thought in tree.values():
            first_layer = thought["parent"] == "0" and context["extractor"]
            if "visit" in thought and not first_layer and context["step_evaluator"]:
                assert thought["value"] > 0, "P46"
            longest = context["max_depth"] + (thought.get("note") == "forced at the end")
            assert thought["depth"] <= longest, "P52"
        if context["step_evaluator"]:
            check_sure_first(tree, visits)
        checks = [call for call in seen if call.role == "answer_eval"]
        assert len(checks) <= context["max_answer_checks"], "P52"
        assert len(seen) == out["usage"]["requests"] <= context["limit_requests"], "P52"
        if not context["answer_evaluator"]:
            assert not checks and not any("wrong " in call.prompt for call in seen), "P49"
            assert sum(thought["status"] == "terminal" for thought in visits) <= 1
        accepted = [t for t in visits if t.get("note", "").startswith("accepted")]
        assert not accepted or accepted == [visits[-1]], "P51"
        check_prompts(tree, seen)
        assert sum(call.n for call in seen) == out["usage"]["samples"], "P2"
        if seed % 4 == 0:
            again, _ = await run(reply, **context)
            assert comparable(out) == comparable(again), "P1"


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


def check_prompts(tree: Any, seen: list[Call]) -> None:
    """P50: a generation after the j-th rejection shows j errors, and the siblings kept so far."""
    rejections = 0
    for call in seen:
        if call.role == "answer_eval":
            said = walker_verdict(call)
            rejections += not said
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


def walker_verdict(call: Call) -> bool:
    graph, model, _ = built()
    assert graph is not None
    return model.texts(call)[0].startswith("YES")


@pytest.mark.parametrize("seeds", POOLS)
async def test_p48_one_child_and_no_judges_is_react(seeds: range) -> None:
    react, model, task = built("react")
    for seed in seeds:
        steps = walker(seed, Odds(bad=0.3, finish=0.2))

        def reply(call: Call, steps: Reply = steps) -> Any:
            fixed = {"extract": "a", "step_eval": "sure", "answer_eval": "YES", "conclude": ""}
            if call.role == "generate" and call.draw and call.draw[1] == "0":
                return "begin at a>Go[a]"
            return steps(call) if call.role == "generate" else fixed[call.role]

        guided, _ = await run(reply, n_generate=1, max_depth=7)
        model.reply, model.seen, task.walk = reply, [], Walk()
        single = await react.ainvoke({"problem": "a"}, context={"max_steps": 7})
        pairs = [
            [(t["text"], t.get("observation")) for t in out["tree"].values()]
            for out in (guided, single)
        ]
        assert pairs[0] == pairs[1]
        assert guided["answer"] == single["answer"]


@pytest.mark.ci
async def test_p4_interrupted_anywhere_it_ends_the_same() -> None:
    for seed in range(3):
        context: dict[str, Any] = {"limit_requests": 25}
        reply = walker(seed, Odds(lost=0.1))
        whole = comparable((await run(reply, **context))[0])
        saver = InMemorySaver()
        given: Any = {"problem": "a"}
        config: Any = {"configurable": {"thread_id": "1"}}
        while True:
            model = ScriptedChat(reply=reply)
            graph = tg.build("fgdip", task=Errand(), model=model, checkpointer=saver)
            out = await graph.ainvoke(given, config, context=context, interrupt_after="*")
            if not (await graph.aget_state(config)).next:
                break
            given = None
        assert comparable(out) == whole


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_p3_a_hostile_model_never_raises(text: str) -> None:
    out, _ = await run(lambda call: text, limit_requests=40)
    assert out["error"] == ""
    assert out["usage"]["parse_errors"]


@pytest.mark.parametrize("allowed", range(8))
async def test_the_request_limit_is_never_passed_and_keeps_one_for_an_answer(allowed: int) -> None:
    def reply(call: Call) -> str:
        words = {"extract": "a, b", "step_eval": "sure", "conclude": "forced"}
        return words.get(call.role, "on>Go[a]")

    out, seen = await run(reply, limit_requests=allowed)
    assert len(seen) == out["usage"]["requests"] <= allowed
    assert out["stop_reason"] == "budget"
    assert out["answer"] == ("forced" if allowed > 1 else None)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"limit_thoughts": 4}, "budget"),
        ({"limit_rounds": 2}, "round_limit"),
        ({"limit_depth": 1}, "exhausted"),
        ({"limit_seconds": 0.0}, "budget"),
    ],
)
async def test_other_limits_end_the_search_with_their_reason(
    limit: dict[str, Any], reason: str
) -> None:
    out, _ = await run(walker(3, Odds(finish=0.0)), **limit)
    assert out["stop_reason"] == reason


WHY = "10 - 4 = 6 and 9 - 13 = -4, and 6 * -4 = -24."
WRONG, RIGHT = "(10 - 4) * (9 - 13)", "(10 - 4) * (13 - 9)"
EQUATIONS = {
    "6 9 13": "13 - 9 = 4 (left: 4 6)",
    "4 6": "4 * 6 = 24 (left: 24)",
    "5 10 13": "13 - 10 = 3 (left: 3 5)",
    "3 5": "3 * 5 = 15 (left: 15)",
}


async def test_game_of_24_by_hand() -> None:
    def reply(call: Call) -> str:
        left = call.prompt.rpartition("Numbers: ")[2].partition("\n")[0]
        if call.role == "generate":
            written = WRONG if "4 * 6 = 24" in call.prompt.rpartition("Steps:")[2] else RIGHT
            return EQUATIONS.get(left, f"Answer: {written} = 24")
        first = "10 - 4 = 6 (left: 6 9 13)\n9 - 4 = 5 (left: 5 10 13)\nnot a step"
        checked = f"THOUGHT: {WHY}\nJUDGMENT: NO" if WRONG in call.prompt else "JUDGMENT: YES"
        return {"extract": first, "step_eval": "likely", "answer_eval": checked}[call.role]

    model = ScriptedChat(reply=reply)
    graph = tg.build("fgdip", task="game24", model=model)
    out = await graph.ainvoke({"problem": "4 9 10 13"}, context={"n_generate": 2})
    assert (out["answer"], out["stop_reason"]) == (RIGHT, "finished")
    assert out["outcome"] == "finished with an answer that the answer evaluator accepted"
    assert [t["text"] for t in by_visit(out["tree"])] == [
        "10 - 4 = 6 (left: 6 9 13)",
        "13 - 9 = 4 (left: 4 6)",
        "4 * 6 = 24 (left: 24)",
        f"Answer: {WRONG}",
        "9 - 4 = 5 (left: 5 10 13)",
        "13 - 10 = 3 (left: 3 5)",
        "3 * 5 = 15 (left: 15)",
        f"Answer: {RIGHT}",
    ]
    assert sum(call.role == "answer_eval" for call in model.seen) == 2
    made = [call for call in model.seen if call.role == "generate"]
    ends = [call for call in made if "Numbers: " not in call.prompt]
    assert len(ends) == 2, "one answer is asked for where one number is left"
    assert [said(call) for call in ends] == ["", ""], "the steps are fixed, and so is the answer"
    assert all("different" not in call.prompt for call in ends)
    rejected = fill("game24/rejected", lines=f"{WRONG} ({WHY})")
    beside = fill("game24/siblings", lines="13 - 10 = 3 (left: 3 5)")
    steps = [said(call) for call in made if "Numbers: 5 10 13\n" in call.prompt]
    assert steps == [rejected, f"{rejected}\n\n{beside}"]
    assert out["usage"]["tool_cost"] == 0


def said(call: Call) -> str:
    """What a prompt of Game of 24 says between its examples, with the steps, and its question."""
    shown = call.prompt.rpartition("\n\nNumbers: ")[0].partition("Now write")[2]
    starts = [shown.find(fill(f"game24/{name}", lines="")) for name in ("rejected", "siblings")]
    return next((shown[at:] for at in starts if at >= 0), "")


async def test_of_24_a_hint_stands_after_the_examples_and_the_steps_that_it_is_about() -> None:
    task: Any = registry.task("game24")
    step: Any = {"text": "10 - 4 = 6 (left: 6 9 13)"}
    rejected: Any = [{"answer": WRONG, "thought": "", "reason": "it makes -24"}]
    hints = Hints(rejected=rejected, siblings=[{"text": "13 - 9 = 4 (left: 4 6)"}])
    prompt = task.move("4 9 10 13", [step], "fgdip", {}, hints).prompt.user
    examples, _, asked = prompt.partition("\n\nNow write the next step for the puzzle 4 9 10 13.")
    assert examples.count("\nStep: ") == 3
    assert "wrong" not in examples
    assert asked.split("\n\n") == [
        "",
        "The steps so far:\n10 - 4 = 6 (left: 6 9 13)",
        fill("game24/rejected", lines=f"{WRONG} (it makes -24)"),
        fill("game24/siblings", lines="13 - 9 = 4 (left: 4 6)"),
        "Numbers: 6 9 13\nStep:",
    ]


@pytest.mark.parametrize("evaluator", [True, False])
async def test_an_evaluator_that_knows_another_answer_sets_off_error_analysis(
    evaluator: bool,
) -> None:
    reason = "Argon is a gas, and only what is solid can be chewed: the possible answer is no."

    def reply(call: Call) -> str:
        if call.role == "generate":
            known = f"Results: yes, Thought: I guess. ({reason})" in call.prompt
            return f"I {'see' if known else 'guess'}.\nAction 2: Finish[{'no' if known else 'yes'}]"
        if call.role == "answer_eval":
            wrong = call.prompt.endswith("\nAnswer: yes")
            return f"THOUGHT: {reason}\nJUDGMENT: {'NO' if wrong else 'YES'}"
        return {"extract": '["Argon", "Chewing"]', "step_eval": "Reply: sure"}[call.role]

    pages = ScriptedPages({"Argon": "A noble gas.", "Chewing": "It crushes food."})
    model = ScriptedChat(reply=reply)
    graph = tg.build("fgdip", task="strategyqa", model=model, tools=toolbox(pages))
    context: Any = {"n_generate": 1, "answer_evaluator": evaluator}
    out = await graph.ainvoke({"problem": "Can one chew argon?"}, context=context)
    assert out["answer"] == ("no" if evaluator else "yes"), "the ablation differs"
    assert out["stop_reason"] == "finished"
    assert len([t for t in by_visit(out["tree"]) if "answer" in t]) == (2 if evaluator else 1)
