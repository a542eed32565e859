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


@pytest.mark.parametrize("text", ["One. Two.", "1. 2. 3. 4. 5. 6.", "no sentence at all"])
def test_fewer_or_more_sentences_are_none(text: str) -> None:
    with pytest.raises(tg.ProblemError, match="four sentences"):
        WRITING.read(text)


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


@pytest.mark.parametrize(
    ("name", "own", "method"),
    [("gsm8k", 5, "rollback"), ("gsm8k", 5, "level_tot"), ("game24", 3, "chain")],
)
async def test_more_examples_than_there_are_must_be_brought(
    name: str, own: int, method: str, tmp_path: Path
) -> None:
    model = ScriptedChat(reply=lambda call: ["Evaluation Score: 1"] * call.n)
    graph = tg.build(method, task=name, model=model)
    with pytest.raises(tg.SettingError, match=f"has {own} worked examples .* text file"):
        await graph.ainvoke({"problem": "1 2 4 7"}, context={"shots": own + 1})
    assert not model.seen
    file, brought = tmp_path / "mine.md", "\n".join(f"mine {at}" for at in range(own + 1))
    file.write_text(brought)
    context = {"shots": own + 1, "examples": str(file), "limit_requests": 1}
    await graph.ainvoke({"problem": "1 2 4 7"}, context=context)
    assert brought in model.seen[0].prompt


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
