"""The tasks of Thought Rollback: answers, worked examples, plain prompts, Game of 24's steps."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from support.letters import HOSTILE
from support.scripted import ScriptedChat
from support.stepping import mistaken

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench.formulas import same_formula
from thoughtgraph.bench.metrics import scores
from thoughtgraph.tasks.game24.rollback_steps import composed

TASKS = ["gsm8k", "svamp", "aqua", "math", "theoremqa", "mmlu"]


def task(name: str) -> Any:
    return registry.task(name)


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("gsm8k", "so 3 * 4 = 12. The final solution is $12.00.", "12"),
        ("gsm8k", "the final solution is **x = 7**", "7"),
        ("svamp", "The final solution is 1,200 apples", "1200"),
        ("aqua", "The final choice is (b).", "B"),
        ("mmlu", "**The final choice is: D) 33**", "D"),
        ("mmlu", r"The final choice is \boxed{\text{C}}", "C"),
        ("mmlu", "The final choice is: I think it is C", "C"),
        ("mmlu", "The final choice is: I think it is C because it is larger.", "C"),
        ("aqua", "The final choice is a bit unclear, but B", "B"),
        ("mmlu", "The final choice is A because it is larger", "A"),
        ("mmlu", "The final choice is a", "A"),
        ("mmlu", "The final choice is **A**\nSo we are done.", "A"),
        ("mmlu", "The final choice is a) Paris", "A"),
        ("mmlu", "The final choice is c the third", "C"),
        ("aqua", "The final choice is E", "E"),
        ("math", r"The final solution is $\frac{3}{4}$.", "0.75"),
        ("math", r"The final solution is \boxed{\frac{\pi}{6}}", r"\frac{\pi}{6}"),
        ("math", r"The final solution is \( 25\pi \).", r"25\pi"),
        ("math", "The final solution is 12. So we are done", "12"),
        ("math", "The final solution is 1.5. Hence $x$ is 3.", "1.5"),
        ("gsm8k", "The final solution is 42. I put it after 'The final solution is'.", "42"),
        ("gsm8k", "The final solution is 7. The final solution is unknown", "7"),
        ("gsm8k", "The final solution is 7. No: the final solution is 8", "8"),
        ("math", "The final solution is 42. I put it after 'The final solution is'.", "42"),
        ("math", "The final solution is 5. See 'The final solution is' for readability.", "5"),
        ("math", "'The final solution is' 5", "5"),
        ("math", "The final solution is:\n\\[\n\\frac{1}{2}\n\\]", "0.5"),
        ("math", "The final solution is:\n$$\nx = 5.\n$$", "5"),
        ("math", r"The final solution is $\$32,\!348$.", "32348"),
        ("math", "The final solution is $x=3$ or $x=-5$.", "3, -5"),
        ("math", r"The final solution is \(1\), \(2\), and \(3\).", "1, 2, 3"),
        ("math", "The final solution is $(3, 4)$, where $r = 3$.", "(3, 4)"),
        ("gsm8k", r"The final solution is \boxed{1,\!000}", "1000"),
        ("math", "The final  solution\nis 5", "5"),
        ("aqua", "The final choice is (b), after 'the final choice is'.", "B"),
        ("theoremqa", "The final solution is True.", "true"),
        ("theoremqa", "The final solution is [0, 5]", "0, 5"),
        ("theoremqa", "The final solution is no", "false"),
        ("theoremqa", "The final solution is option (b).", "B"),
        ("theoremqa", "The final solution is (b).", "B"),
    ],
)
def test_a_marked_step_ends_its_path(name: str, text: str, answer: str) -> None:
    step = task(name).read_step("?", (), text)
    assert (step["status"], step["answer"]) == ("terminal", answer)
    assert task(name).ask("?", "io", {}).read([text]) == [answer]


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("mmlu", "答案是C\u3002", "C"),
        ("mmlu", "选C", "C"),
        ("mmlu", "正解はBです", "B"),
        ("mmlu", "故选\uff1aD", "D"),
        ("mmlu", "Option C is correct. Options A and B are not.", "C"),
        ("mmlu", "The best option is C: 29. (A: 3x7)", "C"),
        ("mmlu", "The answer is (C).", "C"),
        ("mmlu", "**C**", "C"),
        ("mmlu", "C) 29\n\nA) 21 = 3x7\nB) 27\nD) 33", "C"),
        ("mmlu", "The answer is \uff23", "C"),
        ("mmlu", "C is correct. A is 3x7", "C"),
        ("mmlu", "(C) 29 is the correct answer. A and B are composite, D", "C"),
        ("mmlu", "The correct option is C because A", "C"),
        ("mmlu", "Answer: C\n\nA is wrong. (B) too.", "C"),
        ("mmlu", "Answer: C. (D) is 33.", "C"),
        ("mmlu", "The answer is B or C", None),
        ("mmlu", r"\boxed{C}", "C"),
        ("mmlu", r"The final choice is $\boxed{\text{C}}$.", "C"),
        ("mmlu", "The final answer is **C) 29**.", "C"),
        ("mmlu", "A) 21 = 3x7\nB) 27\nC) 29 is prime\nD) 33 = 3x11\nThe answer is C", "C"),
        ("mmlu", "The answer is C\n\nQuestion: b\nThe answer is D", "C"),
        ("mmlu", "I choose C.", "C"),
        ("mmlu", "C", "C"),
        ("mmlu", "c", "C"),
        ("mmlu", "\uff08C\uff09", "C"),
        ("mmlu", "答案\uff1aC", "C"),
        ("mmlu", "정답은 C입니다", "C"),
        ("mmlu", "Option A is not correct. Option B is correct.", "B"),
        ("mmlu", "The answer is option C", "C"),
        ("mmlu", "The answer is choice (C)", "C"),
        ("mmlu", "The correct choice: C", "C"),
        ("mmlu", 'The answer is "C"', "C"),
        ("mmlu", "Answer: C \u2013 29", "C"),
        ("mmlu", "The answer is C.29", "C"),
        ("mmlu", "选项C正确", "C"),
        ("mmlu", "The answer is not B but C.", "C"),
        ("mmlu", "The answer is not A", None),
        ("mmlu", "The answer isn't C", None),
        ("mmlu", "I think it's C, not A.", "C"),
        ("mmlu", "I choose C over A.", "C"),
        ("mmlu", "The answer is either B or C", None),
        ("mmlu", "Answer: A, B", None),
        ("mmlu", "The answer is C, I think.", "C"),
        ("mmlu", "A) 21 = 3 x 7\nB) 27\nC) 29\nD) 33", None),
        ("mmlu", "正确的是C\u3002A是合数", "C"),
        ("mmlu", "因此C选项正确\uff0cA选项错误\u3002", "C"),
        ("mmlu", "我选择C\uff0c不是A", "C"),
        ("mmlu", "选C\uff0c不选A", "C"),
        ("mmlu", "【答案】C\n【解析】A错误", "C"),
        ("mmlu", "参考答案\uff1aC\u3002A错误", "C"),
        ("mmlu", "정답: C\nA는 틀렸다", "C"),
        ("math", r"$\boxed{1}$, $\boxed{2}$, and $\boxed{-5}$", "1, 2, -5"),
        ("math", r"\boxed{2} or \boxed{\frac{\sqrt{3}}{2}}", r"2, \frac{\sqrt{3}}{2}"),
        ("math", r"First \boxed{3}. Then \boxed{4}", "4"),
        ("math", r"The answer is 12. (Check: $3 \cdot 4 = 12$)", "12"),
        ("math", r"So it is $\boxed 7$.", "7"),
        ("math", r"\boxed7", "7"),
        ("math", r"\boxed{.5}", "0.5"),
        ("math", r"\fbox{3}", "3"),
        ("math", r"The answer is $\frac12$.", "0.5"),
        ("math", "Answer: $x=5$", "5"),
        ("math", "**Answer:** 5\n\nExplanation: 3", "5"),
        ("math", r"\boxed{\frac{\sqrt{3}}{2}}", "\\frac{\\sqrt{3}}{2}"),
        ("math", r"\boxed{\text{Germany}}", "germany"),
        ("math", "Answer: Let us see. x is 3", None),
        ("math", r"The final answer is $\boxed{1\frac12}$", "1.5"),
        ("math", r"The final solution is \boxed{12}.", "12"),
        ("math", r"\boxed 12$", "12"),
        ("math", "5", None),
    ],
)
def test_choices_and_formulas_are_read_where_they_are_stated(
    name: str, text: str, answer: str | None
) -> None:
    assert task(name).answer("q", text) == answer


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("svamp", "The final solution is unknown"),
        ("aqua", "The final choice is none"),
        ("aqua", "The final choice is A bit unclear"),
        ("mmlu", "The final choice is E"),
        ("math", "\u201cThe final solution is\u201d"),
        ("gsm8k", "The final solution is not known yet, as 3 apples are missing."),
        ("gsm8k", "The final solution is still to be found by adding 3 and 4."),
        ("gsm8k", "The final solution is found by adding 3 and 4."),
        ("math", "The final solution is not known yet."),
        ("math", "**The final solution is** yet to be determined: $x = 2$ is half of it."),
        ("theoremqa", "The final solution is unclear so far."),
        ("aqua", "The final choice is not clear yet: A or B."),
        ("mmlu", "I will write 'The final choice is' later."),
    ],
)
def test_a_marker_without_a_value_ends_no_path(name: str, text: str) -> None:
    assert task(name).read_step("?", (), text) == {"text": text}
    assert task(name).ask("?", "io", {}).read([text]) == [None]


@pytest.mark.parametrize("name", TASKS)
async def test_reasoning_goes_on_after_a_mention_of_the_marker(name: str) -> None:
    choice = name in ("aqua", "mmlu")
    said = "The final choice is" if choice else "The final solution is"

    def reply(call: Any) -> str:
        if call.role != "generate":
            return "Bad step index: None"
        return (
            f"{said} {'B' if choice else '7'}"
            if "Step 1" in shown(call)
            else f"{said} not known yet"
        )

    for method in ("chain", "rollback"):
        out = await tg.build(method, task=name, model=ScriptedChat(reply=reply)).ainvoke(
            {"problem": "How many?"}
        )
        assert (out["answer"], len(out["tree"])) == ("B" if choice else "7", 3)


def shown(call: Any) -> str:
    return call.prompt.rpartition("<steps>\n")[2] if "<steps>\n" in call.prompt else ""


@pytest.mark.parametrize("name", [*TASKS, "game24"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_text_is_a_step(name: str, text: str) -> None:
    assert task(name).read_step("1 2 3 4", (), text)["text"] == text


@pytest.mark.parametrize("name", TASKS)
def test_every_worked_example_is_read_as_its_own_answer(name: str) -> None:
    shown = task(name).demonstrations(20)
    assert len(shown) == 5
    for example in shown:
        step = task(name).read_step("?", (), example)
        assert step["answer"] is not None
        stated = example.rpartition("is ")[2].strip(".$ ")
        assert scores(name, "?", [step["answer"]], stated) == [1.0]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("method", ["io", "cot", "cot_sc"])
@pytest.mark.parametrize("shots", [0, 3])
async def test_plain_prompting_runs_with_and_without_examples(
    name: str, method: str, shots: int
) -> None:
    model = ScriptedChat(
        reply=lambda call: (
            f"The final {'choice is B' if name in ('aqua', 'mmlu') else 'solution is 7'}"
        )
    )
    graph = tg.build(method, task=name, model=model)
    out = await graph.ainvoke({"problem": "How many?"}, context={"shots": shots})
    assert out["answer"] == ("B" if name in ("aqua", "mmlu") else "7")
    prompt = model.seen[0].prompt
    outright = method == "io"
    marker = "The final choice is" if name in ("aqua", "mmlu") else "The final solution is"
    assert prompt.count("\nAnswer: Let's think step by step.\nStep 1.") == shots * (not outright)
    assert prompt.count(f"\nAnswer: {marker} ") == shots * outright
    assert "step by step" not in prompt or not outright
    assert "How many?" in prompt


@pytest.mark.parametrize("name", TASKS)
def test_examples_of_input_and_output_have_the_solutions_of_those_with_steps(name: str) -> None:
    plain, steps = (
        task(name).ask("?", style, {"shots": 5}).prompt.user.split("\n\nQuestion: ")[1:-1]
        for style in ("io", "cot")
    )
    assert len(plain) == 5
    for short, long in zip(plain, steps, strict=True):
        assert short.partition("\nAnswer:")[0] == long.partition("\nAnswer:")[0]
        found = task(name).ask("?", "io", {}).read([short, long])
        assert found[0] == found[1] is not None


@pytest.mark.parametrize("name", TASKS)
async def test_tree_of_thoughts_votes_on_strategies_that_were_asked_for_in_the_same_words(
    name: str,
) -> None:
    model = ScriptedChat(reply=lambda call: "Think.\nAnswer:\nthe answer is 1. Best choice is 1")
    graph = tg.build("tot_bfs", task=name, model=model)
    await graph.ainvoke({"problem": "How many?"})
    asked = model.seen[0].prompt
    form = re.search(r'It should end with ("the answer is.*)\.$', asked, re.M)
    assert form is not None
    assert f"Answer the following question with {form[1]}: How many?" in model.seen[1].prompt
    second = next(call.prompt for call in model.seen[1:] if call.role == "generate")
    assert second == f"{asked}\n\nThink.\n\nAnswer:\n"
    model.seen.clear()
    with pytest.raises(tg.SettingError, match="leave shots at 0"):
        await graph.ainvoke({"problem": "How many?"}, context={"shots": 2})
    assert not model.seen


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("method", ["io", "cot", "cot_sc"])
@pytest.mark.parametrize("way", ["strategy", "steps"])
async def test_zero_shot_baselines_ask_as_their_paper_does(
    name: str, method: str, way: str
) -> None:
    model = ScriptedChat(reply=lambda call: ["The final solution is 7"] * call.n)
    graph = tg.build(method, task=name, model=model)
    await graph.ainvoke({"problem": "How many?"}, context={"zero_shot": way})
    prompt = model.seen[0].prompt
    of_tot = name == "gsm8k" and way == "strategy"
    marker = "The final choice is" if name in ("aqua", "mmlu") else "The final solution is"
    assert (f"place it after the sentence '{marker}'" in prompt) is not of_tot
    assert ("the answer is" in prompt) is of_tot
    assert ("Make a strategy then write" in prompt) is (of_tot and method != "io")
    assert ("Let's think step by step" in prompt) is (not of_tot and method != "io")


@pytest.mark.parametrize(
    ("name", "answer"),
    [("strategyqa", "yes"), ("hotpotqa", "Milan"), ("fever", "SUPPORTS"), ("question", "7")],
)
@pytest.mark.parametrize("method", ["cot", "cot_sc"])
async def test_other_questions_can_be_reasoned_about_without_a_strategy(
    name: str, answer: str, method: str
) -> None:
    text = f"Step 1. Two sources agree.\nThe answer is {answer}."
    model = ScriptedChat(reply=lambda call: [text] * call.n)
    graph = tg.build(method, task=name, model=model)
    out = await graph.ainvoke({"problem": "How many?"}, context={"zero_shot": "steps"})
    prompt = model.seen[0].prompt
    assert "How many?\n\nLet's think step by step. End with " in prompt
    assert "the answer is" in prompt
    assert "trategy" not in prompt
    assert out["answer"] == answer


@pytest.mark.parametrize("name", [*TASKS, "strategyqa", "hotpotqa", "fever", "question"])
@pytest.mark.parametrize("method", ["io", "cot"])
async def test_chat_models_are_asked_in_words_of_ours(name: str, method: str) -> None:
    model = ScriptedChat(reply=lambda call: "6 and 1.\n**The answer is** (B) or 7, no, refutes.")
    graph = tg.build(method, task=name, model=model)
    out = await graph.ainvoke({"problem": "How many?"}, context={"wording": "chat"})
    [call] = model.seen
    problem, asked = call.prompt.split("\n\n")
    assert problem.endswith("How many?")
    assert 'begins with "The answer is"' in asked
    assert ("Reason step by step" in asked) is (method == "cot")
    assert "solution is" not in asked
    assert out["answer"]


async def test_worked_examples_have_words_of_their_own() -> None:
    model = ScriptedChat(reply=lambda call: "7")
    graph = tg.build("cot", task="svamp", model=model)
    for words in ({}, {"wording": "chat"}):
        await graph.ainvoke({"problem": "How many?"}, context={"shots": 2, **words})
    assert len({call.prompt for call in model.seen}) == 1


PAGE = (Path(__file__).parents[1] / "docs" / "rollback.md").read_text(encoding="utf-8")
VARIANTS = [row for row in PAGE.splitlines() if row.startswith(("| TR", "| any of these"))]


def test_the_five_variants_are_documented() -> None:
    told = [re.findall(r"`(\w+=\w+)`", row) for row in VARIANTS]
    assert told == [
        [],
        ["ensemble=first"],
        ["shots=5"],
        ["shots=3", "examples=FILE"],
        ["parallel=false"],
    ]


def erring(call: Any) -> str:
    """Begins the puzzle 4 9 10 13 wrongly until an experience warns it, and says so on checking."""
    steps = call.prompt.rpartition("<steps>\n")[2] if "<steps>\n" in call.prompt else ""
    warned = "leads nowhere" in call.prompt
    if call.role == "extract_index":
        return f"Bad step index: {1 if warned else 'None'}"
    if call.role == "analyse":
        return "Step 1 leads nowhere." if "4 + 9 = 13" in steps else "All is well."
    wrong = ["4 + 9 = 13", "13 + 10 = 23", "23 + 13 = 36"]
    right = ["10 - 4 = 6", "13 - 9 = 4", "6 * 4 = 24"]
    return (right if warned else wrong)[steps.count("Step ")]


OWN_OR_BROUGHT = [
    *((row, False) for row in VARIANTS),
    *((row, True) for row in VARIANTS if "examples=FILE" in row),
]


@pytest.mark.parametrize(("row", "brought"), OWN_OR_BROUGHT)
async def test_documented_settings_keep_their_examples_beside_experiences(
    row: str, brought: bool, tmp_path: Path
) -> None:
    file = tmp_path / "mine.md"
    file.write_text("worked by me")
    told = dict(re.findall(r"`(\w+)=(\w+)`", row))
    if "examples" in told:
        told["examples"] = str(file) if brought else "own"
    context = {name: json.loads(v) if v in ("3", "5", "false") else v for name, v in told.items()}
    puzzle = "Game of 24" in row
    model = ScriptedChat(reply=erring if puzzle else mistaken)
    graph = tg.build("rollback", task="game24" if puzzle else "gsm8k", model=model)
    problem = "4 9 10 13" if puzzle else "4 + 9?"
    out = await graph.ainvoke({"problem": problem}, context=context)
    assert out["usage"]["rollbacks"]
    generated = [call.prompt for call in model.seen if call.role == "generate"]
    assert any("Experience with Analysis" in prompt for prompt in generated)
    for prompt in generated:
        assert ("worked by me" in prompt) is brought
        assert brought or prompt.count("Question: ") == 1 + context.get("shots", 0)
    assert {name: out["settings"][name] for name in context} == context
    assert not puzzle or "(10 - 4) * (13 - 9)" in out["candidates"]


@pytest.mark.parametrize(("name", "own"), [("gsm8k", 5), ("game24", 3)])
@pytest.mark.parametrize("method", ["rollback", "chain", "level_tot"])
async def test_more_examples_than_there_are_must_be_brought(
    name: str, own: int, method: str, tmp_path: Path
) -> None:
    model = ScriptedChat(reply=lambda call: ["Evaluation Score: 1"] * call.n)
    graph = tg.build(method, task=name, model=model)
    with pytest.raises(tg.SettingError, match=f"has {own} worked examples .* text file"):
        await graph.ainvoke({"problem": "1 2 4 7"}, context={"shots": own + 1})
    assert not model.seen
    brought = "\n".join(f"mine {at}" for at in range(own + 1))
    file = tmp_path / "mine.md"
    file.write_text(brought)
    context = {"shots": own + 1, "examples": str(file), "limit_requests": 1}
    await graph.ainvoke({"problem": "1 2 4 7"}, context=context)
    assert brought in model.seen[0].prompt


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("0, 5", "[0, 5]", 1),
        ("5, 0", "[0, 5]", 1),
        ("(0.34, 0.25)", "[0.333, 0.25]", 1),
        ("0, 5", "[0, 5, 5]", 0),
        ("true", "True", 1),
        ("false", "True", 0),
        ("B", "(b)", 1),
        ("0.33", "0.333", 1),
        ("1/3", "0.333", 1),
        ("0.31", "0.333", 0),
        ("0.97", "1.0", 1),
        ("4.4", "4", 1),
        ("-4.6", "-4", 0),
        ("-1.08", "-1.047", 1),
        (r"2\pi", "6.28", 1),
        (r"\frac{\sqrt{2}}{2}", "0.7071", 1),
        ("9" * 300 + "^9", "1.0", 0),
        ("unclear", "4", 0),
    ],
)
def test_theoremqa_forgives_what_its_own_script_does(answer: str, gold: str, score: float) -> None:
    assert scores("theoremqa", "?", [answer], gold) == [score]


def test_three_steps_compose_an_expression() -> None:
    steps = ["select 10 and 4; operation: 10 - 4 = 6", "13 - 9 = 4", "operation: 6 \u00d7 4 = 24"]
    answer = composed("4 9 10 13", steps)
    assert answer == "(10 - 4) * (13 - 9)"
    assert task("game24").check("4 9 10 13", answer)


@pytest.mark.parametrize(
    ("steps", "answer"),
    [
        ([r"$10 - 4 = 6$", "13 \u2212 9 = 4", r"6 \times 4 = 24"], "(10 - 4) * (13 - 9)"),
        (["4 - 10 = -6", "9 - 13 = (-4)", "(-6) x (-4) = 24"], "(4 - 10) * (9 - 13)"),
        (["9 * 10 = 90", "90 + 4 = 94", r"94 \div 13 = 94/13"], "((9 * 10) + 4) / 13"),
    ],
)
def test_signs_and_brackets_of_steps_are_read_as_written(steps: list[str], answer: str) -> None:
    assert composed("4 9 10 13", steps) == answer


@pytest.mark.parametrize(
    "steps",
    [
        ["10 - 4 = 5", "13 - 9 = 4", "5 * 4 = 20"],
        ["10 - 4 = 6", "13 - 10 = 3", "6 * 3 = 18"],
        ["10 - 4 = 6", "hello", "6 * 4 = 24"],
        ["10 / 0 = 6", "13 - 9 = 4", "6 * 4 = 24"],
        ["10 - 4 = 6"],
    ],
)
def test_steps_that_do_not_follow_compose_nothing(steps: list[str]) -> None:
    assert composed("4 9 10 13", steps) is None


def test_the_worked_examples_of_game24_are_right() -> None:
    for example in task("game24").demonstrations(9):
        question, *steps = example.split("\n")
        problem = question.removeprefix("Question: ")
        assert task("game24").check(problem, composed(problem, steps) or "")


async def test_game24_ends_at_the_third_step() -> None:
    lines = {1: "10 - 4 = 6", 2: "13 - 9 = 4", 3: "6 * 4 = 24"}

    def reply(call: Any) -> str:
        if call.role != "generate":
            return "Bad step index: None"
        return lines[
            call.prompt.rpartition("<steps>\n")[2].count("Step ") + 1
            if "<steps>\n" in call.prompt
            else 1
        ]

    graph = tg.build("rollback", task="game24", model=ScriptedChat(reply=reply))
    out = await graph.ainvoke({"problem": "4 9 10 13"})
    assert (out["answer"], len(out["tree"])) == ("(10 - 4) * (13 - 9)", 4)


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        (r"2\sqrt{3}", r"\sqrt{12}", True),
        ("0.33", "1/3", False),
        *(
            pytest.param(*each, marks=pytest.mark.ci)
            for each in (
                (r"\frac{1}{3}", "1/3", True),
                ("x+1", "1+x", True),
                ("3", "4", False),
                ("\\frac{", "3", False),
                ("", "3", False),
                ("9^{9^{9^{9}}}", "3", False),
                ("3\x003", "4", False),
                ("\ud800", "4", False),
            )
        ),
    ],
)
def test_formulas_are_compared_in_a_process_of_their_own(
    answer: str, gold: str, same: bool
) -> None:
    pytest.importorskip("math_verify", reason="the extra `math` is not installed")
    assert same_formula(answer, gold) is same


def test_without_the_extra_a_formula_is_not_silently_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "math_verify", None)
    same_formula.cache_clear()
    assert scores("math", "?", ["0.5", "0.33"], r"\frac12") == [1, 0], "numbers need no second look"
    with pytest.raises(tg.InputError, match=r"install thoughtgraph\[math\]"):
        scores("math", "?", ["1+x"], "x+1")


def test_a_broken_extra_is_not_taken_for_wrong_formulas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("math_verify", reason="the extra `math` is not installed")
    (tmp_path / "math_verify.py").write_text("import what_is_not_there")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(tg.InputError, match="cannot be imported"):
        same_formula("a + b", "b + a")


async def test_equal_solutions_in_other_words_vote_together() -> None:
    said = iter([r"\frac12", "3", "x = 0.5"])
    model = ScriptedChat(
        reply=lambda call: [f"The final solution is ${next(said)}$." for _ in range(call.n)]
    )
    graph = tg.build("cot_sc", task="math", model=model)
    out = await graph.ainvoke({"problem": "How much?"}, context={"n_generate": 3})
    assert out["candidates"] == ["0.5", "3", "0.5"]
    assert out["answer"] == "0.5"
    assert [out["tree"][key]["value"] for key in ("1", "2", "3")] == [2, 1, 2]
