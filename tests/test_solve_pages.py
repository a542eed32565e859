"""`thoughtgraph solve --task hotpotqa`: without a method, over files of pages, out of reach."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from langchain_core.tools import tool
from support.fake_server import FakeServer, Seen
from support.reader import PAGES, QUESTION, read, told
from support.scripted import ScriptedChat
from support.wiki_proxy import FAULTS, WikiProxy

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.cli.app import main
from thoughtgraph.cli.run_config import SolveOptions, configure
from thoughtgraph.tools.costs import Priced

Call = Callable[..., tuple[int, str, str]]
LINES = [
    {"title": title, "sentences": [f"{part.rstrip('.')}." for part in text.split(". ")]}
    for title, text in PAGES.items()
]
CONTEXT = {"question": "?", "context": [[line["title"], line["sentences"]] for line in LINES]}
FILES = {
    "pages": "".join(json.dumps(line) + "\n" for line in LINES),
    "hotpotqa": json.dumps(CONTEXT) + "\n",
    "hotpotqa as published": json.dumps([CONTEXT]),
}


@pytest.fixture
def model() -> Iterator[FakeServer]:
    with FakeServer(read) as fake:
        yield fake


@pytest.fixture
def solve(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    model: FakeServer,
) -> Call:
    for name in ("THOUGHTGRAPH_DATA", "THOUGHTGRAPH_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / name))

    def call(*options: str) -> tuple[int, str, str]:
        given = ["solve", QUESTION, "--task", "hotpotqa", "--model", model.specifier, *options]
        monkeypatch.setattr(sys, "argv", ["thoughtgraph", *given])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return call


@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_pages_is_read_by_a_method_with_tools(kind, solve, model, tmp_path):
    file = tmp_path / "pages.jsonl"
    file.write_text(FILES[kind], encoding="utf-8")
    code, out, err = solve("--set", f"corpus={file}")
    assert (code, err) == (0, "")
    assert "react on hotpotqa" in out.splitlines()[0]
    assert "call_tool 1: Search[Fidelio]" in out
    assert "steps:    Who wrote Fidelio? Search[Fidelio]  → Fidelio is the only opera" in out
    assert "          It is Germany. Finish[Germany]  → Germany\nanswer:   Germany\n" in out
    assert "4 tool calls, tool cost 3 paid, 3 on the path, dollars unknown" in out
    assert told(model.answered[-1]) == [
        *PAGES.values(),
        "(Result 1 / 1) Bonn in Germany is where he was born.",
    ]


@pytest.mark.parametrize("said", ["YES", "NO"])
def test_an_answer_that_the_search_itself_rejected_is_shown_as_such(said, solve, model, tmp_path):
    def reply(seen: Seen) -> str:
        if "JUDGMENT:" in seen.prompt:
            return f"THOUGHT: A guess.\nJUDGMENT: {said}"
        return "I guess.\nAction: Finish[Bonn]"

    model.reply = reply
    file = tmp_path / "pages.jsonl"
    file.write_text(FILES["pages"], encoding="utf-8")
    options = ("extractor=false", "max_answer_checks=1", f"corpus={file}")
    code, out, err = solve(
        "--method", "fgdip", *(part for option in options for part in ("--set", option))
    )
    assert (code, err) == (0, "")
    assert "\nanswer:   Bonn\n" in out
    rejected = "\njudged:   no, the search itself rejected this answer: A guess.\n"
    assert (rejected in out) == (said == "NO")


def test_a_method_that_needs_feedback_says_where_it_gets_it(solve, model):
    code, _, err = solve("--method", "reflexion")
    assert (code, err.count("\n")) == (2, 1)
    assert "ask the model whether an output needs no refinement" in err
    assert "oracle=" in err
    assert model.answered == []


@pytest.mark.parametrize("source", ["", "wikipedia:de", "community", "http://127.0.0.1:9/api.php"])
def test_without_a_network_the_model_is_not_asked(source, solve, model, monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # where nothing listens
    code, out, err = solve("--set", f"corpus={source}")
    assert code == 2
    assert err.startswith("error: http")
    assert "cannot be reached" in err
    assert err.endswith(
        "check the network; a file of pages can be searched instead (--set corpus=FILE)\n"
    )
    assert err.count("\n") == 1
    assert "resume" not in out
    assert model.answered == []


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        ("forbidden", "set THOUGHTGRAPH_CONTACT"),
        ("elsewhere", "give the address of a wiki's api.php"),
        ("not JSON", "give the address of a wiki's api.php"),
        ("not a wiki", "give the address of a wiki's api.php"),
    ],
)
def test_a_wiki_that_cannot_be_used_is_told_before_the_model_is_asked(kind, remedy, solve, model):
    with WikiProxy(lambda query: {}) as wiki:
        wiki.fail(FAULTS[kind][0])
        code, _, err = solve("--set", f"corpus={wiki.url}")
    assert code == 2
    assert remedy in err
    assert err.count("\n") == 1
    assert model.answered == []


def test_a_file_that_is_none_is_named(solve, model, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("These are no pages.")
    for source in (str(file), "nowhere.jsonl"):
        code, _, err = solve("--set", f"corpus={source}")
        assert (code, err.count("\n")) == (2, 1)
        assert source in err
    assert model.answered == []


@pytest.mark.parametrize(
    ("task", "method"), [("hotpotqa", "react"), ("fever", "react"), ("strategyqa", "tot_bfs")]
)
def test_what_cannot_be_known_without_pages_is_searched_by_default(task, method):
    assert configure(SolveOptions(problem="Is it so?", task=task)).method == method


def test_every_default_method_exists():
    named = {entry.method for entry in registry.TASKS.values()} - {""}
    assert named <= registry.METHODS.keys()


async def test_a_tool_of_ones_own_works_beside_the_tasks_and_is_paid(tmp_path, monkeypatch):
    monkeypatch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path))
    file = tmp_path / "pages.jsonl"
    file.write_text(FILES["pages"], encoding="utf-8")

    @tool
    def birthplace(name: str) -> str:
        """Tells where a person was born."""
        return f"{name} was born in Bonn."

    lines = iter(["Who?\nAction 1: birthplace[Beethoven]", "So.\nAction 2: Finish[Bonn]"])
    model = ScriptedChat(reply=lambda call: next(lines))
    graph = tg.build("react", task="hotpotqa", model=model, tools=[Priced(birthplace, cost=2.5)])
    out = await graph.ainvoke({"problem": QUESTION}, context={"corpus": str(file)})
    assert "birthplace[name]: Tells where a person was born." in model.seen[0].prompt
    assert told(model.seen[1].prompt) == ["Beethoven was born in Bonn."]
    assert (out["answer"], out["usage"]["tool_cost"]) == ("Bonn", 2.5)
