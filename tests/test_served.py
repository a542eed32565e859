"""What a LangGraph server is given: `langgraph.json`, the graphs behind it, their schemas."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.forms import assert_complete, assert_tasks_listed

from thoughtgraph import registry
from thoughtgraph.context import effective
from thoughtgraph.graphs import served
from thoughtgraph.policy import Policy

ROOT = Path(__file__).parents[1]
METHODS = sorted(registry.METHODS)


def graph(method: str) -> Any:
    return getattr(served, method)


def settings_schema(method: str) -> dict[str, Any]:
    return graph(method).get_context_jsonschema()["properties"]


@pytest.mark.parametrize(
    ("file", "checkout"), [("langgraph.json", "."), ("deploy/langgraph.json", "..")]
)
def test_a_server_is_told_of_every_method(file: str, checkout: str) -> None:
    listed = json.loads((ROOT / file).read_text())["graphs"]
    expected = {name: f"{checkout}/graphs/served.py:{name}" for name in registry.METHODS}
    assert listed == expected, "run `python deploy/list_graphs.py`"


@pytest.mark.parametrize("method", METHODS)
def test_served_graph_has_no_checkpointer_of_its_own(method: str) -> None:
    """The server brings one, and refuses a graph that has its own."""
    assert graph(method).name == method
    assert graph(method).checkpointer is None


@pytest.mark.parametrize("method", METHODS)
def test_input_and_output_have_schemas(method: str) -> None:
    assert {"problem", "messages"} <= set(graph(method).get_input_jsonschema()["properties"])
    outputs = graph(method).get_output_jsonschema()["properties"]
    assert {"answer", "candidates", "stop_reason", "error", "usage", "tree"} <= set(outputs)


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_is_explained_and_bounded_and_has_a_default(method: str) -> None:
    assert_complete(settings_schema(method))


@pytest.mark.parametrize("method", METHODS)
def test_task_is_chosen_from_a_list(method: str) -> None:
    assert_tasks_listed(settings_schema(method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("task", sorted(registry.TASKS))
def test_untouched_form_means_the_published_values(method: str, task: str) -> None:
    """A form may send every field with its default: that must not hide what the paper used."""
    form = {name: f["default"] for name, f in settings_schema(method).items() if "default" in f}
    settings = Policy().restrict(registry.settings(method))
    published = registry.task(task).published(method)
    chosen = effective(settings, published, graph(method).context_schema(**{**form, "task": task}))
    assert chosen == effective(settings, published, {"task": task})


def test_one_name_has_one_type_and_one_meaning() -> None:
    """`steps` and the like differ in bounds and in what the papers say, never in kind."""
    kinds: dict[str, set[str]] = {}
    meanings: dict[str, set[str]] = {}
    for method in METHODS:
        for name, field in registry.settings(method).model_fields.items():
            kinds.setdefault(name, set()).add(str(field.annotation))
            meanings.setdefault(name, set()).add((field.description or "").partition(" (")[0])
    differing = {name for name, found in kinds.items() if len(found) > 1}
    assert differing == {"evaluate"}, "by value or vote; by value or part by part"
    shared = ("shots", "examples", "layout", "corpus", "temperature", "top_p", "strict_parse")
    assert {name: len(meanings[name]) for name in shared} == dict.fromkeys(shared, 1)


def test_as_the_repository_leaves_what_was_given() -> None:
    dfs, crosswords = registry.settings("tot_dfs"), registry.task("crosswords")
    published = crosswords.published("tot_dfs")
    chosen = effective(dfs, published, {"repo_compat": True})
    assert (chosen["steps"], chosen["proposal_samples"]) == (9, 8)
    chosen = effective(dfs, published, {"repo_compat": True, "steps": 4, "outputs": 2})
    assert (chosen["steps"], chosen["proposal_samples"], chosen["outputs"]) == (4, 8, 2)
    bfs = registry.settings("tot_bfs")
    assert effective(bfs, {}, {"repo_compat": True})["strict_parse"] is False
    assert effective(bfs, {}, {"repo_compat": True, "strict_parse": True})["strict_parse"] is True


LOADS_LITTLE = """
import socket, sys
def refuse(*_): raise SystemExit("a connection was opened")
socket.socket.connect = refuse
import thoughtgraph.graphs.served
heavy = {"xllamacpp", "langchain_community", "wikipedia"} & set(sys.modules)
raise SystemExit(f"loaded {heavy}" if heavy else 0)
"""


@pytest.mark.ci
def test_loading_the_graphs_needs_no_model_key_or_network(tmp_path: Path) -> None:
    unset = ("OPENAI_API_KEY", "THOUGHTGRAPH_MODEL", "THOUGHTGRAPH_API_KEY")
    env = {k: v for k, v in os.environ.items() if k not in unset}
    env["XDG_CACHE_HOME"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", LOADS_LITTLE], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
