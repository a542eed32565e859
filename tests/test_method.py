"""What a method is: one value in its file, an entry in the registry, settings without LangGraph."""

import re
from pathlib import Path

import pytest

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.method import Method, load
from thoughtgraph.settings import Settings

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", registry.METHODS)
def test_the_registry_names_the_method_and_its_settings(name: str) -> None:
    method = load(name)
    assert isinstance(method, Method) and method.id == name
    assert method.entry is registry.METHODS[name]
    assert method.settings is registry.settings(name)


@pytest.mark.parametrize("name", registry.METHODS)
def test_how_many_requests_a_method_makes_is_told_by_names_of_its_settings(name: str) -> None:
    told = registry.METHODS[name].requests
    names = set(re.findall(r"[a-z]+(?:_[a-z]+)+", told)) - {"single_call"}
    assert told and names <= registry.settings(name).model_fields.keys()


def test_every_file_of_a_method_exports_the_methods_that_the_registry_names_and_no_other() -> None:
    named = {entry.method for entry in registry.METHODS.values()}
    found = set()
    for file in (ROOT / "graphs").glob("[a-z]*.py"):
        module = __import__(f"thoughtgraph.graphs.{file.stem}", fromlist=["_"])
        methods = {key for key, value in vars(module).items() if isinstance(value, Method)}
        found |= {f"{file.stem}:{key}" for key in methods}
    assert found == named


@pytest.mark.parametrize("name", registry.METHODS)
def test_a_setting_of_a_method_says_what_it_is_and_where_its_default_comes_from(name: str) -> None:
    settings = registry.settings(name)
    assert issubclass(settings, Settings) and settings.__doc__
    for field, info in settings.model_fields.items():
        assert info.description, field


@pytest.mark.parametrize(
    ("name", "given", "needed"),
    [
        ("tot_bfs", {}, ["Samples", "Votes"]),
        ("tot_bfs", {"generate": "propose", "evaluate": "value"}, ["Proposes", "Values"]),
        ("tot_bfs", {"early_stop": True}, ["Samples", "Votes", "Checks"]),
        ("tot_dfs", {"evaluate": "inspect"}, ["Proposes", "Inspects"]),
        ("itot_dfs", {}, ["Acts"]),
        ("itot_best_first", {}, ["Acts", "Estimates"]),
        ("fgdip", {}, ["Moves", "Estimates", "Verifies"]),
        ("fgdip", {"answer_evaluator": False}, ["Moves", "Estimates"]),
        ("fgdip", {"step_evaluator": False, "exact_check": True}, ["Moves", "Checks"]),
        ("level_tot", {}, ["Steps", "Estimates"]),
    ],
)
def test_settings_say_what_a_task_must_be_able_to_do(
    name: str, given: dict[str, object], needed: list[str]
) -> None:
    settings = effective_settings(name, registry.task("question"), given)
    assert [each.__name__ for each in load(name).needs(settings)] == needed


def test_a_method_that_is_told_what_is_right_needs_no_judge() -> None:
    refine = load("refine")
    settings = effective_settings("refine", registry.task("creative_writing"))
    assert [each.__name__ for each in refine.needs(settings)] == ["Refines", "Judges"]
    assert [each.__name__ for each in refine.needs(settings, oracle=True)] == ["Refines"]
