"""The notebooks, run from top to bottom, with a model that plays."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support.fake_server import FakeServer, Seen
from support.players import play

nbclient = pytest.importorskip("nbclient", reason="comes with the group dev")
nbformat = pytest.importorskip("nbformat", reason="comes with the group dev")

pytestmark = pytest.mark.ci

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 20_000
"""Bytes of a notebook: what it shows is not kept."""


def write_lines(seen: Seen) -> str:
    """Writes lines of a poem, and marks them."""
    if "How good" in seen.prompt:
        return "7"
    return "\n".join(f"wave {at} comes in" for at in range(5))


def texts(cells: list[Any]) -> str:
    """What the cells of a notebook show."""
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return "\n".join(
        str(output.get("text", "")) + str(output.get("data", {}).get("text/plain", ""))
        for output in outputs
    )


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with FakeServer(write_lines if file.stem == "own_task" else play) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        client = nbclient.NotebookClient(
            notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
        )
        client.execute()
    shown = texts(notebook.cells)
    expected = {"own_task": "wave", "compare_methods": "| tot_bfs"}
    assert expected.get(file.stem, "13") in shown


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_keeps_nothing_of_a_run(file: Path) -> None:
    assert file.stat().st_size < LARGEST
    cells = nbformat.read(file, as_version=4).cells
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
