"""What a method is: one value in its file, an entry in the registry, what it needs of a task."""

import pytest

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.method import load


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
