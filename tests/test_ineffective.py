"""Settings that were given and would change nothing are refused; what is usual stays silent."""

from typing import Any

import pytest
from support.scripted import ScriptedChat

import thoughtgraph as tg
from thoughtgraph import registry

CHANGED: dict[str, Any] = {
    "shots": 2,
    "examples": "none",
    "zero_shot": "steps",
    "wording": "chat",
    "layout": "turns",
    "strict_parse": False,
    "exact_steps": True,
    "grammar": True,
    "corpus": "pages.txt",
    "observations": "react",
    "tool_costs": "Search=2",
    "extract_examples": "none",
    "label_examples": "none",
    "verify_examples": "none",
    "estimate_examples": "none",
}
"""A value of each setting that is no default."""
SHOWING = ("shots", "examples", "zero_shot")
PROPOSING = ("shots", "layout", "strict_parse", "exact_steps", "grammar")
PAGES = '{"question": "Where is Milan?", "context": [["Milan", ["Milan is in Italy."]]]}'
"""A problem with pages of its own: no wiki is asked."""
SEARCHING = ("examples", "layout", "corpus", "observations", "tool_costs")
JUDGES = ("extract_examples", "label_examples", "verify_examples")
SWITCHES = ({"extractor": False}, {"step_evaluator": False}, {"answer_evaluator": False})
IGNORED = [
    *(
        (method, task, name)
        for method in ("io", "cot", "cot_sc")
        for task in ("game24", "crosswords", "creative_writing")
        for name in SHOWING
    ),
    *((method, "question", name) for method in ("io", "cot_sc") for name in SHOWING[:2]),
    *(("io", task, "wording") for task in ("game24", "crosswords", "creative_writing")),
    *(("io", task, "zero_shot") for task in ("strategyqa", "hotpotqa", "fever", "question")),
    *(("tot_bfs", "creative_writing", name) for name in PROPOSING),
    *(("tot_dfs", "crosswords", name) for name in PROPOSING),
    *(("tot_bfs", "gsm8k", name) for name in PROPOSING[1:]),
    *(("fgdip", "game24", name) for name in SEARCHING),
    *(("fgdip", "game24", name) for name in JUDGES),
    *(("adaptive", task, "grammar") for task in ("gsm8k", "question")),
]
USED = [
    *(("cot", "gsm8k", name) for name in SHOWING),
    *(("io", "svamp", name) for name in SHOWING),
    *(("cot", task, "zero_shot") for task in ("strategyqa", "hotpotqa", "fever", "question")),
    *(("io", "hotpotqa", name) for name in SHOWING[:2]),
    *(("io", task, "wording") for task in ("svamp", "hotpotqa", "question", "aqua")),
    *(("tot_bfs", "game24", name) for name in PROPOSING),
    *((method, "game24", name) for method in ("rollback", "chain") for name in SHOWING[:2]),
    *(("tomt_os", "ptr", name) for name in ("shots", "layout", "grammar")),
    *(
        (method, "hotpotqa", name)
        for method in ("react", "itot_dfs", "fgdip")
        for name in ("grammar", "layout")
    ),
    ("fgdip", "game24", "grammar"),
    *(("fgdip", "hotpotqa", name) for name in JUDGES),
    ("itot_a_star", "hotpotqa", "estimate_examples"),
]


async def search(method: str, task: str, context: dict[str, Any]) -> ScriptedChat:
    """Starts a search that may ask nothing; returns its model."""
    model = ScriptedChat(reply=lambda call: "x")
    graph = tg.build(method, task=task, model=tg.ChatPort(model, takes_grammar=True))
    given = {"problem": PAGES if task == "hotpotqa" else registry.TASKS[task].example}
    await graph.ainvoke(given, context={**context, "limit_requests": 0})
    return model


@pytest.mark.parametrize(("method", "task", "name"), IGNORED)
async def test_a_setting_that_changes_nothing_is_refused(method: str, task: str, name: str) -> None:
    words = f"'{name}' would change nothing: method '{method}' on task '{task}' .* leave it out"
    with pytest.raises(tg.SettingError, match=words) as refused:
        await search(method, task, {name: CHANGED[name]})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("method", "task", "name"), USED)
async def test_a_setting_that_changes_something_is_taken(method: str, task: str, name: str) -> None:
    await search(method, task, {name: CHANGED[name]})


@pytest.mark.parametrize(("name", "off"), [*zip(JUDGES, SWITCHES, strict=True)])
async def test_examples_of_a_judge_that_is_not_asked_are_refused(
    name: str, off: dict[str, Any]
) -> None:
    with pytest.raises(tg.SettingError, match=f"'{name}' would change nothing"):
        await search("fgdip", "hotpotqa", {name: "none", **off})
    exact = {"verify_examples": "none", "exact_check": True}
    with pytest.raises(tg.SettingError, match="'verify_examples' would change nothing"):
        await search("fgdip", "game24", exact)


async def test_what_is_usual_anyway_stays_silent() -> None:
    usual = {"shots": 0, "examples": "", "zero_shot": "strategy"}
    await search("io", "game24", usual)
    await search("tot_bfs", "creative_writing", {"layout": "text", "repo_compat": True})
    await search("tot_bfs", "game24", {"shots": 1})


async def test_one_line_names_all_of_them() -> None:
    with pytest.raises(tg.SettingError, match=r"'examples' and 'shots' would .* leave them out"):
        await search("cot_sc", "game24", {"shots": 3, "examples": "own"})
