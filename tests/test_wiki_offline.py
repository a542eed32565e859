"""The offline corpus against real questions: whatever HotpotQA asks can be found with the tools."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph.acting import Toolbox, ToolResult
from thoughtgraph.tools.wiki.pages import one_line
from thoughtgraph.tools.wiki.sources import toolbox

VARIABLE = "THOUGHTGRAPH_WIKI"
FOLDER = os.environ.get(VARIABLE)
pytestmark = pytest.mark.skipif(
    not FOLDER, reason=f"{VARIABLE} names no folder with an offline corpus and HotpotQA questions"
)
LEVELS = ("easy", "medium", "hard")


def questions(level: str) -> list[dict[str, Any]]:
    file = Path(FOLDER or "", f"hotpotqa_{level}_100.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path_factory.mktemp("cache")))
        return toolbox(str(Path(FOLDER or "", "offline_wiki.jsonl")))


async def act(tools: Toolbox, action: str, state: Any) -> ToolResult:
    parsed = tools.parse(action)
    assert parsed is not None, action
    return await tools.call(*parsed, state)


async def gold_policy(tools: Toolbox, question: dict[str, Any]) -> ToolResult:
    """Opens every page that the question's authors used, looks the answer up, and gives it."""
    answer = one_line(question["answer"])
    titles = dict.fromkeys(title for title, _ in question["supporting_facts"])
    state: Any = None
    seen = answer in ("yes", "no")
    for title in titles:
        opened = await act(tools, f"Search[{title}]", state)
        assert not opened.failed, f"{title}: {opened.observation}"
        state = opened.state
        if not seen and answer not in opened.observation:
            looked = await act(tools, f"Lookup[{answer}]", state)
            state = looked.state
            seen = not looked.failed and answer.casefold() in looked.observation.casefold()
        else:
            seen = True
    assert seen, f"{answer!r} is on none of {list(titles)}"
    return await act(tools, f"Finish[{answer}]", state)


@pytest.mark.parametrize("level", LEVELS)
async def test_every_question_can_be_answered_with_the_tools(tools, level):
    asked = questions(level)
    assert len(asked) == 100
    for question in asked:
        done = await gold_policy(tools, question)
        assert done.answer == one_line(question["answer"])


async def test_the_paragraphs_of_one_question_are_a_corpus_too(tmp_path, monkeypatch):
    monkeypatch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path / "cache"))
    question = questions("hard")[0]
    file = tmp_path / "question.jsonl"
    file.write_text(json.dumps(question), encoding="utf-8")
    done = await gold_policy(toolbox(str(file)), question)
    assert done.answer == one_line(question["answer"])
