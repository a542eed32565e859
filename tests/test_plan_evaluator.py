"""The evaluator: what each profile accepts and rejects, and what it tells about it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rooms import ROOM, SOLIDS

from thoughtgraph.planning import Ruling
from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge
from thoughtgraph.tasks.scenes.question_reading import read
from thoughtgraph.tools.scenes.scene import Scene

PAPER, GROUNDED = Rules(profile="paper"), Rules(profile="grounded")
FIRST = Rules(profile="grounded", ambiguous="first")
both = pytest.mark.parametrize("rules", [PAPER, GROUNDED], ids=["paper", "grounded"])

QUESTION = "how many legs does the table with six red drawers have?"
PLAN = [
    'Step 1:obj1 = filter_object("table",all_obj)',
    'Step 2:obj2 = filter_part(["six","red","drawer"],obj1)',
    'Step 3:ans = count_part("leg",obj2)',
]


def judged(
    plan: list[str], rules: Rules = GROUNDED, question: str = QUESTION, scene: Scene = ROOM
) -> Ruling:
    return judge(question, scene, None, plan, rules)


@both
def test_a_plan_is_judged_alike_in_chunks_of_any_size(rules: Rules) -> None:
    whole = judged([*PLAN, "this is no step"], rules)
    assert (whole.accepted, whole.answer, whole.code) == (True, "6", "")
    lines = whole.text.split("\n")
    assert lines[0] == 'obj1 = filter_object("table",all_obj)'
    assert len(lines) == 3, "lines after the answer are dropped"
    assert whole.observation == "2 objects: Table0, Table1\n1 object: Table0\n6"
    for cut in (1, 2):
        first = judged(PLAN[:cut], rules)
        assert first.accepted and first.answer is None
        state = json.loads(json.dumps(first.tool_state))
        rest = judge(QUESTION, ROOM, state, PLAN[cut:], rules)
        assert (rest.answer, rest.tool_state) == ("6", whole.tool_state)


@pytest.mark.parametrize(
    ("at", "line", "told"),
    [
        (0, 'obj1 = filter_object("bed",all_obj)', "says nothing of 'bed'"),
        (1, 'obj2 = filter_part(["four","leg"],obj1)', "says nothing of 'four'"),
        (1, 'obj2 = filter_part(["red","leg"],obj1)', "no description"),
        (1, 'obj2 = filter_part(["drawer"],obj1)', "and 'six red drawers' is not used"),
        (2, 'ans = count_part("drawer",obj2)', "does not ask the number of 'drawer'"),
        (2, "ans = query_category(obj2)", "does not ask the category"),
        (2, "ans = count_object(obj2)", "does not ask how many"),
    ],
)
def test_a_step_that_the_question_does_not_say(at: int, line: str, told: str) -> None:
    plan = [*PLAN[:at], line, *PLAN[at + 1 :]]
    rejected = judged(plan)
    assert (rejected.accepted, rejected.code) == (False, "E_GROUND")
    assert told in rejected.reason
    assert judged(plan[: at + 1], Rules(profile="paper", ambiguous="first")).accepted


SEVERAL = ['obj1 = filter_object("table",all_obj)', 'ans = count_part("leg",obj1)']
NONE = ['obj1 = filter_object("cart",all_obj)', "ans = exist(obj1)"]
COMPARE = (
    "are there more legs in the chair with a blue seat, than leg bars in the table with cyan legs?"
)
COUNTS = [
    'obj1 = filter_part(["blue","seat"],all_obj)',
    'obj2 = filter_object("chair",obj1)',
    'num1 = count_part("leg",obj2)',
    'obj3 = filter_part(["table","cyan","legs"],all_obj)',
    'num2 = count_part("leg bar",obj3)',
]
SAME = "how many objects have the same color of legs as the chair with a blue back?"
CHAIR = [
    'obj1 = filter_part(["chair","blue","back"],all_obj)',
    "color1 = query_color('leg',obj1)",
]
OTHERS, COUNT = "obj4 = exclude_object(obj1,obj3)", "ans = count_object(obj4)"
SHAPE = "What shape is the large thing that is left of the brown thing right of the sphere?"
BALL = "How many shiny things are left of the big grey ball?"
BACKS = "what is the number of backs in the object with one cyan seat?"
FREE = "Tell me please: how many tables own six red drawers?"


def to_the_shape(first: str = "right", second: str = "left", of: str = "obj4") -> list[str]:
    return [
        'obj1 = filter_object("sphere",all_obj)',
        f'obj2 = query_relation("{first}",obj1)',
        'obj3 = filter_part(["brown"],obj2)',
        f'obj4 = query_relation("{second}",obj3)',
        f'obj5 = filter_part(["large"],{of})',
        "ans = query_shape(obj5)",
    ]


@pytest.mark.parametrize(
    ("question", "rules", "plan", "code", "told"),
    [
        *[(QUESTION, GROUNDED, lines, "E_SYNTAX", "") for lines in ([], [""], ["Step 4:"])],
        (QUESTION, PAPER, ['ans = filter_object("table",all_obj)'], "E_NOANS", ""),
        (QUESTION, PAPER, SEVERAL[:1] * 33, "E_LIMIT", ""),
        (QUESTION, PAPER, SEVERAL, "E_AMBIG", ""),
        (QUESTION, Rules(profile="paper", ambiguous="first"), SEVERAL, "", "6"),
        (QUESTION, PAPER, NONE, "E_EMPTY", ""),
        (QUESTION, Rules(profile="paper", empty="lazy"), NONE, "", "no"),
        (QUESTION, Rules(profile="paper", tools="paper"), ["ans = minus(3,1)"], "E_FUNC", ""),
        (QUESTION, PAPER, ['ans = count_object(filter_object("table",all_obj))'], "E_STMT", ""),
        (COMPARE, GROUNDED, [*COUNTS, "ans = more_than(num1,num2)"], "", "yes"),
        (COMPARE, GROUNDED, [*COUNTS, "ans = fewer_than(num2,num1)"], "", "yes"),
        (COMPARE, GROUNDED, [*COUNTS, "ans = more_than(num2,num1)"], "E_END", ""),
        (COMPARE, GROUNDED, [*COUNTS, "ans = more_than(num1,num1)"], "E_END", ""),
        (COMPARE, GROUNDED, [*COUNTS, "ans = equal(num1,num2)"], "E_END", ""),
        (COMPARE, GROUNDED, [*COUNTS, "ans = minus(num1,num2)"], "E_END", ""),
        (
            *(COMPARE, GROUNDED),
            [*COUNTS, "obj4 = filter_object('chair',all_obj)", "ans = more_than(num1,num2)"],
            *("E_END", ""),
        ),
        *[
            (SAME, GROUNDED, [*CHAIR, f"obj3 = filter_part({parts},all_obj)", OTHERS, COUNT], *told)
            for parts, *told in (
                ("[color1,'leg']", "", "1"),
                ("['red','leg']", "", "1"),
                ("[color1]", "E_GROUND", ""),
                ("['cyan','leg']", "E_GROUND", ""),
            )
        ],
        (
            *(SAME, GROUNDED),
            [*CHAIR, "obj4 = filter_part([color1,'leg'],all_obj)", COUNT],
            *("E_GROUND", ""),
        ),
        (SHAPE, FIRST, to_the_shape(), "", "cube"),
        (SHAPE, FIRST, to_the_shape(first="left"), "E_GROUND", ""),
        (SHAPE, FIRST, to_the_shape(second="right"), "E_GROUND", ""),
        (SHAPE, FIRST, to_the_shape(of="all_obj"), "E_GROUND", ""),
        (FREE, GROUNDED, [*PLAN[:2], "ans = count_object(obj2)"], "", "1"),
        (FREE, GROUNDED, [*PLAN[:2], "ans = exist(obj2)"], "E_END", ""),
        (FREE, GROUNDED, [*PLAN[:2], "obj3 = filter_part(['blue'],all_obj)"], "E_GROUND", ""),
        (FREE, GROUNDED, [*PLAN[:2], "obj3 = filter_part(['leg'],obj2)"], "E_GROUND", ""),
        (
            *(FREE, GROUNDED, [PLAN[0], "ans = count_object(obj1)"], "E_END"),
            "line 2: the question also says 'six'",
        ),
        (
            *(BACKS, FIRST, ['ans = count_part("back",all_obj)'], "E_GROUND"),
            "the question says 'object with one cyan seat', and 'one cyan seat' is not used yet",
        ),
        (
            *(BALL, FIRST),
            ['obj1 = filter_part(["gray"],all_obj)', 'obj2 = query_relation("left",obj1)'],
            *("E_GROUND", "the question says 'big grey ball', and 'big ball' is not used yet"),
        ),
        (
            *(QUESTION, FIRST),
            [*PLAN[:2], 'obj3 = count_part("leg",obj2)', "ans = more_than(obj3,obj3)"],
            *("E_END", "the question asks the number of 'legs'"),
        ),
    ],
)
def test_a_plan_gets_its_verdict(
    question: str, rules: Rules, plan: list[str], code: str, told: str
) -> None:
    verdict = judged(plan, rules, question, SOLIDS if question in (SHAPE, BALL) else ROOM)
    assert (verdict.code, verdict.accepted) == (code, not code), verdict.reason
    assert told in verdict.reason if code else told == verdict.answer


WORDS = (
    *("the", "a", "of", "is", "are", "it", "its", "same", "as", "and", "left", "behind", "how"),
    *("many", "more", "than", "number", "color", "made", "with", "red", "two", "leg", "chair"),
    *("thing", "cube", "large", "metal", "there", "has", "by", "analogy", "sum", "part", "what"),
)


@settings(max_examples=500, deadline=None, database=None)
@given(words=st.lists(st.sampled_from(WORDS), max_size=14), style=st.sampled_from(["ptr", "clevr"]))
def test_any_question_can_be_read(words: list[str], style: Any) -> None:
    reading = read(" ".join(words), style)
    known = range(len(reading.descriptions))
    for description in reading.descriptions:
        assert all(other in known for _, other in description.relations)
    assert all(query.of in known for query in reading.queries)
    assert reading.queries or not reading.exact
    scene = ROOM if style == "ptr" else SOLIDS
    judged(["ans = count_object(all_obj)"], question=" ".join(words), scene=scene)
