"""Scenes: reading, refusing, converting from the public files."""

from typing import Any

import pytest

from thoughtgraph.errors import ProblemError
from thoughtgraph.tools.scenes.scene import Part, Scene
from thoughtgraph.tools.scenes.scene_files import from_clevr, from_ptr
from thoughtgraph.tools.scenes.vocabulary import canonical, number_of, plural, relation_of

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


def room(chair: Any) -> dict[str, Any]:
    return {**ROOM, "objects": [chair, {"Bed0": {}}]}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        *[(None, "objects"), ({}, "objects")],
        *[({"objects": []}, "1 to 64"), ({"objects": [{}] * 65}, "1 to 64")],
        ({"objects": SOLIDS["objects"][:1]}, "relationships"),
        *[
            ({**ROOM, "relationships": relationships}, told)
            for relationships, told in (
                ({}, "relationships"),
                ({"near": [[], []]}, "near"),
                ({"left": [[]]}, "1 lists for 2"),
                ({"left": [[2], []]}, "not in the scene"),
                ({"left": [[True], []]}, "not in the scene"),
                ({"left": [[0], []]}, "itself"),
                ({"left": [[1, 1], []]}, "twice"),
                ({"left": [3, []]}, "no list"),
            )
        ],
        (room({"Chair0": {}, "Bed0": {}}), "one key"),
        (room({"Sofa0": {}}), "Sofa"),
        (room({"Chair0": {"tail": ["red", 1]}}), "tail"),
        (room({"Chair0": {"leg": ["pink", 1]}}), "pink"),
        (room({"Chair0": {"leg": ["red", -1]}}), "-1"),
        (room({"Chair0": {"leg": ["red", True]}}), "True"),
        (room({"Chair0": {"leg": "red"}}), "[color, count]"),
        ({**SOLIDS, "objects": [{"cube0": ["blue", "small"]}] * 2}, "[color, size"),
        ({**SOLIDS, "objects": [{"cube0": ["blue", "metal", "small"]}] * 2}, "metal"),
        ({**SOLIDS, "objects": [{"cube0": 3}] * 2}, "no list"),
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


def test_a_clevr_file_is_converted() -> None:
    solid = {"color": "blue", "size": "small", "shape": "cube", "material": "metal"}
    entry = {
        "objects": [
            {**solid, "3d_coords": [1.0, 2.0, 0.3]},
            {**solid, "shape": "sphere", "3d_coords": [0.0, 0.0, 0.3]},
            {**solid, "color": "red", "3d_coords": [3.0, 1.0, 0.3]},
        ],
        "relationships": {"left": [[1], [], [0, 1]], "right": [[2], [0, 2], []]},
        "directions": {"right": [1.0, 0.0, 0.0], "behind": [0.0, 1.0, 0.0]},
    }
    scene = from_clevr(entry)
    assert [each.name for each in scene.objects] == ["cube0", "sphere0", "cube1"]
    assert scene.objects[2].attributes == ("red", "small", "metal")
    assert scene.objects[2].position == (3.0, 1.0)


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
    words = {
        **{"Leg_Bars": "leg bar", "tiny": "small", "BIG": "large", "shelves": "shelf"},
        **{"metallic": "metal", "matte": "rubber", "blocks": "cube", "items": "thing"},
        **{
            "fridge": "refrigerator",
            "bodys": "body",
            "glass": "glass",
            "\uff2c\uff25\uff27": "leg",
        },
    }
    assert {text: canonical(text) for text in words} == words
    numbers = {"a": 1, "twelve": 12, "3": 3, "3.5": None, "²": None, "many": None}
    assert {text: number_of(text) for text in numbers} == numbers
    phrases = ["left of", "to the left of", "on the left side of", "in front of", "back", "near"]
    assert [relation_of(each) for each in phrases] == [*["left"] * 3, "front", "behind", None]
    plurals = {"body": "bodies", "shelf": "shelves", "leg bar": "leg bars"}
    assert {word: plural(word) for word in plurals} == plurals
