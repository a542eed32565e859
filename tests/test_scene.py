"""Scenes: reading, refusing, converting from the public files."""

from typing import Any

import pytest

from thoughtgraph.errors import ProblemError
from thoughtgraph.tools.scenes.scene import Part, Scene
from thoughtgraph.tools.scenes.scene_files import from_clevr, from_ptr
from thoughtgraph.tools.scenes.vocabulary import canonical, number_of, relation_of

PAIR = {"left": [[], [0]], "right": [[1], []]}
CHAIR = {"Chair0": {"leg": ["red", 4], "seat": [None, 1]}}
ROOM = {"relationships": PAIR, "objects": [CHAIR, {"Bed0": {"leg": ["red", 2]}}]}
SOLIDS = {
    "relationships": PAIR,
    "objects": [{"cube0": ["blue", "small", "metal"]}, {"cube0": ["gray", "large", "rubber"]}],
}


@pytest.mark.parametrize("data", [ROOM, SOLIDS, {**ROOM, "positions": [[0, 1.5], [2, 3]]}])
def test_a_scene_survives_json(data: dict[str, Any]) -> None:
    scene = Scene.from_json({**data, "question": "?", "answer": "never kept"})
    assert Scene.from_json(scene.to_json()) == scene
    assert "answer" not in scene.to_json()
    assert scene.objects[0].position == ((0.0, 1.5) if "positions" in data else None)
    assert (scene.style, scene.objects[0].name) in (("ptr", "Chair0"), ("clevr", "cube0"))
    assert scene.style == "clevr" or scene.objects[0].parts["seat"] == Part(None, 1)


def room(chair: Any) -> dict[str, Any]:
    return {**ROOM, "objects": [chair, {"Bed0": {}}]}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        *[({"objects": []}, "1 to 64"), ({"objects": [{}] * 65}, "1 to 64")],
        *[
            ({**ROOM, "relationships": relationships}, told)
            for relationships, told in (
                ({"near": [[], []]}, "near"),
                ({"left": [[]]}, "1 lists for 2"),
                ({"left": [[2], []]}, "not in the scene"),
                ({"left": [[0], []]}, "itself"),
                ({"left": [[1, 1], []]}, "twice"),
            )
        ],
        (room({"Chair0": {}, "Bed0": {}}), "one key"),
        (room({"Sofa0": {}}), "Sofa"),
        (room({"Chair0": {"tail": ["red", 1]}}), "tail"),
        (room({"Chair0": {"leg": ["pink", 1]}}), "pink"),
        (room({"Chair0": {"leg": ["red", -1]}}), "-1"),
        ({**SOLIDS, "objects": [{"cube0": ["blue", "metal", "small"]}] * 2}, "metal"),
        ({**ROOM, "objects": [CHAIR, *SOLIDS["objects"][:1]]}, "one style"),
        ({**ROOM, "positions": [[0, 0]]}, "1 pairs for 2"),
        ({**ROOM, "positions": [[0, 0], [0, float("nan")]]}, "pair of numbers"),
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
