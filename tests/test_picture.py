"""Pictures of scenes: well-formed, complete, nothing upon another."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support.rooms import ROOM, SOLIDS

from thoughtgraph.bench.questions.scene_questions import generate
from thoughtgraph.cli.demo import SETTINGS, demonstration
from thoughtgraph.tasks.scenes.picture import layout, svg
from thoughtgraph.tools.scenes.scene import Scene

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]


@pytest.mark.parametrize("scene", [ROOM, SOLIDS], ids=["ptr", "clevr"])
def test_a_picture_names_all_there_is_and_follows_the_theme(scene: Scene) -> None:
    picture = svg(scene)
    shown = " ".join(texts(picture))
    for each in scene.objects:
        for word in (*each.parts, *each.attributes, *(p.color or "" for p in each.parts.values())):
            assert each.name in shown and word in shown
    assert picture == svg(Scene.from_json(scene.to_json()))
    assert "prefers-color-scheme:dark" in picture


def order(scene: Scene) -> list[int]:
    """The objects from left to right."""
    places = layout(scene)
    return sorted(range(len(places)), key=lambda at: places[at][0])


def test_without_positions_objects_stand_as_their_relations_say() -> None:
    assert order(SOLIDS) == [0, 1, 2, 3]
    for question in generate("clevr", "short", 5, 0):
        blind = {key: value for key, value in question.scene.items() if key != "positions"}
        assert order(Scene.from_json(question.scene)) == order(Scene.from_json(blind))


def test_the_picture_of_the_pages_is_the_demonstrations() -> None:
    problem = json.loads(demonstration(SETTINGS["seed"]).problem)
    docs = Path(__file__).parents[1] / "docs"
    shown = (docs / "scene.svg").read_text(encoding="utf-8")
    assert shown == svg(Scene.from_json(problem["scene"]))
    beside = (docs / "command.md").read_text(encoding="utf-8")
    assert f'"{problem["question"]}"' in " ".join(beside.split())


def test_what_is_said_of_an_object_stays_within_the_picture() -> None:
    scenes = [Scene.from_json(question.scene) for question in generate("ptr", "sum", 20, 0)]
    assert any(len(each.words()) > 100 for scene in scenes for each in scene.objects)
    for scene in scenes:
        picture = ElementTree.fromstring(drawn := svg(scene))
        rows = [text for text in picture.findall(f"{SVG}text") if text.get("class") is None]
        assert all(len(row.text or "") <= 100 for row in rows)
        assert max(float(row.get("y", "0")) for row in rows) < float(picture.get("height", "0"))
        assert all(each.words() in " ".join(texts(drawn)) for each in scene.objects)
