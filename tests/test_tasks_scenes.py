"""The tasks `clevr` and `ptr`: reading problems, prompts, examples, running plans."""

import json
import re
from typing import Any, get_args

import pytest
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph import prompts
from thoughtgraph.bench.questions.question_types import Type
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.context import resolve_settings
from thoughtgraph.errors import ProblemError
from thoughtgraph.settings.mixed_thought import TomtTotSettings
from thoughtgraph.tasks.scenes.plan_language import parse
from thoughtgraph.tasks.scenes.scenes import (
    EXTENDED,
    Scenes,
    numbered,
    question_type,
    tool_descriptions,
)
from thoughtgraph.tools.scenes.vocabulary import Style

OPTIONS = resolve_settings(TomtTotSettings, {}, None)
STYLES: tuple[Style, ...] = get_args(Style)
KINDS: tuple[Type, ...] = get_args(Type)
BOTH: list[Any] = [(style, kind) for kind in KINDS for style in STYLES]

SCENE = {
    "objects": [
        {"Table0": {"leg": ["cyan", 4], "drawer": ["red", 3]}},
        {"Table1": {"leg": ["blue", 2], "door": ["red", 1]}},
    ],
    "relationships": {"left": [[], [0]], "right": [[1], []]},
}
QUESTION = (
    "what is the sum of the number of drawers in the table with cyan legs, and the number of "
    "doors in the table with two blue legs?"
)
PLAN = [
    'obj1 = filter_object("table",all_obj)',
    'obj2 = filter_part(["cyan", "leg"],obj1)',
    'num1 = count_part("drawer",obj2)',
    'obj3 = filter_object("table",all_obj)',
    'obj4 = filter_part(["two", "blue", "leg"],obj3)',
    'num2 = count_part("door",obj4)',
    "ans = sum(num1,num2)",
]


def problem(**changes: Any) -> str:
    return json.dumps({"question": QUESTION, "scene": SCENE, **changes})


@pytest.fixture
def ptr() -> Scenes:
    return Scenes("ptr")


def path_of(ptr: Scenes, *chunks: list[str]) -> list[tg.Thought]:
    path: list[tg.Thought] = []
    for chunk in chunks:
        ruling = ptr.execute(ptr.read(problem()), path, chunk, OPTIONS)
        assert ruling.accepted
        path.append({"text": ruling.text, "tool_state": dict(ruling.tool_state)})
    return path


def test_a_problem_is_question_type_and_scene_and_no_answer(ptr: Scenes) -> None:
    read = ptr.read(problem(answer="4", note="x"))
    assert json.loads(read).keys() == {"question", "type", "scene"}
    assert json.loads(read)["type"] == "sum"
    assert ptr.read(read) == read
    as_printed = {"question": QUESTION, "answer": "4", **SCENE}
    assert ptr.read(json.dumps(as_printed)) == read, "the format of the paper's appendix"
    assert ptr.picture(read).lstrip().startswith("<svg")


BAD = [
    *("how many legs?", "[" * 100_000, "[]", json.dumps({"scene": SCENE})),
    json.dumps({"question": "how many?"}),
    *(problem(question=3), problem(question="why " * 300), problem(scene=[])),
    *(problem(type="riddle"), problem(scene={**SCENE, "objects": []})),
    problem(scene={**SCENE, "objects": [{"cube0": ["red", "small", "metal"]}] * 2}),
]


@pytest.mark.parametrize("text", BAD, ids=str.__len__)
def test_what_is_no_problem_is_refused_in_one_line(ptr: Scenes, text: str) -> None:
    with pytest.raises(ProblemError) as refused:
        ptr.read(text)
    assert "\n" not in str(refused.value)


def test_the_prompt_has_the_papers_parts_in_its_order(ptr: Scenes) -> None:
    asked = ptr.read(problem())
    prompt = ptr.plan(asked, [], [3, 1], 1, OPTIONS).prompt
    library = prompts.data("plans/ptr_sum")
    places = [
        prompt.user.index(part)
        for part in (
            "Output Python code",
            "count_part(part, object)",
            f"Question: {library[3]['question']}\nAnswer:\nStep 1:",
            f"Question: {library[1]['question']}\nAnswer:\nStep 1:",
            f"Question: {QUESTION}\nAnswer:",
        )
    ]
    assert places == sorted(places)
    assert prompt.user.endswith(f"{QUESTION}\nAnswer:\n")
    assert prompt.stop == ("Question:", "Step 2:")


@pytest.mark.parametrize(
    ("layout", "most", "end", "stop"),
    [
        ("text", 1, "Answer:\n{done}\n", ("Question:", "Step 5:")),
        ("text", None, "Answer:\n{done}\n", ("Question:",)),
        ("turns", 2, "{done}\nGo on with Step 4.", ("Question:", "Step 6:")),
    ],
)
def test_the_prompt_goes_on_after_the_accepted_steps(
    ptr: Scenes, layout: str, most: int | None, end: str, stop: tuple[str, ...]
) -> None:
    asked, options = ptr.read(problem()), {**OPTIONS, "layout": layout}
    paths = [], path_of(ptr, PLAN[:2], PLAN[2:3])
    first, later = (ptr.plan(asked, path, [0, 1], most, options).prompt for path in paths)
    done = numbered(PLAN[:3])
    assert done.startswith('Step 1:obj1 = filter_object("table"')
    assert later.user.endswith(end.format(done=done))
    assert later.stop == stop
    assert (first.system, first.examples) == (later.system, later.examples)
    assert later.user.startswith(first.user.strip()), "a server need not read it again"
    turns = [answer.split(":")[0] for _, answer in later.examples]
    assert turns == (["Step 1", "Step 1"] if layout == "turns" else [])


@pytest.mark.parametrize(("style", "kind"), BOTH)
def test_a_type_is_seen_from_its_words_and_its_prompts_have_examples_of_its_tools(
    style: Style, kind: Type
) -> None:
    questions = generate(style, kind, 20, 5)
    assert {question_type(question.question) for question in questions} == {kind}
    library = prompts.data(f"plans/{style}_{kind}")
    assert len({example["question"] for example in library}) == 20
    lines = tool_descriptions(style, kind, "extended").split("\n")
    names = {line.partition("(")[0] for line in lines}
    assert {parse(line).tool for example in library for line in example["plan"]} <= names
    assert all(re.fullmatch(r"\w+\([^()]+\): [A-Z].*\.", line) for line in lines)
    options = {**OPTIONS, "tools_profile": "paper"}
    task = Scenes(style)
    asked = task.read(questions[0].problem())
    of_paper = task.shots(asked, options)
    assert 9 <= of_paper <= task.shots(asked, OPTIONS) == 20
    prompt = task.plan(asked, [], range(of_paper), 1, options).prompt
    assert prompt.user.count("Question:") == of_paper + 1
    assert not any(f"{name}(" in prompt.user for name in EXTENDED), "a tool the paper lacks"


def test_a_refusal_says_why(ptr: Scenes) -> None:
    asked = ptr.read(problem())
    green = ptr.execute(asked, [], [*PLAN[:1], 'Step 2:x1 = filter_part(["green"],obj1)'], OPTIONS)
    assert (green.accepted, green.code, green.malformed) == (False, "E_EMPTY", False)
    assert green.text.split("\n")[1] == 'x1 = filter_part(["green"],obj1)'
    assert green.reason
    for steps in ([], ["Sure, here it is"], ["import os"]):
        ruling = ptr.execute(asked, [], steps, OPTIONS)
        assert (ruling.accepted, ruling.malformed) == (False, True)
    lazy = {**OPTIONS, "empty": "lazy"}
    assert ptr.execute(asked, [], ['x1 = filter_part(["green"],all_obj)'], lazy).accepted


def writer(question: SceneQuestion) -> ScriptedChat:
    """A model that knows the plan, and spoils every second sibling."""

    def reply(call: Call) -> str:
        assert call.draw is not None
        if call.draw[1] != "0" and call.draw[2] == 0:
            return "Step 1:obj1 = filter_object(table)"
        return numbered(question.plan)

    return ScriptedChat(reply=reply)


@pytest.mark.parametrize("method", ["tomt_one_stop", "tomt_tot", "tomt_os", "tomt_block"])
@pytest.mark.parametrize(
    ("style", "kind"),
    [*BOTH[:2], *(pytest.param(*each, marks=pytest.mark.ci) for each in BOTH[2:])],
)
async def test_every_type_is_solved_by_a_model_that_knows_its_plan(
    style: Style, kind: Type, method: str
) -> None:
    [question] = generate(style, kind, 1, 11)
    graph = tg.build(method, task=style, model=writer(question))
    out = await graph.ainvoke({"problem": question.problem()})
    assert (out["answer"], out["stop_reason"]) == (question.answer, "finished")
