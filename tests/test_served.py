"""What a LangGraph server is given: `langgraph.json`, the graphs behind it, their schemas."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from support.fake_server import FakeServer
from support.forms import assert_complete, assert_tasks_listed

import thoughtgraph as tg
from thoughtgraph import building, registry
from thoughtgraph.admission import tasks_of
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


@pytest.mark.parametrize(
    ("method", "task"), [(method, task.id) for method in METHODS for task in tasks_of(method)]
)
def test_untouched_form_means_the_published_values(method: str, task: str) -> None:
    """A form may send every field with its default: that must not hide what the paper used."""
    form = {name: f["default"] for name, f in settings_schema(method).items() if "default" in f}
    settings = Policy().restrict(registry.settings(method))
    published = registry.task(task).published(method)
    chosen = effective(settings, published, graph(method).context_schema(**{**form, "task": task}))
    assert chosen == effective(settings, published, {"task": task})


@pytest.mark.parametrize("method", METHODS)
def test_a_default_in_the_form_is_what_a_run_has_that_is_told_nothing(method: str) -> None:
    """What is left empty differs between tasks, or paper and code, and the text says how."""
    tasks = tasks_of(method)
    base = registry.settings(method)
    settings = Policy().restrict(base)
    meant = [effective(settings, task.published(method), None) for task in tasks]
    assert tasks
    for name, field in settings_schema(method).items():
        usual = {str(each[name]) for each in meant}
        if name == "limit_dollars":
            assert "default" not in field, "a form would send it, and a run without a price refuse"
        elif field.get("default") is not None or "Empty: " not in field["description"]:
            assert name == "task" or usual == {str(field["default"])}
        elif "default" in field or usual != {""}:
            assert len(usual) > 1 or name in base.repository
            words = field["description"].rpartition("Empty: ")[2]
            assert all(("none" if value == "None" else value) in words for value in usual)


def test_a_form_left_as_it_is_may_still_ask_for_the_repositorys_values() -> None:
    form = {name: f["default"] for name, f in settings_schema("tot_bfs").items() if "default" in f}
    given = graph("tot_bfs").context_schema(**{**form, "repo_compat": True})
    assert effective(registry.settings("tot_bfs"), {}, given)["strict_parse"] is False


async def test_a_form_left_as_it_is_runs_on_a_model_without_a_price() -> None:
    with FakeServer(lambda seen: "the answer is 7") as server:
        own = tg.build("io", policy=Policy(models={"small": server.specifier}))
        fields = cast("Any", own.get_context_jsonschema())["properties"]
        form = {name: field["default"] for name, field in fields.items() if "default" in field}
        out = await own.ainvoke({"problem": "6 + 1?"}, context=form)
    assert (out["stop_reason"], out["error"]) == ("finished", "")


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
        for name, where in json.loads((ROOT / "langgraph.json").read_text())["graphs"].items():
            path, _, variable = where.partition(":")
            assert runpy.run_path(str(ROOT / path))[variable].name == name
    finally:
        building.served_graphs.cache_clear()
    assert sorted(built) == METHODS


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
