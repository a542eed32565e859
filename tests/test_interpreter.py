"""Running plans: environments, names, what is stored with a thought."""

import json

import pytest
from support.rooms import ROOM, SOLIDS

from thoughtgraph.tasks.scenes.interpreter import Environment, execute
from thoughtgraph.tasks.scenes.plan_language import parse
from thoughtgraph.tools.scenes.values import PlanError, Value, View

PLAN = (
    'obj1 = filter_object("table",all_obj)',
    'obj2 = filter_part(["six","leg"],obj1)',
    "obj3 = query_relation('right',obj2)",
    "relation1 = get_relation(obj2,obj3)",
    'num1 = count_part("leg",obj2)',
    'obj4 = filter_part([num1,"drawer"],all_obj)',
    "ans = equal(num1,num1)",
)


def run(*lines: str, before: Environment | None = None, view: View | None = None) -> Environment:
    environment = before or Environment()
    for line in lines:
        environment = execute(parse(line), environment, view or View(ROOM, first=True))
    return environment


def values(environment: Environment) -> list[Value]:
    return [step.value for step in environment.steps]


def test_a_plan_runs_step_by_step() -> None:
    expected = [(1, 2), (1,), (2, 3), frozenset({"right"}), 6, (1,), True]
    environment = run(*PLAN)
    assert values(environment) == expected
    assert environment.finished


def test_a_child_runs_only_its_own_lines_from_json() -> None:
    for cut in range(len(PLAN)):
        stored = json.loads(json.dumps(run(*PLAN[:cut]).to_json()))
        resumed = run(*PLAN[cut:], before=Environment.from_json(stored))
        assert resumed == run(*PLAN)


def test_environments_never_change() -> None:
    before = run(PLAN[0])
    copy = before.to_json()
    run('obj1 = filter_object("bed",all_obj)', before=before)
    assert before.to_json() == copy


def test_a_name_assigned_again_means_the_new_value() -> None:
    environment = run(PLAN[0], 'obj1 = filter_object("bed",all_obj)', "ans = count_object(obj1)")
    assert values(environment)[-1] == 1
    assert environment.steps[-1].refs() == [1]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("ans = count_object(obj1)",), "E_NAME"),
        (('obj1 = filter_object("table", obj1)',), "E_NAME"),
        (("obj1 = filter_object(table, all_obj)",), "E_NAME"),
        (("num1 = count_object(all_obj)", "ans = count_object(num1)"), "E_TYPE"),
        (("ans = filter_part([all_obj],all_obj)",), "E_TYPE"),
        (("num1 = exist(all_obj)", "ans = sum(num1,1)"), "E_TYPE"),
        (("num1 = exist(all_obj)", "obj1 = filter_part([num1],all_obj)"), "E_TYPE"),
    ],
)
def test_steps_that_do_not_run(lines: tuple[str, ...], code: str) -> None:
    with pytest.raises(PlanError) as error:
        run(*lines)
    assert error.value.code == code


def test_the_papers_profile_lacks_what_the_paper_lacks() -> None:
    step = parse("ans = query_material(all_obj)")
    view = View(SOLIDS, first=True)
    assert execute(step, Environment(), view).steps[-1].value == "rubber"
    with pytest.raises(PlanError) as error:
        execute(step, Environment(), view, "paper")
    assert error.value.code == "E_FUNC"
