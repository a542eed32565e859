"""Public question files: an entry of CLEVR's and one of PTR's, from program to plan to answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph import registry
from thoughtgraph.bench.data import load
from thoughtgraph.bench.scene_data import load_questions
from thoughtgraph.errors import InputError
from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge


def solid(color: str, shape: str) -> dict[str, Any]:
    look = {"color": color, "size": "large", "material": "metal", "shape": shape}
    return {**look, "3d_coords": [1.0, 2.0, 0.3]}


def furniture(category: str, parts: dict[str, tuple[str, int]]) -> dict[str, Any]:
    return {
        "category": category,
        "part_color_occluded": {part: [color, [0, 0, 0]] for part, (color, _) in parts.items()},
        "part_count_occluded": {part: count for part, (_, count) in parts.items()},
    }


def program(name: str, inputs: str, *steps: tuple[Any, ...]) -> list[dict[str, Any]]:
    """A program whose every step but the first takes what the one before it gave."""
    return [
        {name: function, "inputs": [at - 1] if at else [], inputs: given}
        for at, (function, *given) in enumerate([("scene",), *steps])
    ]


SIDES = {"left": [[], [0]], "right": [[1], []], "front": [[], []], "behind": [[], []]}
AXES = {"directions": {"right": [1.0, 0.0, 0.0], "behind": [0.0, 1.0, 0.0]}}
SOLIDS = [solid("red", "cube"), solid("blue", "sphere")]
ROOM = [
    furniture("Chair", {"leg": ("red", 4), "seat": ("blue", 1)}),
    furniture("Table", {"leg": ("green", 3), "top": ("cyan", 1)}),
]
SHAPE = {
    "question": "What shape is the thing left of the blue sphere?",
    "answer": "cube",
    "program": program(
        *("function", "value_inputs", ("filter_color", "blue"), ("filter_shape", "sphere")),
        *(("unique",), ("relate", "left"), ("unique",), ("query_shape",)),
    ),
}
LEGS = {
    "question": "How many legs does the table with cyan top have?",
    "answer": 3,
    "program": program(
        *("type", "side_inputs", ("filter_object-category", "Table")),
        *(("filter_part-category", "top"), ("filter_part-color", {"top": "cyan"})),
        *(("unique",), ("query_part-count", "leg")),
    ),
}
CLEVR, PTR = (
    {
        "scenes": [{"image_index": 7, "objects": objects, "relationships": SIDES, **more}],
        "questions": [{"image_index": 7, **question}],
    }
    for objects, question, more in ((SOLIDS, SHAPE, AXES), (ROOM, LEGS, {}))
)


def written(folder: Path, data: Any) -> Path:
    file = folder / "questions.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("style", "data", "plan", "answer"),
    [
        (
            *("clevr", CLEVR),
            (
                'obj1 = filter_part(["blue"],all_obj)',
                'obj2 = filter_object("sphere",obj1)',
                'obj3 = query_relation("left",obj2)',
                "ans = query_category(obj3)",
            ),
            "cube",
        ),
        (
            *("ptr", PTR),
            (
                'obj1 = filter_object("table",all_obj)',
                'obj2 = filter_part(["cyan", "top"],obj1)',
                'ans = count_part("leg",obj2)',
            ),
            "3",
        ),
    ],
    ids=["clevr", "ptr"],
)
def test_a_public_question_becomes_a_plan_and_a_problem_of_a_benchmark(
    tmp_path: Path, style: str, data: Any, plan: tuple[str, ...], answer: str
) -> None:
    [found] = load_questions(written(tmp_path, data))
    assert (found.plan, found.given, found.answer) == (plan, False, answer)
    assert found.scene.objects[0].position == ((1.0, 2.0) if style == "clevr" else None)
    judged = judge(found.question, found.scene, None, plan, Rules(profile="paper"))
    assert (judged.accepted, judged.answer) == (True, answer), judged.reason
    # The scenes are in a file of their own beside the questions.
    (tmp_path / "val_scenes.json").write_text(json.dumps({"scenes": data["scenes"]}))
    file = written(tmp_path, {"questions": data["questions"]})
    [record] = load(registry.task(style), tmp_path)
    assert (record.gold, record.facts) == (answer, {"type": "short"})
    problem = json.loads(record.problem)
    assert {*problem} == {"question", "type", "scene"}, "neither the answer nor the program"
    assert problem["question"] == data["questions"][0]["question"]
    assert load(registry.task(style), file) == [record]


@pytest.mark.parametrize(
    ("task", "data", "told"),
    [
        (
            *("clevr", {"questions": CLEVR["questions"]}),
            r"no scenes for 'questions.json': no \*.tomt.json and no",
        ),
        ("ptr", CLEVR, r"entry 1 .* is no ptr problem"),
        (
            *("ptr", {**PTR, "questions": [{**PTR["questions"][0], "image_index": 99}]}),
            "json:0 is no question on a known scene",
        ),
    ],
)
def test_questions_without_a_scene_of_their_style_are_refused(
    tmp_path: Path, task: str, data: Any, told: str
) -> None:
    file = written(tmp_path, data)
    with pytest.raises(InputError, match=told):
        load(registry.task(task), tmp_path if "scenes" not in data else file)
