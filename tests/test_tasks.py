"""What every task promises: problems, prompts, and that no text stops what reads it."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.hostile import readers, texts
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench.metrics import scores
from thoughtgraph.prompts import load
from thoughtgraph.task import Verdict

STEPWISE = ["gsm8k", "svamp", "aqua", "math", "theoremqa", "mmlu"]
CHOOSING = ("aqua", "mmlu")
KNOWLEDGE = {"hotpotqa": "Santiago", "fever": "REFUTES", "strategyqa": "no"}
QUESTIONS = [*STEPWISE, *KNOWLEDGE, "question"]


def task_of(name: str) -> Any:
    return registry.task(name)


def shown(name: str, style: str, **options: Any) -> str:
    prompt = task_of(name).ask("How many?", style, options).prompt
    assert "How many?" in prompt.user
    return prompt.user


def marker(name: str) -> str:
    return f"The final {'choice' if name in CHOOSING else 'solution'} is"


@pytest.mark.parametrize("name", registry.TASKS)
def test_the_example_of_the_registry_is_a_problem(name: str) -> None:
    task, example = task_of(name), registry.TASKS[name].example
    problem = task.read(f"  {example}\n")
    assert task.id == name
    assert task.read(problem) == problem
    assert problem == example or example[0] in "[{"


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 200_000], ids=["empty", "blank", "huge"])
@pytest.mark.parametrize("name", registry.TASKS)
def test_what_is_no_problem_is_refused_in_one_line_with_a_remedy(name: str, text: str) -> None:
    with pytest.raises(tg.ProblemError, match="write") as refused:
        task_of(name).read(text)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


VALUES = (None, True, -1, 10**40, 1e308, "", "x", "9" * 5_000, [], [1], [[]], {}, {"a": 1})


def changed(value: Any) -> Iterator[Any]:
    """Yields the value with each of its parts replaced, in turn, by something else."""
    yield from VALUES
    keys: Any = range(len(value)) if isinstance(value, list) else value
    for key in keys if isinstance(value, list | dict) else ():
        for part in changed(value[key]):
            other = copy.copy(value)
            other[key] = part
            yield other


@pytest.mark.parametrize("name", ["clevr", "ptr", "crosswords", "hotpotqa"])
def test_a_problem_in_json_is_read_or_refused_whatever_is_in_it(name: str) -> None:
    example = registry.TASKS[name].example
    if name == "hotpotqa":
        example = '{"question": "Who?", "context": [["Title", ["A sentence.", "Another."]]]}'
    for problem in changed(json.loads(example)):
        try:
            task_of(name).read(json.dumps(problem))
        except tg.ProblemError as error:
            assert "\n" not in str(error)


LONG = [
    5_000,
    pytest.param(100_000, marks=pytest.mark.ci),
    pytest.param(400_000, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("long", LONG)
@pytest.mark.parametrize("name", registry.TASKS)
def test_any_text_is_read_in_the_form_that_methods_need(name: str, long: int) -> None:
    for kind, text in texts(long).items():
        for reader, read in readers(name):
            method = reader.removeprefix(f"{name}.")
            try:
                result = read(text)
            except tg.InputError:
                assert method in REFUSING, f"{reader} of {kind}"
            else:
                assert_form(method, result, text)


REFUSING = ("read", "tools", "execute", "problem")
"""What reads users' texts, too, which it may refuse."""


def assert_form(method: str, result: Any, text: str) -> None:
    """Checks what a method read out of a text, or out of completions that are that text."""
    if method in ("ask", "refine"):
        [answers] = result
        assert all(answer is None or isinstance(answer, str) for answer in answers)
    if method == "vote":
        assert result[0][0] in (None, 0, 1, 2, 3, 4)
    if method == "read_step":
        assert result["text"] == text
    if method == "propose":
        assert all(len(draft["text"]) < 1_000 for draft in result[0])
    if method in ("output", "answer"):
        assert result is None or isinstance(result, str)
    if method in ("value", "judge", "estimate", "verify") and isinstance(result, list):
        [verdict] = result
        assert isinstance(verdict, Verdict)
        assert verdict.malformed in (0, 1)
        assert not (method == "value" and verdict.value), "none of these texts is a verdict"


# Questions


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_without_examples_are_asked_in_a_papers_words_or_in_ours(name: str) -> None:
    for way in ("strategy", "steps"):
        for style in ("io", "cot"):
            asked = shown(name, style, zero_shot=way)
            of_tot = (name == "gsm8k" and way == "strategy") or name not in STEPWISE
            strategy = of_tot and way == "strategy" and style == "cot"
            sentence = f"place it after the sentence '{marker(name)}'"
            assert (sentence in asked) is not of_tot
            assert ("the answer is" in asked) is of_tot
            assert ("Make a strategy then write" in asked) is strategy
            assert ("Let's think step by step" in asked) is (style == "cot" and not strategy)
            if name not in STEPWISE and way == "steps" and style == "cot":
                assert "How many?\n\nLet's think step by step. End with " in asked
    for style in ("io", "cot"):
        problem, asked = shown(name, style, wording="chat").split("\n\n")
        assert problem.endswith("How many?")
        assert 'begins with "The answer is"' in asked
        assert ("Reason step by step" in asked) is (style == "cot")
        assert "solution is" not in asked
    assert task_of(name).answer("q", "6 and 1.\n**The answer is** (B) or 7, no, refutes.")


@pytest.mark.parametrize("name", STEPWISE)
def test_worked_examples_are_read_as_their_own_answers(name: str) -> None:
    task, said = task_of(name), marker(name)
    steps = task.demonstrations(20)
    outright, reasoned = (
        shown(name, style, shots=5).split("\n\nQuestion: ")[1:-1] for style in ("io", "cot")
    )
    assert len(steps) == len(outright) == len(reasoned) == 5
    for example, short, long in zip(steps, outright, reasoned, strict=True):
        answer = task.read_step("?", (), example)["answer"]
        stated = example.rpartition("is ")[2].strip(".$ ")
        assert scores(name, "?", [answer], stated) == [1.0]
        assert short.partition("\nAnswer:")[0] == long.partition("\nAnswer:")[0]
        assert task.ask("?", "io", {}).read([short, long]) == [answer, answer]
    for shots in (0, 3):
        outright, reasoned = (shown(name, style, shots=shots) for style in ("io", "cot"))
        assert outright.count(f"\nAnswer: {said} ") == shots
        assert reasoned.count("\nAnswer: Let's think step by step.\nStep 1.") == shots
        assert "step by step" not in outright
    told = [shown(name, "cot", shots=2, wording=wording) for wording in ("published", "chat")]
    assert told[0] == told[1], "worked examples have words of their own"


@pytest.mark.parametrize(
    ("name", "own", "form"),
    [
        ("hotpotqa", 6, "a name, a date, a number, yes or no, or a few words."),
        ("strategyqa", 6, "yes or no."),
        ("fever", 3, "SUPPORTS, REFUTES or NOT ENOUGH INFO, by what Wikipedia says"),
    ],
)
def test_questions_about_pages_show_own_examples_none_or_a_file(
    name: str, own: int, form: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.md"
    file.write_text("Question: Mine?\nAnswer: {mine}\n", encoding="utf-8")
    for style in ("io", "cot"):
        plain = shown(name, style)
        for options, count in (
            ({}, 0),
            ({"examples": "own"}, own),
            ({"examples": "own", "shots": 2}, 2),
            ({"shots": 2}, 2),
            ({"examples": "none", "shots": 2}, 0),
        ):
            asked = shown(name, style, **options)
            told = f"the answer alone: {form}" in asked.partition("\n\n")[0]
            assert asked.count("\nAnswer: ") == count
            assert told == (count > 0), "one line says what an answer is"
            assert count or asked == plain
        assert "Question: Mine?\nAnswer: {mine}" in shown(name, style, examples=str(file))
    own_texts = [load(f"{name}/{style}").split("\n\n") for style in ("io", "cot")]
    for asked, reasoned in zip(*own_texts, strict=True):
        assert reasoned.splitlines()[-3::2] == asked.splitlines()[-2:]


PLAIN = [
    *((name, "B" if name in CHOOSING else "7", marker(name)) for name in STEPWISE),
    *((name, answer, "Thought: so.\nAnswer:") for name, answer in KNOWLEDGE.items()),
]


@pytest.mark.parametrize(("name", "answer", "said"), PLAIN)
async def test_plain_prompting_runs(name: str, answer: str, said: str) -> None:
    model = ScriptedChat(reply=lambda call: [f"{said} {answer}"] * call.n)
    own: dict[str, Any] = {"shots": 3} if name in STEPWISE else {"examples": "own"}
    for method, style, context in (
        ("io", "io", {"wording": "chat"}),
        ("cot", "cot", own),
        ("cot_sc", "cot", {"zero_shot": "steps"}),
    ):
        graph = tg.build(method, task=name, model=model)
        told = {"n_generate": 2, **context}
        out = await graph.ainvoke({"problem": "How many?"}, context=told)
        assert out["answer"] == answer
        assert model.seen[-1].prompt == shown(name, style, **context)
