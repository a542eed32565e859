"""What a person sees of a search that acts: live and as a page."""

import io
import json
from typing import Any

import pytest
from rich.console import Console
from support.acting import Odds, run, walker
from support.pages_script import ScriptedPages
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.cli import summary, text
from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import STREAM, LiveState
from thoughtgraph.cli.viewer.page import payload
from thoughtgraph.results import without_pages
from thoughtgraph.tools.wiki.sources import toolbox
from thoughtgraph.tree import Thought

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


async def test_what_became_of_answers_and_of_unreadable_actions_is_told():
    judged = {
        "extract": '["Milan", "Oslo"]',
        "step_eval": "Reply: sure",
        "Answer: Rome": "THOUGHT: That is a city.\nJUDGMENT: NO",
        "Answer: Italy": "THOUGHT: It fits.\nJUDGMENT: YES",
    }

    def reply(call: Call) -> str:
        if call.role in judged or call.role == "answer_eval":
            return judged.get(call.role) or judged[call.prompt.rpartition("\n")[2]]
        if "already tried" in call.prompt:
            return "I dance.\nAction 2: dance"
        return f"So.\nAction 2: Finish[{'Italy' if 'Results: Rome' in call.prompt else 'Rome'}]"

    _, told = await followed("fgdip", ScriptedChat(reply=reply))
    assert "reject    3: Rome (That is a city.)" in told
    assert "thought   4: I dance. (from 1)" in told
    assert "accept    5: Italy (accepted by the answer evaluator)" in told


@pytest.mark.ci
async def test_the_way_that_is_shown_led_to_the_answer_though_other_ways_gave_the_same():
    ambiguous, rejected = 0, 0
    for method in ("itot_a_star", "itot_d_star_lite", "itot_dfs", "fgdip"):
        for seed in range(20):
            out = await run(method, walker(seed, Odds(places="ab", finish=0.4)), n_generate=3)
            tree, usage, answer = out["tree"], out["usage"], out["answer"]
            end = summary.chosen(tree)
            assert (end and end["answer"]) == answer
            if end is None:
                assert summary.action_lines(tree) == []
                continue
            way = tg.path_to(tree, end["id"])
            assert len(summary.action_lines(tree)) in (0, len(way))
            assert len(way) == usage["reasoning_steps"]
            assert sum(step.get("price", 0.0) for step in way) == usage["tool_cost_path"]
            page = payload([{**out, "method": method, "task": "errand", "problem": "a"}])
            assert page["runs"][0]["chosen"] == end["id"]
            same = [each for each in tree.values() if each.get("answer") == answer]
            ambiguous += same[0] is not end
            refused = end.get("note", "").startswith("rejected: ")
            assert not (refused and out["stop_reason"] == "finished")
            rejected += refused
    assert ambiguous > 10
    assert rejected


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


def test_a_thought_without_a_page_is_left_as_it_is_and_a_call_is_one_clean_line():
    states: tuple[Thought, ...] = ({"id": "1"}, {"tool_state": {}}, {"tool_state": {"page": None}})
    for thought in states:
        assert without_pages(thought) is thought
    call = {"name": "Search", "argument": "\x1b[2J\nMilan\u202e"}
    assert text.action({"action": call}) == "Search[ [2J Milan ]"
    assert text.action({"action": None}) == text.action({}) == ""
