"""The offline corpus against real questions: whatever HotpotQA asks can be found with the tools."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.pools import few

from thoughtgraph.acting import Toolbox, ToolResult
from thoughtgraph.tools.wiki.pages import one_line
from thoughtgraph.tools.wiki.sources import toolbox

VARIABLE = "THOUGHTGRAPH_WIKI"
FOLDER = Path(os.environ.get(VARIABLE, ""))
pytestmark = pytest.mark.skipif(
    VARIABLE not in os.environ,
    reason=f"{VARIABLE} names no folder with an offline corpus and HotpotQA questions",
)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("THOUGHTGRAPH_CACHE", str(tmp_path_factory.getbasetemp() / "wiki_offline"))


def questions(level: str) -> list[dict[str, Any]]:
    file = FOLDER / f"hotpotqa_{level}_100.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


async def act(tools: Toolbox, action: str, state: Any) -> ToolResult:
    parsed = tools.parse(action)
    assert parsed is not None, action
    return await tools.call(*parsed, state)


async def check(tools: Toolbox, question: dict[str, Any]) -> None:
    """Opens every page that the question's authors used, looks the answer up, and gives it."""
    answer = one_line(question["answer"])
    titles = dict.fromkeys(title for title, _ in question["supporting_facts"])
    state: Any = None
    seen = answer in ("yes", "no")
    for title in titles:
        opened = await act(tools, f"Search[{title}]", state)
        assert not opened.failed, f"{title}: {opened.observation}"
        state, seen = opened.state, seen or answer in opened.observation
        if not seen:
            looked = await act(tools, f"Lookup[{answer}]", state)
            state = looked.state
            seen = not looked.failed and answer.casefold() in looked.observation.casefold()
    assert seen, f"{answer!r} is on none of {list(titles)}"
    done = await act(tools, f"Finish[{answer}]", state)
    assert done.answer == answer


@pytest.mark.parametrize("level", few(["easy", "medium", "hard"], 1))
async def test_every_question_can_be_answered_with_the_tools(level: str) -> None:
    tools = toolbox(str(FOLDER / "offline_wiki.jsonl"))
    asked = questions(level)
    assert len(asked) == 100
    for question in asked:
        await check(tools, question)


async def test_the_paragraphs_of_one_question_are_a_corpus_too(tmp_path: Path) -> None:
    file = tmp_path / "question.jsonl"
    question = questions("hard")[0]
    file.write_text(json.dumps(question), encoding="utf-8")
    await check(toolbox(str(file)), question)
