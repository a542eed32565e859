"""What a LangGraph server is given: `langgraph.json`, the graphs behind it, their schemas."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.forms import assert_complete, assert_tasks_listed

from thoughtgraph import building, registry
from thoughtgraph.admission import tasks_of
from thoughtgraph.context import chosen_settings, effective
from thoughtgraph.graphs import served
from thoughtgraph.policy import Policy

ROOT = Path(__file__).parents[1]


def form_of(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns what a form sends that is left as it is."""
    return {name: field["default"] for name, field in fields.items() if "default" in field}


@pytest.mark.parametrize("method", sorted(registry.METHODS))
def test_a_graph_has_a_form_that_means_the_published_values(method: str) -> None:
    """A form may send every field with its default: that must not hide what the paper used."""
    graph: Any = getattr(served, method)
    # The server brings a checkpointer, and refuses a graph that has its own.
    assert (graph.name, graph.checkpointer) == (method, None)
    assert {"problem", "messages"} <= set(graph.get_input_jsonschema()["properties"])
    outputs = graph.get_output_jsonschema()["properties"]
    assert {"answer", "candidates", "stop_reason", "error", "usage", "tree"} <= set(outputs)
    fields = graph.get_context_jsonschema()["properties"]
    assert_complete(fields)
    assert_tasks_listed(fields)
    settings = Policy().restrict(registry.settings(method))
    form, meant = form_of(fields), []
    for task in tasks_of(method):
        published = task.published(method)
        chosen = graph.context_schema(**{**form, "task": task.id})
        untouched = effective(settings, published, {"task": task.id})
        sent = chosen_settings(chosen, registry.settings(method))
        assert effective(settings, published, sent) == untouched, task.id
        meant.append(effective(settings, published, None))
    _assert_defaults_shown(fields, meant, registry.settings(method).repository)


def _assert_defaults_shown(
    fields: dict[str, Any], meant: list[dict[str, Any]], repository: Any
) -> None:
    """What is left empty differs between tasks, or paper and code, and the text says how."""
    assert meant
    for name, field in fields.items():
        usual = {str(each[name]) for each in meant}
        if name == "limit_dollars":
            assert "default" not in field, "a form would send it, and a run without a price refuse"
        elif field.get("default") is not None or "Empty: " not in field["description"]:
            assert name == "task" or usual == {str(field["default"])}
        elif "default" in field or usual != {""}:
            assert len(usual) > 1 or name in repository
            words = field["description"].rpartition("Empty: ")[2]
            assert all(("none" if value == "None" else value) in words for value in usual)


def test_a_server_that_loads_the_file_once_a_graph_builds_each_graph_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`langgraph dev` executes the file anew for each of the graphs, which all are in it."""
    built: list[str] = []
    build = building.build

    def counted(method: str, **given: Any) -> Any:
        built.append(method)
        return build(method, **given)

    monkeypatch.setattr(building, "build", counted)
    building.served_graphs.cache_clear()
    try:
        for name, graph in json.loads((ROOT / "langgraph.json").read_text())["graphs"].items():
            path, _, variable = graph["path"].partition(":")
            assert runpy.run_path(str(ROOT / path))[variable].name == name
    finally:
        building.served_graphs.cache_clear()
    assert sorted(built) == sorted(registry.METHODS)


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
    command = [sys.executable, "-c", LOADS_LITTLE]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_short_keys_are_told_of_once_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    long = "a-long-key-of-alice"
    monkeypatch.setenv("THOUGHTGRAPH_CLIENT_KEYS", f"alice={long},bob=secret,nameless-secret-key")
    keys = runpy.run_path(str(ROOT / "deploy" / "auth.py"))["_keys"]
    with caplog.at_level("WARNING", "thoughtgraph"):
        assert keys() == keys() == {"alice": long}
    assert "1 of 3 entries" in caplog.text and "16 letters" in caplog.text
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text and long not in caplog.text
