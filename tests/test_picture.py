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
def test_a_picture_names_all_there_is(scene: Scene) -> None:
    shown = " ".join(texts(svg(scene)))
    for each in scene.objects:
        assert each.name in shown
        for word in (*each.parts, *each.attributes, *(p.color or "" for p in each.parts.values())):
            assert word in shown


def test_without_positions_objects_stand_as_their_relations_say() -> None:
    places = layout(SOLIDS)
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    for question in generate("clevr", "short", 5, 0):
        known = Scene.from_json(question.scene)
        blind = Scene.from_json({k: v for k, v in question.scene.items() if k != "positions"})
        orders = [
            sorted(range(len(p)), key=lambda at, p=p: p[at])
            for p in ([x for x, _ in layout(known)], [x for x, _ in layout(blind)])
        ]
        assert orders[0] == orders[1]


def test_no_object_hides_another() -> None:
    alone = Scene.from_json({**ROOM.to_json(), "relationships": {"left": [[]] * 4}})
    groups = ElementTree.fromstring(svg(alone)).findall(f"{SVG}g")
    assert len({group.get("transform") for group in groups}) == 4


def test_a_picture_is_its_scene_and_follows_the_theme() -> None:
    assert svg(ROOM) == svg(Scene.from_json(ROOM.to_json()))
    assert "prefers-color-scheme:dark" in svg(ROOM)


def test_the_picture_of_a_scene_is_the_demonstrations() -> None:
    problem = json.loads(demonstration(SETTINGS["seed"]).problem)
    folder = Path(__file__).parents[1]
    shown = (folder / "docs" / "scene.svg").read_text(encoding="utf-8")
    assert shown == svg(Scene.from_json(problem["scene"]))
    beside = (folder / "docs" / "command.md").read_text(encoding="utf-8")
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
