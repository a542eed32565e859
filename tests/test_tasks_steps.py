"""Tasks in steps: Game of 24, sums, puzzles."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.scripted import ScriptedChat, rng
from support.stepping import mistaken

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.bench.questions.game24_puzzles import puzzles, solvable
from thoughtgraph.tasks.game24.game24 import Game24
from thoughtgraph.tree import Thought

TASK: Any = Game24()
PUZZLE = "4 9 10 13"
STEP = "4 + 9 = 13 (left: 10 13 13)"


def path(*lines: str) -> list[Thought]:
    return [{"text": line} for line in lines]


def test_every_line_is_kept_where_the_official_parser_is_asked_for() -> None:
    text = f"Possible next steps:\n{STEP}\n"
    found = TASK.propose(PUZZLE, [], {"strict_parse": False}).read([text])
    assert [draft["text"] for draft in found] == ["Possible next steps:", STEP, ""]


def test_answers_without_a_value_get_votes_only_where_no_answer_has_one() -> None:
    read = TASK.ask(PUZZLE, "cot", {}).read
    assert read(["Answer: (11 - 8) * ( = 24", "Answer: 4 + 9 = 24"]) == [None, "4 + 9"]
    assert read(["Answer: - = 24", "Answer: 3 / 0 = 24"]) == ["-", "3 / 0"]


@pytest.mark.parametrize(
    ("samples", "value", "label", "malformed"),
    [
        (["x\nsure", "likely", "x\nSure."], 41.0, "sure, likely, sure", 0),
        (["maybe", "impossible", "hm"], 1.001, "maybe, impossible, ?", 1),
    ],
)
def test_the_worths_of_verdicts_add_up(
    samples: list[str], value: float, label: str, malformed: int
) -> None:
    verdict = TASK.value(PUZZLE, path(STEP), {}).read(samples)
    assert verdict.value == pytest.approx(value)
    assert (verdict.label, verdict.malformed) == (label, malformed)


def test_prompts_end_in_the_numbers_that_are_left_or_in_the_answer() -> None:
    assert TASK.value(PUZZLE, path(STEP), {}).prompt.user.endswith("\n10 13 13")
    finished = path("a (left: 10 6 4)", "b (left: 6 4)", "c (left: 24)", "Answer: 6 * 4 = 24")
    last = TASK.value(PUZZLE, finished, {}).prompt.user
    assert "give a judgement (sure/impossible)" in last
    assert last.rstrip().endswith(f"Input: {PUZZLE}\nAnswer: 6 * 4 = 24\nJudge:")
    first = TASK.propose(PUZZLE, [], {}).prompt.user
    assert first.endswith(f"Input: {PUZZLE}\nPossible next steps:\n")
    three = TASK.propose(PUZZLE, path(STEP), {"shots": 3}).prompt.user
    assert three.count("Possible next steps:") == 4
    done = TASK.propose(PUZZLE, path(STEP, "6 * 4 = 24 (left: 24)"), {}).prompt.user
    assert done.endswith(f"Input: {PUZZLE}\nSteps:\n{STEP}\n6 * 4 = 24 (left: 24)\n")


@pytest.mark.ci
def test_there_are_1362_solvable_puzzles() -> None:
    found = puzzles()
    assert len(found) == len(set(found)) == 1362
    assert {PUZZLE, "3 3 8 8", "1 5 5 5", "1 1 1 8"} <= set(found)
    assert set(found).isdisjoint({"1 1 1 1", "13 13 13 13", "1 1 1 7", "10 10 10 10"})


@pytest.mark.parametrize("hands", [range(3), pytest.param(range(3, 15), marks=pytest.mark.ci)])
def test_solvable_agrees_with_writing_every_expression_down(hands: range) -> None:
    for seed in hands:
        numbers = [rng("hand", seed, at).randrange(1, 14) for at in range(4)]
        puzzle = " ".join(map(str, numbers))
        by_hand = any(TASK.check(puzzle, expression) for expression in expressions(numbers))
        assert solvable(tuple(map(Fraction, numbers))) == by_hand, puzzle


def expressions(numbers: list[int]) -> Any:
    """Every way to write four numbers with three operations and parentheses."""
    shapes = ("(({}{}{}){}{}){}{}", "({}{}({}{}{})){}{}", "({}{}{}){}({}{}{})",
              "{}{}(({}{}{}){}{})", "{}{}({}{}({}{}{}))")  # fmt: skip
    for a, b, c, d in set(itertools.permutations(numbers)):
        for x, y, z in itertools.product("+-*/", repeat=3):
            for shape in shapes:
                yield shape.format(a, x, b, y, c, z, d)


WRITING: Any = registry.task("creative_writing")
SENTENCES = "It rained. Nobody came! Was it late? She said: 'I kept the key.'"


@pytest.mark.parametrize(
    "text",
    [
        SENTENCES,
        "One is here. Two is here. An unfinished one Three is here.",
        "One line\nand another\nand a third\nand a fourth",
    ],
)
def test_four_sentences_are_a_writing_problem(text: str) -> None:
    assert WRITING.read(text) == " ".join(text.split())


async def searched(
    name: str, problem: str, said: Sequence[str], **context: Any
) -> tuple[Any, ScriptedChat]:
    """A tree search whose first step says the first text, the second one the second."""

    def reply(call: Any) -> Any:
        if call.role == "vote":
            return "The best choice is 1"
        return [said[0] if call.stop else said[-1]] * call.n

    model = ScriptedChat(reply=reply)
    graph = tg.build("tot_bfs", task=name, model=model)
    return await graph.ainvoke({"problem": problem}, context=context), model


async def test_the_second_step_continues_the_first_in_the_models_own_words() -> None:
    plan, passage = "Plan:\nIt rains, then it stops.\n", "It rained.\n\nIt stopped."
    out, model = await searched(
        "creative_writing", SENTENCES, [plan, passage], n_generate=2, n_evaluate=1
    )
    first, second = (call for call in model.seen if call.role == "generate")
    assert (first.stop, second.stop) == (["\nPassage:\n"], None)
    assert second.prompt.startswith(first.prompt)
    assert second.prompt.endswith(f"{plan}\nPassage:\n")
    votes = [call.prompt for call in model.seen if call.role == "vote"]
    asked = WRITING.ask(SENTENCES, "io", {}).prompt.user
    assert "in this order" in asked
    assert all(f"Instruction: {asked}\n" in vote for vote in votes), "a vote is told the task"
    assert "Choice 2:\nPlan:\nIt rains, then it stops.\nPassage:\nIt rained." in votes[1]
    assert out["answer"] == passage
    assert (out["settings"]["temperature"], out["settings"]["breadth"]) == (1.0, 1)


async def test_a_header_that_escaped_the_stop_text_does_not_reach_the_next_prompt() -> None:
    said = "Strategy: add.\n**Answer:** the answer is 5"
    out, model = await searched("gsm8k", "What is 2 plus 2?", [said])
    second = [call.prompt for call in model.seen if call.role == "generate"][1]
    assert second.endswith("Strategy: add.\n\nAnswer:\n")
    assert out["tree"]["1"]["text"] == said
    assert out["answer"] == "5"


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


VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("gsm8k", {}),
    ("gsm8k", {"shots": 5}),
    ("game24", {"shots": 3, "examples": "own"}),
    ("game24", {"shots": 3, "examples": "FILE"}),
]


@pytest.mark.parametrize(("name", "context"), VARIANTS)
async def test_the_variants_of_the_paper_keep_their_examples_beside_experiences(
    name: str, context: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "mine.md"
    file.write_text("worked by me")
    brought = context.get("examples") == "FILE"
    context = {**context, "examples": str(file)} if brought else context
    puzzle = name == "game24"
    model = ScriptedChat(reply=erring if puzzle else mistaken)
    graph = tg.build("rollback", task=name, model=model)
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
