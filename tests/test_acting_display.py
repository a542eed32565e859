"""What a person sees of a search that acts: live and as a page."""

import io
import json
from typing import Any

from rich.console import Console
from support.pages_script import ScriptedPages
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import STREAM, LiveState
from thoughtgraph.cli.viewer.page import payload
from thoughtgraph.tools.wiki.sources import toolbox

PAGES = {"Milan": "Milan is a city. The mayor lives there.", "Oslo": "Oslo is a capital."}


def explorer() -> ScriptedChat:
    """Searches a page that there is and one that there is not, then finishes."""

    def reply(call: Call) -> list[str]:
        if call.role == "value":
            return ["Score: 6"] * call.n
        asked = call.prompt.rpartition("Question: ")[2]
        if "Observation 1: Milan is" in asked:
            return ["I know it.\nAction 2: Finish[Italy]"] * call.n
        drafts = ["I try Atlantis.\nAction 1: Search[Atlantis]", "I try.\nAction 1: Search[Milan]"]
        if call.n > 1:
            return [drafts[at % 2] for at in range(call.n)]
        return [drafts[call.draw[-1] % 2 if call.draw else 0]]

    return ScriptedChat(reply=reply)


async def followed(method: str, model: ScriptedChat, **context: Any) -> tuple[LiveState, list[str]]:
    graph = tg.build(method, task="hotpotqa", model=model, tools=toolbox(ScriptedPages(PAGES)))
    watch, told = LiveState(graph.builder.state_schema), list[str]()
    given: Any = ({"problem": "Where is Milan?"}, None)
    context = {"n_generate": 2, **context}
    async for mode, data in graph.astream(*given, context=context, stream_mode=list(STREAM)):
        told += [str(event) for event in watch.apply(mode, data)]
    return watch, told


async def test_actions_costs_failures_and_propagation_are_told_and_drawn():
    watch, told = await followed("itot_d_star_lite", explorer(), rounds=6, sibling_base="snapshot")
    said = "\n".join(told)
    assert watch.state["answer"] == "Italy"
    assert "call_tool 1: Search[Atlantis]" in said
    assert "fail      1: Could not find Atlantis." in said
    assert "observe   2: Milan is a city. The mayor lives there. (cost 1)" in said
    assert [line for line in told if line.startswith("propagate")] == [
        "propagate from 1: 0 from cost 0 to 1"
    ]
    console = Console(file=io.StringIO(), force_terminal=True, color_system=None, width=110)
    screen = LiveScreen(console, "run", clock=lambda: 0.0)
    screen._state = watch
    with console.capture() as captured:
        console.print(screen)
    for part in ("I try. Search[Milan]", "g 1", "tool calls, ", "failed"):
        assert part in captured.get()


async def test_a_page_of_the_tree_has_costs_and_failures_but_no_texts_of_pages():
    watch, _ = await followed("itot_d_star_lite", explorer(), rounds=6)
    result = {**watch.state, "method": "itot_d_star_lite", "task": "hotpotqa", "answer": "Italy"}
    page = payload([result])["runs"][0]
    thoughts = {thought["id"]: thought for thought in page["thoughts"]}
    assert thoughts["1"]["failed"] is True
    assert thoughts["0"]["note"].startswith("dearer by")
    assert all("cost" in thought for thought in thoughts.values())
    assert "paragraphs" not in json.dumps(page)
    assert thoughts["2"]["tool_state"]["page"] == {"title": "Milan"}
