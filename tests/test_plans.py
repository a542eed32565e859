"""Plans: which lines of a completion are steps, what a step may be, and what running them gives."""

import json
from typing import Any

import pytest
from support.rooms import ROOM

from thoughtgraph.planning import Ruling
from thoughtgraph.tasks.scenes.interpreter import execute, value_of
from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge
from thoughtgraph.tasks.scenes.plan_language import clean, parse, steps_of
from thoughtgraph.tools.scenes.values import PlanError, View

LINE = 'obj1 = filter_object("table",all_obj)'
OTHER = "ans = exist(obj1)"


REFUSED = {
    "E_SYNTAX": [
        *("Here is the plan:", 'obj1 = f("a', "", "\u043ebj1 = 1", "x = 1if 1else 2"),
        'obj1 = filter_object("\\d", all_obj)',
    ],
    "E_STMT": [
        *("import os", "obj1 = obj2", "ans = 1 + 2", "a; b", "ans = count_object(exist(all_obj))"),
        *(f"obj1 = filter_object({each}, all_obj)" for each in ("-1", 'f"x"', "(1,)", "{1}")),
        "obj1 = filter_part([[1]], all_obj)",
    ],
    "E_FUNC": [f"obj1 = {each}" for each in ("eval('1')", "x.y()", "(lambda: 0)()", "f()()")],
    "E_NAME": [f"{name} = exist(all_obj)" for name in ("sum", "all_obj", "__x", "Obj")],
    "E_ARITY": [f"ans = exist({each})" for each in ("", "1, 2", "*x", "**x", "object=x")],
    "E_TYPE": [
        f"ans = exist({each})" for each in ("True", "None", "...", "1.5", "2j", "b'x'", "u'x'")
    ],
    "E_LIMIT": [
        "ans = sum(1001, 1)",
        *(f"ans = exist({each})" for each in (f'"{"x" * 65}"', f"[{'1, ' * 9}]", "((((x))))")),
        f"ans = exist({' ' * 400})",
    ],
}


@pytest.mark.parametrize(
    ("line", "code"), [(line, code) for code, lines in REFUSED.items() for line in lines]
)
def test_what_is_no_step_is_refused(line: str, code: str) -> None:
    with pytest.raises(PlanError) as error:
        parse(line)
    assert error.value.code == code
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "form",
    [
        *("**Step {at}:** {step}", "**Step {at}**: {step}", "**Step {at}: {step}**"),
        *("**Step {at}.** {step}", "**Step {at}**\n`{step}`", "### Step {at}: {step}"),
        *("### Step {at}:\n{step}", "**Step {at}:**\n```python\n{step}\n```", "{at}. {step}"),
        *("{at}) {step}", "({at}) {step}", "{at}. **{step}**", "{at}. `{step}`"),
        *("**{at}.** {step}", "{at}\\. {step}", "- Step {at}: {step}", "* **Step {at}:** `{step}`"),
        *("Step {at} - {step}", "Step {at} \u2014 {step}", "Step #{at}: {step}"),
        *("> Step {at}: {step}", "Step {at}\uff1a{step}", "STEP {at}: {step};"),
        *("Step {at}: {step}.", "\u2022 {step}"),
    ],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_steps_are_read_whatever_their_decoration(form: str, escaped: bool) -> None:
    wanted = [LINE, OTHER]
    written = [step.replace("_", "\\_") if escaped else step for step in wanted]
    plan = "\n".join(form.format(at=at, step=step) for at, step in enumerate(written, 1))
    assert [clean(step) for step in steps_of(f"Here is the plan:\n\n{plan}\n")] == wanted


FENCED = f"Sure, here is the plan:\n\n```python\nStep 1:{LINE}\nStep 2:{OTHER}\n```\nThis works "
MANY = "\n".join(["# comment", "Step 4:", "", LINE, LINE, LINE])


@pytest.mark.parametrize(
    ("text", "most", "steps"),
    [
        (f"{FENCED}because exist = true.", None, [f"Step 1:{LINE}", f"Step 2:{OTHER}"]),
        (f"# {LINE}\nans = exist(all_obj)", None, ["ans = exist(all_obj)"]),
        (f"Step 1:{LINE} Step 2:{OTHER}", None, [f"Step 1:{LINE}", f"Step 2:{OTHER}"]),
        (f"{LINE}\nQuestion: how many?\n{LINE}", None, [LINE]),
        (f"{LINE}\nNow count.\n{OTHER}", None, [LINE, "Now count.", OTHER]),
        (MANY, 2, [LINE] * 2),
        (MANY, None, [LINE] * 3),
        *[(text, None, []) for text in ("", "I cannot help.", "Step 4:", "```\n```", "\n\n")],
    ],
)
def test_the_steps_of_a_completion(text: str, most: int | None, steps: list[str]) -> None:
    assert steps_of(text, most) == steps


PLAN = (
    LINE,
    'obj2 = filter_part(["six","leg"],obj1)',
    "obj3 = query_relation('right',obj2)",
    "relation1 = get_relation(obj2,obj3)",
    'num1 = count_part("leg",obj2)',
    'obj4 = filter_part([num1,"drawer"],all_obj)',
    "ans = equal(num1,num1)",
)


def run(*lines: str) -> list[Any]:
    done: list[Any] = []
    for line in lines:
        done.append(execute(parse(line), done, View(ROOM, first=True)))
    return [value_of(step) for step in done]


def test_a_plan_runs_step_by_step() -> None:
    assert run(*PLAN) == [(1, 2), (1,), (2, 3), frozenset({"right"}), 6, (1,), True]


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


THREE = [
    f"Step 1:{LINE}",
    'Step 2:obj2 = filter_part(["six","red","drawer"],obj1)',
    'Step 3:ans = count_part("leg",obj2)',
]
RULES = Rules()


def judged(plan: list[str], rules: Rules = RULES, state: Any = None) -> Ruling:
    return judge(ROOM, state, plan, rules)


def test_a_plan_is_judged_alike_in_chunks_of_any_size() -> None:
    whole = judged([*THREE, "this is no step"])
    assert (whole.accepted, whole.answer, whole.code) == (True, "6", "")
    lines = whole.text.split("\n")
    assert lines[0] == LINE
    assert len(lines) == 3, "lines after the answer are dropped"
    assert whole.observation == "2 objects: Table0, Table1\n1 object: Table0\n6"
    for cut in (1, 2):
        first = judged(THREE[:cut])
        assert first.accepted and first.answer is None
        state = json.loads(json.dumps(first.tool_state))
        rest = judged(THREE[cut:], state=state)
        assert (rest.answer, rest.tool_state) == ("6", whole.tool_state)


SEVERAL = [LINE, 'ans = count_part("leg",obj1)']
NONE = ['obj1 = filter_object("cart",all_obj)', "ans = exist(obj1)"]


@pytest.mark.parametrize(
    ("rules", "plan", "code", "told"),
    [
        *[(RULES, lines, "E_SYNTAX", "") for lines in ([], [""], ["Step 4:"])],
        (RULES, ['ans = filter_object("table",all_obj)'], "E_NOANS", ""),
        (RULES, [LINE] * 33, "E_LIMIT", ""),
        (RULES, SEVERAL, "E_AMBIG", "line 2: one object is needed here, and there are 2"),
        (Rules(ambiguous="first"), SEVERAL, "", "6"),
        (RULES, NONE, "E_EMPTY", ""),
        (Rules(empty="lazy"), NONE, "", "no"),
        (Rules(tools="paper"), ["ans = minus(3,1)"], "E_FUNC", ""),
    ],
)
def test_a_plan_gets_its_verdict(rules: Rules, plan: list[str], code: str, told: str) -> None:
    verdict = judged(plan, rules)
    assert (verdict.code, verdict.accepted) == (code, not code), verdict.reason
    assert told in verdict.reason if code else told == verdict.answer
