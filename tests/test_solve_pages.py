"""`thoughtgraph solve --task hotpotqa`: without a method, over files of pages, out of reach."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.tools import tool
from support.command import Command
from support.fake_server import FakeServer, Seen
from support.pages_script import PAGES, QUESTION, read, told
from support.pools import few
from support.scripted import ScriptedChat
from support.wiki_proxy import FAULTS, WikiProxy

import thoughtgraph as tg
from thoughtgraph.tools.costs import Priced

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


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("THOUGHTGRAPH_DATA", "THOUGHTGRAPH_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.fixture
def solve(command: Command, model: FakeServer) -> Command:
    def call(*options: str) -> tuple[int, str, str]:
        given = (QUESTION, "--task", "hotpotqa", "--model", model.specifier)
        return command("solve", *given, *options)

    return call


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    file = tmp_path / "pages.jsonl"
    file.write_text(FILES["pages"], encoding="utf-8")
    return file


@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_pages_is_read_by_a_method_with_tools(kind, solve, model, pages):
    pages.write_text(FILES[kind], encoding="utf-8")
    code, out, err = solve("--set", f"corpus={pages}", "--json", "out.json")
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
    assert "paragraphs" not in Path("out.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("said", ["YES", "NO"])
def test_an_answer_that_the_search_itself_rejected_is_shown_as_such(said, solve, model, pages):
    def reply(seen: Seen) -> str:
        if "JUDGMENT:" in seen.prompt:
            return f"THOUGHT: A guess.\nJUDGMENT: {said}"
        return "I guess.\nAction: Finish[Bonn]"

    model.reply = reply
    options = ("extractor=false", "max_answer_checks=1", f"corpus={pages}")
    sets = [part for option in options for part in ("--set", option)]
    code, out, err = solve("--method", "fgdip", *sets)
    assert (code, err) == (0, "")
    assert "\nanswer:   Bonn\n" in out
    rejected = "\njudged:   no, the search itself rejected this answer: A guess.\n"
    assert (rejected in out) == (said == "NO")


def refused(result: tuple[int, str, str], model: FakeServer, *words: str) -> str:
    """The one line that says what to do, before the model was asked."""
    code, _, err = result
    assert (code, err.count("\n"), model.answered) == (2, 1, [])
    for word in words:
        assert word in err
    return err


SOURCES = ["", "community", "wikipedia:de", "http://127.0.0.1:9/api.php"]


@pytest.mark.parametrize("source", few(SOURCES, 2))
def test_without_a_network_the_model_is_not_asked(source, solve, command, model, monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # where nothing listens
    ended = solve("--set", f"corpus={source}")
    err = refused(ended, model, "cannot be reached")
    assert err.startswith("error: http")
    remedy = "check the network; a file of pages can be searched instead (--set corpus=FILE)\n"
    assert err.endswith(remedy)
    assert "resume" not in ended[1]
    refused(command("solve", "--resume", "none"), model, "no run was stopped here")


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
        refused(solve("--set", f"corpus={wiki.url}"), model, remedy)


async def test_a_tool_of_ones_own_works_beside_the_tasks_and_is_paid(pages):
    @tool
    def birthplace(name: str) -> str:
        """Tells where a person was born."""
        return f"{name} was born in Bonn."

    lines = iter(["Who?\nAction 1: birthplace[Beethoven]", "So.\nAction 2: Finish[Bonn]"])
    model = ScriptedChat(reply=lambda call: next(lines))
    graph = tg.build("react", task="hotpotqa", model=model, tools=[Priced(birthplace, cost=2.5)])
    out = await graph.ainvoke({"problem": QUESTION}, context={"corpus": str(pages)})
    assert "birthplace[name]: Tells where a person was born." in model.seen[0].prompt
    assert told(model.seen[1].prompt) == ["Beethoven was born in Bonn."]
    assert (out["answer"], out["usage"]["tool_cost"]) == ("Bonn", 2.5)
