"""Pictures of scenes: well-formed, complete, nothing upon another."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from support.rooms import SOLIDS

from thoughtgraph.bench.questions.scene_questions import generate
from thoughtgraph.cli.demo import SETTINGS, demonstration
from thoughtgraph.tasks.scenes.picture import layout, svg
from thoughtgraph.tools.scenes.scene import Scene

SVG = "{http://www.w3.org/2000/svg}"


def test_without_positions_objects_stand_as_their_relations_say() -> None:
    places = layout(SOLIDS)
    assert sorted(places) == list(places) and len({x for x, *_ in places}) == len(places)


def test_the_picture_of_the_pages_is_the_demonstrations() -> None:
    problem = json.loads(demonstration(SETTINGS["seed"]).problem)
    docs = Path(__file__).parents[1] / "docs"
    shown = (docs / "scene.svg").read_text(encoding="utf-8")
    assert shown == svg(Scene.from_json(problem["scene"]))
    beside = (docs / "command.md").read_text(encoding="utf-8")
    assert f'"{problem["question"]}"' in " ".join(beside.split())


def test_no_object_hides_another_and_what_is_said_of_each_stays_within_the_picture() -> None:
    scenes = [Scene.from_json(question.scene) for question in generate("ptr", "sum", 20, 0)]
    assert any(len(each.words()) > 100 for scene in scenes for each in scene.objects)
    for scene in scenes:
        picture = ElementTree.fromstring(svg(scene))
        rows = [text for text in picture.findall(f"{SVG}text") if text.get("class") is None]
        assert all(len(row.text or "") <= 100 for row in rows)
        assert max(float(row.get("y", "0")) for row in rows) < float(picture.get("height", "0"))
        told = " ".join(row.text or "" for row in rows)
        assert all(each.words() in told for each in scene.objects)
        groups = picture.findall(f"{SVG}g")
        assert len({group.get("transform") for group in groups}) == len(scene.objects)
