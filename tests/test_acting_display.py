"""What a person sees of a search that acts: live, as a file, as a page, and without a network."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.acting import Errand, Odds, walker
from support.pages_script import ScriptedPages
from support.scripted import Call, ScriptedChat

import thoughtgraph as tg
from thoughtgraph.cli import summary, text
from thoughtgraph.cli.app import main
from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import STREAM, LiveState
from thoughtgraph.cli.viewer.page import payload
from thoughtgraph.llm.port import ChatPort
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


async def followed(method: str = "itot_d_star_lite", **context: Any) -> tuple[LiveState, list[str]]:
    graph = tg.build(method, task="hotpotqa", model=explorer(), tools=toolbox(ScriptedPages(PAGES)))
    watch, told = LiveState(graph.builder.state_schema), []
    async for mode, data in graph.astream(
        {"problem": "Where is Milan?"},
        context={"n_generate": 2, "rounds": 6, **context},
        stream_mode=list(STREAM),
    ):
        told += [str(event) for event in watch.apply(mode, data)]
    return watch, told


async def test_actions_observations_costs_failures_and_propagation_are_told():
    watch, told = await followed(sibling_base="snapshot")
    said = "\n".join(told)
    assert watch.state["answer"] == "Italy"
    assert "call_tool 1: Search[Atlantis]" in said
    assert "fail      1: Could not find Atlantis." in said
    assert "observe   2: Milan is a city. The mayor lives there. (cost 1)" in said
    assert [line for line in told if line.startswith("propagate")] == [
        "propagate from 1: 0 from cost 0 to 1"
    ]


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

    tools = toolbox(ScriptedPages(PAGES))
    graph = tg.build("fgdip", task="hotpotqa", model=ScriptedChat(reply=reply), tools=tools)
    watch, told = LiveState(graph.builder.state_schema), []
    given, context = {"problem": "Where is Milan?"}, {"n_generate": 2}
    async for mode, data in graph.astream(given, context=context, stream_mode=list(STREAM)):
        told += [str(event) for event in watch.apply(mode, data)]
    assert "reject    3: Rome (That is a city.)" in told
    assert "thought   4: I dance. (from 1)" in told
    assert "accept    5: Italy (accepted by the answer evaluator)" in told


@pytest.mark.ci
async def test_the_way_that_is_shown_led_to_the_answer_though_other_ways_gave_the_same():
    ambiguous, rejected = 0, 0
    for method in ("itot_a_star", "itot_d_star_lite", "itot_dfs", "fgdip"):
        for seed in range(20):
            model = ScriptedChat(reply=walker(seed, Odds(places="ab", finish=0.4)))
            graph = tg.build(method, task=Errand(), model=model)
            out = await graph.ainvoke({"problem": "a"}, context={"n_generate": 3})
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


async def test_a_frame_shows_calls_and_costs_and_counts_failures():
    watch, _ = await followed(sibling_base="snapshot")
    console = Console(file=io.StringIO(), force_terminal=True, color_system=None, width=110)
    screen = LiveScreen(console, "run", clock=lambda: 0.0)
    screen._state = watch
    with console.capture() as captured:
        console.print(screen)
    drawn = captured.get()
    assert "I try. Search[Milan]" in drawn
    assert "g 1" in drawn
    assert "tool calls, " in drawn
    assert "failed" in drawn


async def test_a_page_of_the_tree_has_costs_and_failures_but_no_texts_of_pages():
    watch, _ = await followed()
    state = watch.state
    result = {**state, "method": "itot_d_star_lite", "task": "hotpotqa", "answer": "Italy"}
    run = payload([result])["runs"][0]
    thoughts = {thought["id"]: thought for thought in run["thoughts"]}
    assert thoughts["1"]["failed"] is True
    assert thoughts["0"]["note"].startswith("dearer by")
    assert all("cost" in thought for thought in thoughts.values())
    assert "paragraphs" not in json.dumps(run)
    assert thoughts["2"]["tool_state"]["page"] == {"title": "Milan"}


def test_a_thought_without_a_page_is_left_as_it_is():
    states: tuple[Thought, ...] = (
        {"id": "1"},
        {"id": "1", "tool_state": {}},
        {"tool_state": {"page": None}},
    )
    for thought in states:
        assert without_pages(thought) is thought


def test_a_call_is_one_clean_line():
    call = {"name": "Search", "argument": "\x1b[2J\nMilan\u202e"}
    assert text.action({"action": call}) == "Search[ [2J Milan ]"
    assert text.action({"action": None}) == text.action({}) == ""


def call(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["thoughtgraph", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture
def own_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("THOUGHTGRAPH_DATA", str(tmp_path))
    monkeypatch.setattr(
        "thoughtgraph.cli.solve.open_port", lambda specifier, console: ChatPort(explorer())
    )


SOLVE = ("solve", "Where is Milan?", "--task", "hotpotqa", "--method", "itot_a_star")


def test_a_corpus_file_needs_no_network(own_runs, monkeypatch, capfd, tmp_path):
    corpus, target = tmp_path / "pages.jsonl", tmp_path / "out.json"
    lines = [{"title": title, "sentences": said.split(". ")} for title, said in PAGES.items()]
    corpus.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    options = ("--set", f"corpus={corpus}", "--set", "n_generate=2", "--json", str(target))
    code, out, err = call(monkeypatch, capfd, *SOLVE, *options)
    assert (code, err) == (0, "")
    assert "Italy" in out
    assert "tool calls, " in out
    assert "paragraphs" not in target.read_text(encoding="utf-8")


def test_without_a_network_one_line_says_what_to_do(own_runs, monkeypatch, capfd):
    wiki = ("--set", "corpus=http://127.0.0.1:9/w/api.php", "--set", "tool_deadline=3")
    code, _, err = call(monkeypatch, capfd, *SOLVE, *wiki)
    assert code == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "corpus=" in err
    _, _, err = call(monkeypatch, capfd, "solve", "--resume", "none")
    assert "no run was stopped here" in err
