"""inspect_ai evaluates with our methods and scorers, on its own model."""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import thoughtgraph as tg

SOLVED = "Answer: (10 - 4) * (13 - 9) = 24"
PUZZLES = "Rank,Puzzles\n1,4 9 10 13\n2,1 1 4 6\n"
# Both are inspect's: what it tells tenacity, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.ci,
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated"),
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
]


@pytest.fixture(scope="module")
def kit() -> SimpleNamespace:
    """What is used of inspect_ai, which takes seconds to import, and our adapter."""
    inspect = pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")
    adapter = import_module("thoughtgraph.bench.inspect_adapter")
    return SimpleNamespace(inspect=inspect, model=import_module("inspect_ai.model"), our=adapter)


def evaluated(kit: SimpleNamespace, tmp_path: Path, **parts: Any) -> Any:
    """Evaluates on a model that answers every puzzle with the solution of the first."""
    made, task = kit.model, kit.inspect.Task(**parts)

    def played(messages: Any, tools: Any, choice: Any, config: Any) -> Any:
        said = made.ChatMessageAssistant(content=SOLVED)
        choices = [made.ChatCompletionChoice(message=said)] * (config.num_choices or 1)
        # Without a usage it would count tokens by a vocabulary that it fetches.
        usage = made.ModelUsage(input_tokens=30, output_tokens=20, total_tokens=50)
        return made.ModelOutput(model="mock", choices=choices, usage=usage)

    model = made.get_model("mockllm/model", custom_outputs=played)
    logs = str(tmp_path / "logs")
    [log] = kit.inspect.eval(task, model=model, log_dir=logs, display="none")
    return log


def test_a_method_solves_and_the_official_scorer_scores(
    kit: SimpleNamespace, tmp_path: Path
) -> None:
    file = tmp_path / "24.csv"
    file.write_text(PUZZLES)
    log = evaluated(
        kit,
        tmp_path,
        dataset=kit.our.problems("game24", file),
        solver=kit.our.search("cot_sc", "game24", n_generate=3),
        scorer=kit.our.official("game24"),
    )
    assert log.status == "success", log.error
    assert [sample.scores["official"].value for sample in log.samples] == [1, 0]
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    first = log.samples[0].store[kit.our.RESULT]
    assert first["answer"] == "(10 - 4) * (13 - 9)"
    assert first["usage"]["requests"] == 1, "three samples are one request"
    assert first["usage"]["prompt_tokens"] == 30
    assert len(first["tree"]) == 1 + 3


def test_what_cannot_be_scored_or_set_or_called_is_refused(
    kit: SimpleNamespace, tmp_path: Path
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"problem": "Why?"}')
    log = evaluated(
        kit,
        tmp_path,
        dataset=kit.our.problems("question", path),
        solver=kit.our.search("io", "question"),
        scorer=kit.our.official("question"),
    )
    assert log.status == "error"
    assert "without a gold answer" in log.error.message
    with pytest.raises(tg.ThoughtgraphError, match="did you mean 'breadth'"):
        kit.our.search("tot_bfs", "game24", bredth=3)
    scripted = tg.ScriptedChat(reply={"generate": "x"})
    for model, kind in ((scripted, "scripted"), (kit.our.InspectChat(), "inspect")):
        with pytest.raises(NotImplementedError, match=f"a model of type {kind} is async"):
            model.invoke("hello")
