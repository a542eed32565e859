"""The evaluator: what each profile accepts and rejects, and what it tells about it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rooms import ROOM, SOLIDS

from thoughtgraph.tasks.scenes.plan_evaluator import Evaluation, Rules, judge
from thoughtgraph.tasks.scenes.question_reading import read
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.values import FAULTS

PAPER = Rules(profile="paper")
QUESTION = "how many legs does the table with six red drawers have?"
PLAN = [
    'Step 1:obj1 = filter_object("table",all_obj)',
    'Step 2:obj2 = filter_part(["six","red","drawer"],obj1)',
    'Step 3:ans = count_part("leg",obj2)',
]

PTR_SCENE = {
    "relationships": {
        "above": [[], [], []],
        "behind": [[], [0], [0, 1]],
        "below": [[], [], []],
        "front": [[1, 2], [2], []],
        "left": [[1, 2], [], [1]],
        "right": [[], [0, 2], [0]],
    },
    "objects": [
        {"Chair0": {"back": ["cyan", 1], "leg": ["gray", 4], "seat": ["gray", 1]}},
        {"Table0": {"door": ["purple", 1], "leg": ["blue", 3], "top": ["yellow", 1]}},
        {
            "Chair1": {
                **{"arm horizontal bar": ["green", 2], "arm vertical bar": ["brown", 4]},
                **{"back": ["brown", 1], "leg": ["cyan", 4], "leg bar": ["green", 2]},
                "seat": ["brown", 1],
            }
        },
    ],
}
CLEVR_SCENE = {
    "relationships": {
        "left": [
            [3, 5, 6],
            [0, 3, 4, 5, 6],
            [0, 1, 3, 4, 5, 6, 7],
            [5, 6],
            [0, 3, 5, 6],
            [],
            [5],
            [0, 1, 3, 4, 5, 6],
        ],
        "behind": [
            [1, 2, 3, 4, 5, 6, 7],
            [4, 7],
            [1, 4, 7],
            [1, 2, 4, 7],
            [],
            [1, 2, 3, 4, 7],
            [1, 2, 3, 4, 5, 7],
            [4],
        ],
    },
    "objects": [
        {"cube0": ["gray", "large", "rubber"]},
        {"sphere0": ["brown", "small", "metal"]},
        {"cube1": ["blue", "large", "rubber"]},
        {"cylinder0": ["brown", "large", "rubber"]},
        {"cube2": ["purple", "small", "metal"]},
        {"sphere1": ["gray", "small", "metal"]},
        {"cube3": ["gray", "small", "rubber"]},
        {"cube4": ["blue", "small", "metal"]},
    ],
}


def judged(
    plan: list[str], rules: Rules | None = None, question: str = QUESTION, scene: Scene = ROOM
) -> Evaluation:
    return judge(question, scene, None, plan, rules or Rules(profile="grounded"))


@pytest.mark.parametrize("rules", [PAPER, Rules(profile="grounded")], ids=["paper", "grounded"])
def test_the_papers_printed_examples(rules: Rules) -> None:
    analogy = judged(
        [
            'obj1 = filter_object("chair",all_obj)',
            'obj2 = filter_part(["four","brown","arm vertical bar"],obj1)',
            'obj3 = filter_object("chair",all_obj)',
            'obj4 = filter_part(["gray","leg"],obj3)',
            "relation1 = get_relation(obj2,obj4)",
            'obj5 = filter_part(["three","blue","leg"],all_obj)',
            "obj6 = filter_relation(relation1,obj5,all_obj)",
            "ans = query_category(obj6)",
        ],
        rules,
        "the chair with four brown arm vertical bars has certain positional relation to the chair "
        "with gray legs. by analogy, the thing with three blue legs has the same positional "
        "relation to an object of what category?",
        Scene.from_json(PTR_SCENE),
    )
    logic = judged(
        [
            'obj1 = filter_part(["purple","shiny"],all_obj)',
            'obj2 = query_relation("left",obj1)',
            'obj3 = filter_part(["tiny","gray","metallic"],all_obj)',
            'obj4 = filter_object("ball",obj3)',
            'obj5 = query_relation("behind",obj4)',
            "obj6 = intersection(obj2,obj5)",
            'obj7 = filter_part(["large"],obj6)',
            "ans = query_color(obj7)",
        ],
        rules,
        "The large thing that is both on the left side of the purple shiny object and behind the "
        "tiny gray metallic ball is what color?",
        Scene.from_json(CLEVR_SCENE),
    )
    assert (analogy.reason, logic.reason) == ("", "")
    assert (analogy.answer, logic.answer) == ("chair", "brown")
    assert analogy.values[-1] == "Chair"


@pytest.mark.parametrize("rules", [PAPER, Rules(profile="grounded")], ids=["paper", "grounded"])
def test_a_plan_is_judged_alike_in_chunks_of_any_size(rules: Rules) -> None:
    whole = judged(PLAN, rules)
    assert (whole.accepted, whole.answer, whole.code) == (True, "6", "")
    assert whole.lines[0] == 'obj1 = filter_object("table",all_obj)'
    assert whole.values[:2] == ("2 objects: Table0, Table1", "1 object: Table0")
    for cut in (1, 2):
        first = judge(QUESTION, ROOM, None, PLAN[:cut], rules)
        assert first.accepted
        assert first.answer is None
        state = json.loads(json.dumps(first.state))
        rest = judge(QUESTION, ROOM, state, PLAN[cut:], rules)
        assert (rest.answer, rest.state) == ("6", whole.state)


def test_a_chunk_is_rejected_whole_and_leaves_the_state_alone() -> None:
    before = judge(QUESTION, ROOM, None, PLAN[:1], Rules(profile="grounded")).state
    bad = judge(QUESTION, ROOM, before, [PLAN[1], 'obj3 = filter_object("cart",obj2)'], PAPER)
    assert not bad.accepted
    assert (bad.state, bad.answer, bad.code) == (before, None, "E_EMPTY")
    assert bad.reason == "line 2: no object here is a cart"
    assert bad.values == ("1 object: Table0",)


def test_lines_after_the_answer_are_dropped() -> None:
    longer = judged([*PLAN, "this is no step"], Rules(profile="grounded"))
    assert longer.accepted
    assert len(longer.lines) == 3


@pytest.mark.parametrize("lines", [[], [""], ["Step 4:"]])
def test_no_step_is_a_rejection(lines: list[str]) -> None:
    assert judged(lines).code == "E_SYNTAX"


def test_what_is_no_answer() -> None:
    assert judged(['ans = filter_object("table",all_obj)'], PAPER).code == "E_NOANS"


def test_a_plan_has_a_longest_length() -> None:
    assert judged(['obj1 = filter_object("table",all_obj)'] * 33, PAPER).code == "E_LIMIT"


def test_policies() -> None:
    several = ['obj1 = filter_object("table",all_obj)', 'ans = count_part("leg",obj1)']
    assert judged(several, PAPER).code == "E_AMBIG"
    assert judged(several, Rules(profile="paper", ambiguous="first")).answer == "6"
    none = ['obj1 = filter_object("cart",all_obj)', "ans = exist(obj1)"]
    assert judged(none, PAPER).code == "E_EMPTY"
    assert judged(none, Rules(profile="paper", empty="lazy")).answer == "no"
    assert judged(["ans = minus(3,1)"], Rules(profile="paper", tools="paper")).code == "E_FUNC"
    nested = ['ans = count_object(filter_object("table",all_obj))']
    assert judged(nested, PAPER).code == "E_STMT"


@pytest.mark.parametrize(
    ("at", "line", "code", "told"),
    [
        (0, 'obj1 = filter_object("bed",all_obj)', "E_GROUND", "says nothing of 'bed'"),
        (1, 'obj2 = filter_part(["four","leg"],obj1)', "E_GROUND", "says nothing of 'four'"),
        (1, 'obj2 = filter_part(["red","leg"],obj1)', "E_GROUND", "no description"),
        (1, 'obj2 = filter_part(["drawer"],obj1)', "E_GROUND", "and 'six red drawers' is not used"),
        (2, 'ans = count_part("drawer",obj2)', "E_GROUND", "does not ask the number of 'drawer'"),
        (2, "ans = query_category(obj2)", "E_GROUND", "does not ask the category"),
        (2, "ans = count_object(obj2)", "E_GROUND", "does not ask how many"),
    ],
)
def test_a_step_that_the_question_does_not_say(at: int, line: str, code: str, told: str) -> None:
    plan = [*PLAN[:at], line, *PLAN[at + 1 :]]
    rejected = judged(plan)
    assert (rejected.accepted, rejected.code) == (False, code)
    assert told in rejected.reason
    assert judged(plan[: at + 1], Rules(profile="paper", ambiguous="first")).accepted


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


@pytest.mark.parametrize(
    ("end", "accepted"),
    [
        (["ans = more_than(num1,num2)"], True),
        (["ans = fewer_than(num2,num1)"], True),
        (["ans = more_than(num2,num1)"], False),
        (["ans = more_than(num1,num1)"], False),
        (["ans = equal(num1,num2)"], False),
        (["ans = minus(num1,num2)"], False),
        (["obj4 = filter_object('chair',all_obj)", "ans = more_than(num1,num2)"], False),
    ],
)
def test_how_a_comparison_may_end(end: list[str], accepted: bool) -> None:
    verdict = judged([*COUNTS, *end], question=COMPARE)
    assert verdict.accepted == accepted
    assert verdict.code in ("", "E_END")


SAME = "how many objects have the same color of legs as the chair with a blue back?"


@pytest.mark.parametrize(
    ("lines", "accepted"),
    [
        (["obj3 = filter_part([color1,'leg'],all_obj)", "obj4 = exclude_object(obj1,obj3)"], True),
        (["obj3 = filter_part(['red','leg'],all_obj)", "obj4 = exclude_object(obj1,obj3)"], True),
        (["obj3 = filter_part([color1],all_obj)", "obj4 = exclude_object(obj1,obj3)"], False),
        (["obj4 = filter_part([color1,'leg'],all_obj)"], False),
        (["obj3 = filter_part(['cyan','leg'],all_obj)", "obj4 = exclude_object(obj1,obj3)"], False),
    ],
)
def test_the_same_as_another(lines: list[str], accepted: bool) -> None:
    start = [
        'obj1 = filter_part(["chair","blue","back"],all_obj)',
        "color1 = query_color('leg',obj1)",
    ]
    verdict = judged([*start, *lines, "ans = count_object(obj4)"], question=SAME)
    assert verdict.accepted == accepted, verdict.reason
    if accepted:
        assert verdict.answer == "1"


def test_a_relation_is_that_of_the_description_after_it() -> None:
    question = "What shape is the large thing that is left of the brown thing right of the sphere?"
    plan = [
        'obj1 = filter_object("sphere",all_obj)',
        'obj2 = query_relation("right",obj1)',
        'obj3 = filter_part(["brown"],obj2)',
        'obj4 = query_relation("left",obj3)',
        'obj5 = filter_part(["large"],obj4)',
        "ans = query_shape(obj5)",
    ]
    rules = Rules(profile="grounded", ambiguous="first")
    assert judged(plan, rules, question, SOLIDS).answer == "cube"
    for at, old, new in ((1, "right", "left"), (3, "left", "right"), (4, "obj4", "all_obj")):
        wrong = [*plan[:at], plan[at].replace(old, new), *plan[at + 1 :]]
        assert judged(wrong, rules, question, SOLIDS).code in ("E_GROUND", "E_EMPTY")


FREE = "Tell me please: how many tables own six red drawers?"


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (["ans = count_object(obj2)"], ""),
        (["ans = exist(obj2)"], "E_END"),
        (["obj3 = filter_part(['blue'],all_obj)", "ans = count_object(obj2)"], "E_GROUND"),
        (["obj3 = filter_part(['leg'],obj2)", "ans = count_object(obj2)"], "E_GROUND"),
    ],
)
def test_of_a_question_in_other_words_only_the_words_count(end: list[str], code: str) -> None:
    assert not read(FREE, "ptr").exact
    assert judged([*PLAN[:2], *end], question=FREE).code == code


def test_a_question_in_other_words_must_be_used_up() -> None:
    short = judged([PLAN[0], "ans = count_object(obj1)"], question=FREE)
    assert (short.code, short.reason) == ("E_END", "line 2: the question also says 'six'")


SOLID = "How many shiny things are left of the big grey ball?"


@pytest.mark.parametrize(
    ("question", "scene", "plan", "told"),
    [
        (
            "what is the number of backs in the object with one cyan seat?",
            ROOM,
            ['ans = count_part("back",all_obj)'],
            "the question says 'object with one cyan seat', and 'one cyan seat' is not used yet",
        ),
        (
            SOLID,
            SOLIDS,
            ['obj1 = filter_part(["gray"],all_obj)', 'obj2 = query_relation("left",obj1)'],
            "the question says 'big grey ball', and 'big ball' is not used yet",
        ),
        (
            QUESTION,
            ROOM,
            [*PLAN[:2], 'obj3 = count_part("leg",obj2)', "ans = more_than(obj3,obj3)"],
            "the question asks the number of 'legs'",
        ),
    ],
)
def test_a_refusal_quotes_the_questions_own_words(
    question: str, scene: Scene, plan: list[str], told: str
) -> None:
    assert told in judged(plan, Rules("grounded", ambiguous="first"), question, scene).reason


def test_every_code_of_a_refusal_is_explained() -> None:
    folders = [Path(__file__).parents[1] / name for name in ("nodes", "tasks", "tools")]
    code = "".join(file.read_text() for folder in folders for file in folder.rglob("*.py"))
    raised = set(re.findall(r'"(E_[A-Z]+)"(?!:)', code))
    assert raised == set(FAULTS)


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
