"""The page that shows a search, and pictures of scenes."""

import json
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest
from support.rooms import ROOM, SOLIDS
from support.scripted import ScriptedChat
from support.stepping import mistaken
from support.stored import small, stored

import thoughtgraph as tg
from thoughtgraph.cli.viewer.page import page, payload
from thoughtgraph.llm.store import PaidAnswers
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


def test_the_data_in_a_page_is_json_whatever_a_thought_says() -> None:
    results = [stored(small(text="</script>&amp;<!--\u2028"))]
    block = page(results).partition('<script id="data" type="application/json">')[2]
    data = json.loads(block.partition("</script>")[0])
    assert data == json.loads(json.dumps(payload(results)))


class Document(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


async def test_prompts_are_kept_as_the_model_saw_them_with_their_speakers(tmp_path):
    model = ScriptedChat(reply=mistaken)
    paid = PaidAnswers(tmp_path / "answers.sqlite")
    with paid.in_use():
        graph = tg.build("rollback", task="gsm8k", model=model, protocol="two_call")
        await graph.ainvoke({"problem": "4 + 9?"}, context={"limit_requests": 8})
    again = PaidAnswers(tmp_path / "answers.sqlite").prompts
    for role in ("generate", "analyse", "extract_index"):
        kept = {sent["text"] for of in again.values() for sent in of if sent["role"] == role}
        seen = [call.prompt.split("\n", 1) for call in model.seen if call.role == role]
        assert kept == {f"System:\n{system}\n\nUser:\n{user}" for system, user in seen} != set()


def test_page_refers_to_nothing_outside_and_allows_no_foreign_script():
    elements = Document(page([stored(small())])).elements
    for tag, attributes in elements:
        for name in ("src", "href", "action", "style"):
            assert (attributes.get(name) or "data:,").startswith("data:"), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
    policy = next(a["content"] for _, a in elements if a.get("http-equiv"))
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy


PROMPTS = {
    "0": [{"role": "generate", "expansion": 0, "text": "Go on from 4 9 10 13."}],
    "1": [
        {"role": "value", "expansion": None, "text": "Judge 6 9 13."},
        {"role": "generate", "expansion": 0, "text": "Go on from 6 9 13."},
    ],
}


def test_each_thought_has_the_prompts_that_made_judged_and_continued_it():
    [run] = payload([stored(small(), prompts=PROMPTS)])["runs"]
    roles = [
        ([role for role, _ in each["prompts"]], [role for role, _ in each["expansion"]])
        for each in run["thoughts"]
    ]
    made = ["generate"]
    assert roles == [([], made), ([*made, "value"], made), (made, []), (made, [])]
    assert run["promptless"] is None


def test_results_of_unknown_tasks_and_methods_are_shown_without_prompts():
    result = stored(small(), task="of_somebody_else", method="unheard_of", settings={})
    [run] = payload([result])["runs"]
    assert len(run["thoughts"]) == 4
    assert "results of the command" in run["promptless"]
