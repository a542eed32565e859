"""Settings that were given and would change nothing are refused; what is usual stays silent."""

from typing import Any

import pytest
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry

CHANGED: dict[str, Any] = {
    **{"shots": 2, "zero_shot": "steps", "wording": "chat", "layout": "turns"},
    **{"strict_parse": False, "exact_steps": True, "grammar": True},
    **{"corpus": "pages.txt", "observations": "react", "tool_costs": "Search=2"},
    "examples": "none",
}
"""A value of each setting that is no default."""
PAGES = '{"question": "Where is Milan?", "context": [["Milan", ["Milan is in Italy."]]]}'
"""A problem with pages of its own: no wiki is asked."""
USED = [
    *((method, "gsm8k", name) for method in ("io", "cot") for name in ("shots", "examples")),
    *(("cot", task, "zero_shot") for task in ("strategyqa", "hotpotqa", "fever", "question")),
    *(("io", task, "wording") for task in ("svamp", "hotpotqa", "question", "aqua")),
    *(("tot_bfs", "game24", name) for name in ("shots", "layout", "strict_parse", "exact_steps")),
    *((method, "game24", "shots") for method in ("rollback", "chain")),
    *(("tomt_os", "ptr", name) for name in ("shots", "layout", "grammar")),
    *((method, "hotpotqa", "layout") for method in ("react", "itot_dfs", "fgdip")),
    ("fgdip", "game24", "grammar"),
]


async def search(method: str, task: str, context: dict[str, Any]) -> None:
    """Starts a search that may ask nothing."""
    model = ScriptedChat(reply=lambda call: "x")
    graph = tg.build(method, task=task, model=tg.ChatPort(model, takes_grammar=True))
    given = {"problem": PAGES if task == "hotpotqa" else registry.TASKS[task].example}
    await graph.ainvoke(given, context={**context, "limit_requests": 0})


@pytest.mark.parametrize("name", ["corpus", "observations", "tool_costs"])
async def test_a_setting_that_changes_nothing_is_refused(name: str) -> None:
    words = f"'{name}' would change nothing: method 'fgdip' on task 'game24' .* leave it out"
    with pytest.raises(tg.SettingError, match=words) as refused:
        await search("fgdip", "game24", {name: CHANGED[name]})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("method", "task", "name"), USED)
async def test_a_setting_that_changes_something_is_taken(method: str, task: str, name: str) -> None:
    await search(method, task, {name: CHANGED[name]})


async def test_several_are_named_together_and_what_is_usual_anyway_stays_silent() -> None:
    with pytest.raises(tg.SettingError, match=r"'corpus' and 'tool_costs' would .* leave them out"):
        await search("fgdip", "game24", {"tool_costs": "Search=2", "corpus": "pages.txt"})
    await search("fgdip", "game24", {"corpus": "", "tool_costs": ""})
