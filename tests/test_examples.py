"""The examples and the notebooks, as a reader runs them, with a model that plays."""

import os
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from support.fake_server import FakeServer, Seen
from support.players import play
from support.serving import POSTGRES, no_database

import thoughtgraph as tg

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))
SHOWN = {"own_task": "wave", "compare_methods": "| tot_bfs"}
"""What notebooks show at the end; "13" of the puzzle where nothing is named."""


@pytest.fixture
def model() -> Iterator[str]:
    with FakeServer(play) as fake:
        yield fake.specifier


def main_of(name: str) -> Any:
    """Returns the `main` of an example."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]


async def test_in_a_graph(model: str) -> None:
    done = await main_of("in_a_graph")(model)
    assert done["task_line"] == "4 9 10 13"
    assert done["answer"] == "working on 4 9 10 13"
    assert done["result"].count("1") >= 2


async def test_in_a_pipe(model: str) -> None:
    first, second = await main_of("in_a_pipe")(model)
    assert "13" in first and "6" in second


class Helper(FakeMessagesListChatModel):
    """Calls a tool, then says what it was told."""

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        call = {"name": tools[0].name, "args": {"problem": "4 9 10 13"}, "id": "1"}
        self.responses = [AIMessage("", tool_calls=[call]), AIMessage("as told")]
        return self


async def test_as_a_tool(model: str) -> None:
    said = await main_of("as_a_tool")(Helper(responses=[]), model)
    assert [message.type for message in said] == ["human", "ai", "tool", "ai"]
    assert "13" in said[2].text
    assert said[2].artifact["tree"]["0"]["parent"] is None


async def test_in_a_chat(model: str) -> None:
    said = await main_of("in_a_chat")(model)
    assert said[::2] == ["4 9 10 13", "1 1 4 6"] and len(said) == 4


def test_without_async(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    out = main_of("without_async")(model)
    assert out["answer"] in capsys.readouterr().out
    assert "</html>" in Path("tree.html").read_text()


async def test_any_chat_model() -> None:
    proposes = tg.ScriptedChat(reply={"generate": "10 - 4 = 6 (left: 6 9 13)"})
    judges = tg.ScriptedChat(reply={"value": "sure"})
    out = await main_of("any_chat_model")(proposes=proposes, judges=judges)
    assert {call.role for call in proposes.seen} == {"generate"}
    assert {call.role for call in judges.seen} == {"value"}
    assert out["stop_reason"] != "error"


async def test_own_task() -> None:
    lines = "\n".join(f"line {at}" for at in range(5))
    reply = {"generate": lines, "value": lambda call: "9" if "line 3" in call.prompt else "2"}
    assert "line 3" in await main_of("own_task")(tg.ScriptedChat(reply=reply))


async def test_own_tool() -> None:
    def act(call: Any) -> str:
        if "20 users" in call.prompt:
            return "Thought: It is on the list.\nAction: Finish[20]"
        return "Thought: The list knows.\nAction: price_list[team]"

    model = tg.ScriptedChat(reply={"generate": act, "value": "Evaluation score is 0.9"})
    out = await main_of("own_tool")(model)
    assert (out["answer"], out["usage"]["tool_cost"]) == ("20", 1.0)
    assert any("20 users" in (each.get("observation") or "") for each in out["tree"].values())


async def test_on_postgres(model: str) -> None:
    if reason := no_database():
        pytest.skip(reason)
    main = main_of("on_postgres")
    first = await main(f"{POSTGRES}/postgres", model)
    assert "13" in first["answer"]


def write_lines(seen: Seen) -> str:
    """Writes lines of a poem, and marks them."""
    lines = "\n".join(f"wave {at} comes in" for at in range(5))
    return "7" if "How good" in seen.prompt else lines


@pytest.mark.ci
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=[pytest.mark.slow][file.stem != "compare_methods" :])
        for file in NOTEBOOKS
    ],
)
def test_a_notebook_keeps_nothing_and_runs(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbclient = pytest.importorskip("nbclient", reason="comes with the group dev")
    nbformat = pytest.importorskip("nbformat", reason="comes with the group dev")
    notebook = nbformat.read(file, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with FakeServer(write_lines if file.stem == "own_task" else play) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        resources = {"metadata": {"path": str(tmp_path)}}
        nbclient.NotebookClient(notebook, timeout=120, resources=resources).execute()
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", [])]
    shown = "".join(f"{each.get('text', '')}{each.get('data', '')}" for each in outputs)
    assert SHOWN.get(file.stem, "13") in shown
