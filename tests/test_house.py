"""What the code is made of: LangGraph's public interface, and a core that names no method."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import thoughtgraph
from thoughtgraph import registry
from thoughtgraph.outcome import Vote
from thoughtgraph.settings import Settings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Thought
from thoughtgraph.usage import Ending, Limits, Usage

ROOT = Path(thoughtgraph.__file__).parent
ROOMS = ("llm", "settings", "nodes", "graphs")
CORE = [file for file in ROOT.glob("*.py") if file.stem not in ("entries", "task_entries")]
"""All but the lists of methods and tasks."""
SOURCES = [*ROOT.glob("*.py"), *(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))]
ROLES = ("generate", "evaluate", "value", "vote", "inspect", "refine", "judge", "act", "reflect")
MORE_ROLES = ("extract", "conclude", "step_eval", "answer_eval", "analyse", "rollback")
DATA = [
    name for kind in (Thought, Usage, Limits, SearchState, Vote) for name in kind.__annotations__
] + [*get_args(Ending)]
"""Names of the plain data that all methods share; some settings and roles are named alike."""
TO_GO = {"search_graph.py", "edit_effects.py"}
"""Modules that break a rule and are to be replaced."""


def found_in(files: list[Path]) -> Iterator[tuple[str, ast.AST]]:
    for file in sorted(files):
        if file.name not in TO_GO:
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
            # What no client may write is refused by its first letters.
            assert node.value == "__pregel_" or not str(node.value).startswith("__pregel"), file
        elif isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base) for base in node.bases]
            assert not any("Graph" in base or "Pregel" in base for base in bases), file
