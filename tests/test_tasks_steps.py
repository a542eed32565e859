"""Searches over tasks that are answered in several steps: strategies, plans, equations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.scripted import ScriptedChat
from support.stepping import mistaken

import thoughtgraph as tg
from thoughtgraph import registry

WRITING: Any = registry.task("creative_writing")
SENTENCES = "It rained. Nobody came! Was it late? She said: 'I kept the key.'"


@pytest.mark.parametrize(
    "text",
    [
        SENTENCES,
        "One is here. Two is here. An unfinished one Three is here.",
        "One line\nand another\nand a third\nand a fourth",
    ],
    ids=["a line", "a public line with a sentence that does not end", "four lines"],
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


def so_far(call: Any) -> str:
    return call.prompt.rpartition("<steps>\n")[2] if "<steps>\n" in call.prompt else ""


@pytest.mark.parametrize("name", ["gsm8k", "mmlu"])
async def test_reasoning_goes_on_after_a_mention_of_the_marker(name: str) -> None:
    answer, kind = ("B", "choice") if name == "mmlu" else ("7", "solution")

    def reply(call: Any) -> str:
        if call.role != "generate":
            return "Bad step index: None"
        return f"The final {kind} is {answer if 'Step 1' in so_far(call) else 'not known yet'}"

    for method in ("chain", "rollback"):
        graph = tg.build(method, task=name, model=ScriptedChat(reply=reply))
        out = await graph.ainvoke({"problem": "How many?"})
        assert (out["answer"], len(out["tree"])) == (answer, 3)


def erring(call: Any) -> str:
    """Begins the puzzle 4 9 10 13 wrongly until an experience warns it, and says so on checking."""
    steps = so_far(call)
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
    ("gsm8k", {"ensemble": "first"}),
    ("gsm8k", {"shots": 5}),
    ("game24", {"shots": 3, "examples": "own"}),
    ("game24", {"shots": 3, "examples": "FILE"}),
    ("gsm8k", {"parallel": False}),
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
