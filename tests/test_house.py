"""What the code is made of: LangGraph's public interface, boxes whose lines are nodes, a core that
names no method."""

import ast
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from support.searches import CASES, built

import thoughtgraph
from thoughtgraph import registry
from thoughtgraph.outcome import Vote
from thoughtgraph.settings import Settings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Thought
from thoughtgraph.usage import Ending, Limits, Usage

DRAWINGS: dict[str, list[str]] = json.loads((Path(__file__).parent / "drawings.json").read_text())
"""The edges of every graph; those with two dots are conditional."""

ROOT = Path(thoughtgraph.__file__).parent
ROOMS = ("llm", "settings", "nodes", "graphs")
OTHERS = ("tasks", "tools", "bench", "cli")
CORE = [file for file in ROOT.glob("*.py") if file.stem not in ("entries", "task_entries")]
"""All but the lists of methods and tasks."""
SOURCES = [*ROOT.glob("*.py"), *(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))]
ROLES = ("generate", "evaluate", "value", "vote", "inspect", "refine", "judge", "act", "reflect")
MORE_ROLES = ("extract", "conclude", "step_eval", "answer_eval", "analyse", "rollback")
DATA = [
    name for kind in (Thought, Usage, Limits, SearchState, Vote) for name in kind.__annotations__
] + [*get_args(Ending)]
"""Names of the plain data that all methods share; some settings and roles are named alike."""

SIZES = {
    "core": 4_500,
    "settings": 1_100,
    "llm": 3_250,
    "nodes": 3_550,
    "graphs": 2_350,
    "tasks": 4_750,
    "tools": 4_150,
    "prompts": 110,
    "bench": 6_600,
    "cli": 4_650,
}
"""The most lines of Python that a room may have: what it had in November 2026, and a little."""
REFUSED = {
    *("sureness", "needed", "dearest", "edited", "applied", "differing", "following"),
    *("specialise", "effective", "beside", "LONGEST", "MOST", "given", "found", "asked"),
}
"""Names of functions and values that a reader has to guess at: participles, and comparisons."""


def found_in(files: list[Path]) -> Iterator[tuple[str, ast.AST]]:
    for file in sorted(files):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            yield file.name, node


def test_core_names_no_method_role_or_setting_of_a_method() -> None:
    """What core must know of a setting is a mark on its field; of a method, its entry."""
    settings = {name for each in registry.METHODS for name in registry.settings(each).model_fields}
    own = settings - Settings.model_fields.keys()
    forbidden = {*own, *registry.METHODS, *registry.TASKS, *ROLES, *MORE_ROLES} - {*DATA}
    assert {"corpus", "exact_check", "grammar", "repo_compat", "tot_bfs", "vote"} <= forbidden
    named = {
        (file, node.value)
        for file, node in found_in(CORE)
        if isinstance(node, ast.Constant) and node.value in forbidden
    }
    assert not named


def test_only_the_public_interface_of_langgraph_is_used() -> None:
    for file, node in found_in(SOURCES):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("langgraph"):
            assert "Send" not in [each.name for each in node.names], file
            assert not any(part.startswith("_") for part in (node.module or "").split(".")), file
        elif isinstance(node, ast.Constant):
            assert not str(node.value).startswith("__pregel"), file
        elif isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base) for base in node.bases]
            assert not any("Graph" in base or "Pregel" in base for base in bases), file


def boxes() -> dict[str, list[str]]:
    """By the module of their box: the methods that are in it."""
    found: dict[str, list[str]] = {}
    for entry in registry.METHODS.values():
        found.setdefault(entry.method.partition(":")[0], []).append(entry.id)
    return found


@pytest.mark.parametrize("module", boxes())
def test_each_line_of_a_box_names_a_node_and_each_node_a_line(module: str) -> None:
    text = import_module(f"thoughtgraph.graphs.{module}").__doc__ or ""
    box = [line for line in text.splitlines() if line.startswith("    ")]
    ends = [
        end for line in box if (end := re.search(r" {2,}([a-z_]+(?:(?:, | -> )[a-z_]+)*)$", line))
    ]
    named = {name for end in ends for name in re.findall("[a-z_]+", end[1])}
    nodes, routers = set[str](), set[str]()
    for method in boxes()[module]:
        graph: Any = built(CASES[method], method)[0]
        nodes |= graph.builder.nodes.keys()
        routers |= {name for branches in graph.builder.branches.values() for name in branches}
    assert named <= nodes | routers
    assert nodes - {"start", "review", "answer"} <= named


@pytest.mark.parametrize("method", registry.METHODS)
def test_graphs_are_drawn_as_before(method: str) -> None:
    graph, _ = built(CASES[method], method)
    drawn = sorted(
        f"{edge.source} {'..' if edge.conditional else '--'}> {edge.target}"
        for edge in graph.get_graph().edges
    )
    assert drawn == DRAWINGS[method]


@pytest.mark.parametrize("room", SIZES)
def test_a_room_does_not_grow(room: str) -> None:
    files = ROOT.glob("*.py") if room == "core" else (ROOT / room).rglob("*.py")
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    assert lines <= SIZES[room], "take something away, or say why not in docs/design.md"


def test_names_say_what_they_hold() -> None:
    others = [file for room in OTHERS for file in (ROOT / room).rglob("*.py")]
    for file, node in found_in([*SOURCES, *others]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.name not in REFUSED, file
        elif isinstance(node, ast.arg):
            assert node.arg not in REFUSED, file
        elif isinstance(node, ast.Assign | ast.For | ast.NamedExpr | ast.comprehension):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            stored = {
                each.id
                for target in targets
                for each in ast.walk(target)
                if isinstance(each, ast.Name)
            }
            assert not stored & REFUSED, file
