"""inspect_ai evaluates with our methods and scorers, on its own model."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ModelOutput,
    ModelUsage,
    get_model,
)

import thoughtgraph as tg
from thoughtgraph.bench.inspect_adapter import RESULT, official, problems, search

SOLVED = "Answer: (10 - 4) * (13 - 9) = 24"
PUZZLES = "Rank,Puzzles\n1,4 9 10 13\n2,1 1 4 6\n"
# Both are inspect's: what it tells tenacity, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated"),
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "24.csv"
    path.write_text(PUZZLES)
    return path


def played(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
    """Answers every puzzle with the solution of the first, as often as it is asked."""
    said = ChatMessageAssistant(content=SOLVED)
    choices = [ChatCompletionChoice(message=said)] * (config.num_choices or 1)
    usage = ModelUsage(input_tokens=30, output_tokens=20, total_tokens=50)  # else it counts online
    return ModelOutput(model="mock", choices=choices, usage=usage)


def evaluated(task: Task, tmp_path: Path) -> Any:
    model = get_model("mockllm/model", custom_outputs=played)
    [log] = evaluate(task, model=model, log_dir=str(tmp_path / "logs"), display="none")
    return log


def test_a_method_solves_and_the_official_scorer_scores(file: Path, tmp_path: Path) -> None:
    solver, scorer = search("cot_sc", "game24", n_generate=3), official("game24")
    log = evaluated(Task(problems("game24", file), solver=solver, scorer=scorer), tmp_path)
    assert log.status == "success", log.error
    assert [sample.scores["official"].value for sample in log.samples] == [1, 0]
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    first = log.samples[0].store[RESULT]
    assert first["answer"] == "(10 - 4) * (13 - 9)"
    assert first["usage"]["requests"] == 1, "three samples are one request"
    assert first["usage"]["prompt_tokens"] == 30
    assert len(first["tree"]) == 1 + 3


def test_a_task_without_a_gold_answer_cannot_be_scored(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"problem": "Why?"}))
    task = Task(
        problems("question", path), solver=search("io", "question"), scorer=official("question")
    )
    log = evaluated(task, tmp_path)
    assert log.status == "error"
    assert "without a gold answer" in log.error.message


def test_a_setting_that_is_none_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(tg.ThoughtgraphError, match="did you mean 'breadth'"):
        search("tot_bfs", "game24", bredth=3)
