"""What a method is: one value in its file, an entry in the registry, what it needs of a task."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.method import Method, load
from thoughtgraph.settings import Settings

GRAPHS = Path(__file__).parents[1] / "graphs"


def test_every_method_is_one_value_of_a_file_and_named_with_its_settings_in_the_registry() -> None:
    exported = {
        f"{file.stem}:{key}"
        for file in GRAPHS.glob("[a-z]*.py")
        for key, value in vars(import_module(f"thoughtgraph.graphs.{file.stem}")).items()
        if isinstance(value, Method)
    }
    assert exported == {entry.method for entry in registry.METHODS.values()}
    for name, entry in registry.METHODS.items():
        method, settings = load(name), registry.settings(name)
        assert (method.id, method.entry, method.settings) == (name, entry, settings)
        assert issubclass(settings, Settings) and settings.__doc__
        assert all(info.description for info in settings.model_fields.values())
        told = set(re.findall(r"[a-z]+(?:_[a-z]+)+", entry.requests)) - {"single_call"}
        assert entry.requests and told <= settings.model_fields.keys()


@pytest.mark.parametrize(
    ("name", "settings", "needed"),
    [
        ("tot_bfs", {}, "Samples Votes"),
        ("tot_bfs", {"generate": "propose", "evaluate": "value"}, "Proposes Values"),
        ("tot_bfs", {"early_stop": True}, "Samples Votes Checks"),
        ("tot_dfs", {"evaluate": "inspect"}, "Proposes Inspects"),
        ("itot_dfs", {}, "Acts"),
        ("itot_best_first", {}, "Acts Estimates"),
        ("fgdip", {}, "Moves Estimates Verifies"),
        ("fgdip", {"answer_evaluator": False}, "Moves Estimates"),
        ("fgdip", {"step_evaluator": False, "exact_check": True}, "Moves Checks"),
        ("level_tot", {}, "Steps Estimates"),
    ],
)
def test_settings_say_what_a_task_must_be_able_to_do(
    name: str, settings: dict[str, object], needed: str
) -> None:
    effective = effective_settings(name, registry.task("question"), settings)
    assert " ".join(each.__name__ for each in load(name).needs(effective)) == needed
