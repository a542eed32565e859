"""Pictures of scenes: well-formed, complete, nothing upon another."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support.rooms import ROOM, SOLIDS

from thoughtgraph.cli.demo import SETTINGS, demonstration
from thoughtgraph.tasks.scenes.picture import svg
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


def test_no_object_hides_another() -> None:
    alone = Scene.from_json({**ROOM.to_json(), "relationships": {"left": [[]] * 4}})
    groups = ElementTree.fromstring(svg(alone)).findall(f"{SVG}g")
    assert len({group.get("transform") for group in groups}) == 4


def test_the_picture_of_the_pages_is_the_demonstrations() -> None:
    problem = json.loads(demonstration(SETTINGS["seed"]).problem)
    shown = (Path(__file__).parents[1] / "docs" / "scene.svg").read_text(encoding="utf-8")
    assert shown == svg(Scene.from_json(problem["scene"]))
