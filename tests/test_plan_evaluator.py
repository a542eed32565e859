"""The evaluator: what it accepts and rejects, and what it tells about it."""

import json

import pytest
from support.rooms import ROOM

from thoughtgraph.planning import Ruling
from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge

PLAN = [
    'Step 1:obj1 = filter_object("table",all_obj)',
    'Step 2:obj2 = filter_part(["six","red","drawer"],obj1)',
    'Step 3:ans = count_part("leg",obj2)',
]
RULES = Rules()


def judged(plan: list[str], rules: Rules = RULES) -> Ruling:
    return judge(ROOM, None, plan, rules)


def test_a_plan_is_judged_alike_in_chunks_of_any_size() -> None:
    whole = judged([*PLAN, "this is no step"])
    assert (whole.accepted, whole.answer, whole.code) == (True, "6", "")
    lines = whole.text.split("\n")
    assert lines[0] == 'obj1 = filter_object("table",all_obj)'
    assert len(lines) == 3, "lines after the answer are dropped"
    assert whole.observation == "2 objects: Table0, Table1\n1 object: Table0\n6"
    for cut in (1, 2):
        first = judged(PLAN[:cut])
        assert first.accepted and first.answer is None
        state = json.loads(json.dumps(first.tool_state))
        rest = judge(ROOM, state, PLAN[cut:], RULES)
        assert (rest.answer, rest.tool_state) == ("6", whole.tool_state)


SEVERAL = ['obj1 = filter_object("table",all_obj)', 'ans = count_part("leg",obj1)']
NONE = ['obj1 = filter_object("cart",all_obj)', "ans = exist(obj1)"]


@pytest.mark.parametrize(
    ("rules", "plan", "code", "told"),
    [
        *[(RULES, lines, "E_SYNTAX", "") for lines in ([], [""], ["Step 4:"])],
        (RULES, ['ans = filter_object("table",all_obj)'], "E_NOANS", ""),
        (RULES, SEVERAL[:1] * 33, "E_LIMIT", ""),
        (RULES, SEVERAL, "E_AMBIG", "line 2: one object is needed here, and there are 2"),
        (Rules(ambiguous="first"), SEVERAL, "", "6"),
        (RULES, NONE, "E_EMPTY", ""),
        (Rules(empty="lazy"), NONE, "", "no"),
        (Rules(tools="paper"), ["ans = minus(3,1)"], "E_FUNC", ""),
        (RULES, ['ans = count_object(filter_object("table",all_obj))'], "E_STMT", ""),
    ],
)
def test_a_plan_gets_its_verdict(rules: Rules, plan: list[str], code: str, told: str) -> None:
    verdict = judged(plan, rules)
    assert (verdict.code, verdict.accepted) == (code, not code), verdict.reason
    assert told in verdict.reason if code else told == verdict.answer
