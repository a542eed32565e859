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
    return {**look, "3d_coords": [0, 0, 0], "pixel_coords": [0, 0, 0], "rotation": 0}


def furniture(category: str, parts: dict[str, tuple[str, int]]) -> dict[str, Any]:
    return {
        "category": category,
        "part_color_occluded": {part: [color, [0, 0, 0]] for part, (color, _) in parts.items()},
        "part_count_occluded": {part: count for part, (_, count) in parts.items()},
        "3d_coords": [0, 0, 0],
    }


SIDES = {"left": [[], [0]], "right": [[1], []], "front": [[], []], "behind": [[], []]}
CLEVR = {
    "scenes": [
        {
            "image_index": 7,
            "objects": [solid("red", "cube"), solid("blue", "sphere")],
            "relationships": SIDES,
        }
    ],
    "questions": [
        {
            "image_index": 7,
            "question": "What shape is the thing left of the blue sphere?",
            "answer": "cube",
            "program": [
                {"function": "scene", "inputs": [], "value_inputs": []},
                {"function": "filter_color", "inputs": [0], "value_inputs": ["blue"]},
                {"function": "filter_shape", "inputs": [1], "value_inputs": ["sphere"]},
                {"function": "unique", "inputs": [2], "value_inputs": []},
                {"function": "relate", "inputs": [3], "value_inputs": ["left"]},
                {"function": "unique", "inputs": [4], "value_inputs": []},
                {"function": "query_shape", "inputs": [5], "value_inputs": []},
            ],
        }
    ],
}
PTR = {
    "scenes": [
        {
            "image_index": 3,
            "objects": [
                furniture("Chair", {"leg": ("red", 4), "seat": ("blue", 1)}),
                furniture("Table", {"leg": ("green", 3), "top": ("cyan", 1)}),
            ],
            "relationships": SIDES,
        }
    ],
    "questions": [
        {
            "image_index": 3,
            "question": "How many legs does the table with cyan top have?",
            "answer": 3,
            "program": [
                {"type": "scene", "inputs": [], "side_inputs": []},
                {"type": "filter_object-category", "inputs": [0], "side_inputs": ["Table"]},
                {"type": "filter_part-category", "inputs": [1], "side_inputs": ["top"]},
                {"type": "filter_part-color", "inputs": [2], "side_inputs": [{"top": "cyan"}]},
                {"type": "unique", "inputs": [3], "side_inputs": []},
                {"type": "query_part-count", "inputs": [4], "side_inputs": ["leg"]},
            ],
        }
    ],
}


def written(folder: Path, data: Any) -> Path:
    file = folder / "questions.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("data", "plan", "answer"),
    [
        (
            CLEVR,
            (
                'obj1 = filter_part(["blue"],all_obj)',
                'obj2 = filter_object("sphere",obj1)',
                'obj3 = query_relation("left",obj2)',
                "ans = query_category(obj3)",
            ),
            "cube",
        ),
        (
            PTR,
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
def test_a_public_question_becomes_a_plan_that_gives_its_answer(
    tmp_path: Path, data: Any, plan: tuple[str, ...], answer: str
) -> None:
    [found] = load_questions(written(tmp_path, data))
    assert (found.plan, found.given, found.answer) == (plan, False, answer)
    judged = judge(found.question, found.scene, None, plan, Rules(profile="paper"))
    assert (judged.accepted, judged.answer) == (True, answer), judged.reason


@pytest.mark.parametrize(("style", "data"), [("clevr", CLEVR), ("ptr", PTR)])
def test_a_benchmark_reads_a_folder_of_questions_and_scenes(
    tmp_path: Path, style: str, data: Any
) -> None:
    (tmp_path / "val_scenes.json").write_text(json.dumps({"scenes": data["scenes"]}))
    file = written(tmp_path, {"questions": data["questions"]})
    [record] = load(registry.task(style), tmp_path)
    asked = data["questions"][0]
    assert (record.gold, record.facts) == (str(asked["answer"]), {"type": "short"})
    problem = json.loads(record.problem)
    assert {*problem} == {"question", "type", "scene"}, "neither the answer nor the program"
    assert problem["question"] == asked["question"]
    assert load(registry.task(style), file) == [record]


def test_questions_whose_scenes_are_nowhere_are_refused(tmp_path: Path) -> None:
    written(tmp_path, {"questions": CLEVR["questions"]})
    with pytest.raises(InputError, match=r"no scenes for 'questions.json': no \*.tomt.json and no"):
        load(registry.task("clevr"), tmp_path)


def test_scenes_of_the_other_style_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"entry 1 .* is no ptr problem"):
        load(registry.task("ptr"), written(tmp_path, CLEVR))


def test_a_program_that_no_tool_can_follow_has_no_plan(tmp_path: Path) -> None:
    program = [
        {"function": "scene", "inputs": [], "value_inputs": []},
        {"function": "union", "inputs": [0, 0], "value_inputs": []},
        {"function": "count", "inputs": [1], "value_inputs": []},
    ]
    entry = {**CLEVR["questions"][0], "program": program}
    [found] = load_questions(written(tmp_path, {**CLEVR, "questions": [entry]}))
    assert found.plan is None
    assert found.program == ("scene", "union", "count")


def test_a_question_without_its_scene_is_refused_by_name(tmp_path: Path) -> None:
    entry = {**PTR["questions"][0], "image_index": 99}
    with pytest.raises(InputError, match="json:0 is no question on a known scene"):
        load_questions(written(tmp_path, {**PTR, "questions": [entry]}))
