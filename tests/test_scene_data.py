"""Scenes, and the files that they come in."""

import json
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph import registry
from thoughtgraph.bench.data import load
from thoughtgraph.bench.scene_data import load_questions
from thoughtgraph.errors import InputError, ProblemError
from thoughtgraph.tools.scenes.scene import Part, Scene
from thoughtgraph.tools.scenes.scene_files import from_clevr, from_ptr
from thoughtgraph.tools.scenes.vocabulary import canonical, number_of, relation_of

PAIR = {"left": [[], [0]], "right": [[1], []]}
CHAIR = {"Chair0": {"leg": ["red", 4], "seat": [None, 1]}}
BEDROOM = {"relationships": PAIR, "objects": [CHAIR, {"Bed0": {"leg": ["red", 2]}}]}
THREE_SOLIDS = {
    "relationships": PAIR,
    "objects": [{"cube0": ["blue", "small", "metal"]}, {"cube0": ["gray", "large", "rubber"]}],
}


@pytest.mark.parametrize(
    "data", [BEDROOM, THREE_SOLIDS, {**BEDROOM, "positions": [[0, 1.5], [2, 3]]}]
)
def test_a_scene_survives_json(data: dict[str, Any]) -> None:
    scene = Scene.from_json({**data, "question": "?", "answer": "never kept"})
    assert Scene.from_json(scene.to_json()) == scene
    assert "answer" not in scene.to_json()
    assert scene.objects[0].position == ((0.0, 1.5) if "positions" in data else None)
    assert (scene.style, scene.objects[0].name) in (("ptr", "Chair0"), ("clevr", "cube0"))
    assert scene.style == "clevr" or scene.objects[0].parts["seat"] == Part(None, 1)


def room(chair: Any) -> dict[str, Any]:
    return {**BEDROOM, "objects": [chair, {"Bed0": {}}]}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"objects": []}, "objects"),
        ({**BEDROOM, "objects": [CHAIR] * 65}, "64"),
        ({**BEDROOM, "relationships": {"near": [[], []]}}, "near"),
        ({**BEDROOM, "relationships": {"left": [[]]}}, "(2), not 1"),
        ({**BEDROOM, "relationships": {"left": [[2], []]}}, "not in the scene"),
        ({**BEDROOM, "relationships": {"left": [[0], []]}}, "itself"),
        ({**BEDROOM, "relationships": {"left": [[1, 1], []]}}, "twice"),
        (room({"Chair0": {}, "Bed0": {}}), "objects.0"),
        (room({"Sofa0": {}}), "Sofa"),
        (room({"Chair0": {"tail": ["red", 1]}}), "tail"),
        (room({"Chair0": {"leg": ["pink", 1]}}), "pink"),
        (room({"Chair0": {"leg": ["red", -1]}}), "-1"),
        ({**THREE_SOLIDS, "objects": [{"cube0": ["blue", "metal", "small"]}] * 2}, "metal"),
        ({**BEDROOM, "objects": [CHAIR, *THREE_SOLIDS["objects"][:1]]}, "some have parts"),
        ({**BEDROOM, "positions": [[0, 0]]}, "1 pairs for 2"),
        ({**BEDROOM, "positions": [[0, 0], [0, float("nan")]]}, "positions.1"),
    ],
)
def test_what_is_no_scene_is_refused_in_one_line(data: Any, told: str) -> None:
    with pytest.raises(ProblemError) as error:
        Scene.from_json(data)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_ptr_file_keeps_parts_that_are_only_colored_or_only_counted() -> None:
    bed = {
        "category": "Bed",
        "part_color_occluded": {"sleep area": ["brown", [1, 2, 3]]},
        "part_count_occluded": {"leg bar": 3},
    }
    named = {"category": "Cart", "part_color": {"body": ["red", [0, 0, 0]]}, "part_count": {}}
    scene = from_ptr({"objects": [bed, named], "relationships": {"left": [[], []]}})
    assert scene.objects[0].parts == {"sleep area": Part("brown", 1), "leg bar": Part(None, 3)}
    assert scene.objects[1].parts == {"body": Part("red", 1)}


@pytest.mark.parametrize("data", [{}, {"objects": [{}]}, {"objects": 3}, {"objects": [[]]}])
def test_what_is_no_public_file_is_refused(data: Any) -> None:
    for convert in (from_clevr, from_ptr):
        with pytest.raises(ProblemError):
            convert(data)


def test_words_come_to_one_form() -> None:
    words = {"metallic": "metal", "fridge": "refrigerator", "bodys": "body", "glass": "glass"}
    words |= {"BIG": "large", "\uff2c\uff25\uff27": "leg"}
    assert {text: canonical(text) for text in words} == words
    numbers = {"a": 1, "twelve": 12, "3": 3, "3.5": None, "²": None, "many": None}
    assert {text: number_of(text) for text in numbers} == numbers
    assert [relation_of(each) for each in ("on the left side of", "back")] == ["left", "behind"]


def solid(color: str, shape: str) -> dict[str, Any]:
    look = {"color": color, "size": "large", "material": "metal", "shape": shape}
    return {**look, "3d_coords": [1.0, 2.0, 0.3]}


def furniture(category: str, parts: dict[str, tuple[str, int]]) -> dict[str, Any]:
    return {
        "category": category,
        "part_color_occluded": {part: [color, [0, 0, 0]] for part, (color, _) in parts.items()},
        "part_count_occluded": {part: count for part, (_, count) in parts.items()},
    }


SIDES = {"left": [[], [0]], "right": [[1], []], "front": [[], []], "behind": [[], []]}
AXES = {"directions": {"right": [1.0, 0.0, 0.0], "behind": [0.0, 1.0, 0.0]}}
SOLIDS = [solid("red", "cube"), solid("blue", "sphere")]
ROOM = [
    furniture("Chair", {"leg": ("red", 4), "seat": ("blue", 1)}),
    furniture("Table", {"leg": ("green", 3), "top": ("cyan", 1)}),
]
SHAPE = {"question": "What shape is the thing left of the blue sphere?", "answer": "cube"}
LEGS = {"question": "How many legs does the table with cyan top have?", "answer": 3}
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


@pytest.mark.parametrize(("style", "data", "answer"), [("clevr", CLEVR, "cube"), ("ptr", PTR, "3")])
def test_a_public_question_becomes_a_problem_of_a_benchmark(
    tmp_path: Path, style: str, data: Any, answer: str
) -> None:
    [found] = load_questions(written(tmp_path, data))
    assert (found.plan, found.answer) == (None, answer)
    assert found.scene.objects[0].position == ((1.0, 2.0) if style == "clevr" else None)
    # The scenes are in a file of their own beside the questions.
    (tmp_path / "val_scenes.json").write_text(json.dumps({"scenes": data["scenes"]}))
    file = written(tmp_path, {"questions": data["questions"]})
    [record] = load(registry.task(style), tmp_path)
    assert (record.gold, record.facts) == (answer, {"type": "short"})
    problem = json.loads(record.problem)
    assert {*problem} == {"question", "type", "scene"}, "neither the answer nor the program"
    assert problem["question"] == data["questions"][0]["question"]
    assert load(registry.task(style), file) == [record]


ELSEWHERE = {**PTR, "questions": [{**PTR["questions"][0], "image_index": 99}]}


@pytest.mark.parametrize(
    ("task", "data", "told"),
    [
        ("clevr", {"questions": CLEVR["questions"]}, "no scenes for 'questions.json'"),
        ("ptr", CLEVR, r"entry 1 .* is no ptr problem"),
        ("ptr", ELSEWHERE, "json:0 is no question on a known scene"),
    ],
)
def test_questions_without_a_scene_of_their_style_are_refused(
    tmp_path: Path, task: str, data: Any, told: str
) -> None:
    file = written(tmp_path, data)
    with pytest.raises(InputError, match=told):
        load(registry.task(task), tmp_path if "scenes" not in data else file)
