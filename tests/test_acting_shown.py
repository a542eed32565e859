"""What a person and a model see of a search that acts."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.pages_script import ScriptedPages
from support.pools import few
from support.scripted import Call, ScriptedChat, rng
from support.searches import never

import thoughtgraph as tg
from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import STREAM, LiveState, channels
from thoughtgraph.cli.viewer.page import payload
from thoughtgraph.llm.store import PaidAnswers
from thoughtgraph.tools.wiki.sources import toolbox

PAGES = {"Milan": "Milan is a city. The mayor lives there.", "Oslo": "Oslo is a capital."}
DRAFTS = ("I try Atlantis.\nAction 1: Search[Atlantis]", "I try.\nAction 1: Search[Milan]")


def explore(call: Call) -> list[str]:
    """Searches a page that there is and one that there is not, then finishes."""
    if call.role == "value":
        return ["Score: 6"] * call.n
    if "Observation 1: Milan is" in call.prompt.rpartition("Question: ")[2]:
        return ["I know it.\nAction 2: Finish[Italy]"] * call.n
    return [DRAFTS[at % 2] for at in range(call.n)]


async def followed(**context: Any) -> tuple[LiveState, list[str]]:
    model, tools = ScriptedChat(reply=explore), toolbox(ScriptedPages(PAGES))
    graph = tg.build("itot_d_star_lite", task="hotpotqa", model=model, tools=tools)
    watch, told = LiveState(), list[str]()
    keys = channels(graph.builder.state_schema)
    options: Any = {"stream_mode": list(STREAM), "output_keys": keys}
    options["context"] = {"n_generate": 2, "rounds": 6, **context}
    async for mode, data in graph.astream({"problem": "Where is Milan?"}, **options):
        told += [str(event) for event in watch.apply(mode, data)]
    return watch, told


async def test_actions_costs_failures_and_propagation_are_told_and_drawn():
    watch, told = await followed(sibling_base="snapshot")
    said = "\n".join(told)
    assert watch.state["answer"] == "Italy"
    assert "asked       call_tool 1: Search[Atlantis]" in said
    assert "called      1: failed: Could not find Atlantis." in said
    assert "called      2: Milan is a city. The mayor lives there. (cost 1)" in said
    assert [line for line in told if line.startswith("propagated")] == [
        "propagated  from 1: 0 from cost 0 to 1"
    ]
    console = Console(file=io.StringIO(), force_terminal=True, color_system=None, width=110)
    screen = LiveScreen(console, "run", clock=lambda: 0.0)
    screen._state = watch
    with console.capture() as captured:
        console.print(screen)
    for part in ("I try. Search[Milan]", "g 1", "tool calls, ", "failed"):
        assert part in captured.get()


async def test_a_page_of_the_tree_has_costs_and_failures_but_no_texts_of_pages():
    watch, _ = await followed()
    result = {**watch.state, "method": "itot_d_star_lite", "task": "hotpotqa", "answer": "Italy"}
    page = payload([result])["runs"][0]
    thoughts = {thought["id"]: thought for thought in page["thoughts"]}
    assert thoughts["1"]["failed"] is True
    assert thoughts["0"]["note"].startswith("dearer by")
    assert all("cost" in thought for thought in thoughts.values())
    assert "paragraphs" not in json.dumps(page)
    assert thoughts["2"]["tool_state"]["page"] == {"title": "Milan"}


STEPS = (
    "I try.\nAction 1: Search[Milan]",
    "I look.\nAction 1: Lookup[mayor]",
    "Atlantis?\nAction 1: Search[Atlantis]",
    "I only think.",
    "I know.\nAction 1: Finish[Italy]",
    "I guess.\nAction 1: Finish[Norway]",
)
SAID = {
    "generate": STEPS,
    "act": ("Search[Oslo]", "no idea", "Finish[Sweden]"),
    "reflect": ("Look\nelsewhere.", "Search first."),
    "extract": ('["Milan", "Oslo"]', '["Milan"]', "?"),
    "value": ("Score: 3", "Score: 8", "none"),
    "step_eval": ("Reply: sure", "Reply: maybe", "Reply: impossible"),
    "answer_eval": ("THOUGHT: no country.\nJUDGMENT: NO", "JUDGMENT: NO", "JUDGMENT: YES"),
    "conclude": ("the answer is Rome",),  # no answer makes no thought, so no prompt to render
}


async def solved(
    method: str, seed: int, folder: Path, **context: Any
) -> tuple[dict[str, Any], list[Call]]:
    def gamble(call: Call) -> list[str]:
        draws = rng(seed, call.role, call.draw or call.prompt)
        return [draws.choice(SAID[call.role]) for _ in range(call.n)]

    model, tools = ScriptedChat(reply=gamble), toolbox(ScriptedPages(PAGES))
    oracle = never if method == "reflexion" else False
    graph = tg.build(method, task="hotpotqa", model=model, oracle=oracle, tools=tools)
    paid = PaidAnswers(folder / f"{method}{seed}.sqlite")
    with paid.in_use():
        out = await graph.ainvoke({"problem": "Where is Milan?"}, context=context)
    return {**out, "task": "hotpotqa", "prompts": paid.prompts}, model.seen


def shown_prompts(result: dict[str, Any]) -> set[tuple[str, str]]:
    """The prompts that a page shows with the thoughts that they made or judged."""
    data = payload([result])
    entries, places = data["texts"]["entries"], data["texts"]["places"]
    texts = [""]
    for shared, rest in entries:
        texts.append(texts[-1][:shared] + rest)
    return {
        (role, texts[places[at] + 1])
        for thought in data["runs"][0]["thoughts"]
        for role, at in thought["prompts"] + thought["expansion"]
    }


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("itot_d_star_lite", {"rounds": 6, "n_generate": 2}, "", "generate value"),
    ("react", {}, "", "generate act"),
    ("reflexion", {"trials": 3}, "", "generate act reflect"),
    ("fgdip", {"limit_requests": 60}, "extract answer_eval", "generate step_eval"),
    ("fgdip", {"limit_requests": 6}, "extract generate step_eval conclude", ""),
    ("fgdip", {"extractor": False, "limit_requests": 60}, "generate step_eval answer_eval", ""),
]
"""Searches that meet all roles, the latter of them with observations in their prompts."""


@pytest.mark.parametrize("case", few(CASES, 3))
async def test_every_prompt_is_shown_and_calls_observations_quotations(case, tmp_path):
    method, context, roles, observing = case
    met, shown_pages = set[str](), set[str]()
    for seed in range(6):
        result, seen = await solved(method, seed, tmp_path, **context)
        asked = {(call.role, call.prompt) for call in seen}
        failed = {each for each in asked if each[0] in ("conclude", "extract")}
        assert asked - failed <= shown_prompts(result) <= asked
        met |= {role for role, _ in asked}
        for role, prompt in asked:
            if "Observation 1:" not in prompt:
                continue
            shown_pages.add(role)
            assert "bservations are quoted from pages" in prompt, role
            _, beside, steps = prompt.partition("These were already tried as the next step")
            assert not beside or "observations are quoted from pages" in steps
    assert met >= {*roles.split(), *observing.split()}, "the script reaches every prompt"
    assert shown_pages >= set(observing.split())
