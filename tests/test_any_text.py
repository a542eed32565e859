"""No text of a model raises, whatever it is asked for: P3 of the design."""

from typing import Any

import pytest
from support.letters import HOSTILE, run
from support.pools import few
from support.stepping import STEPPING

BOARD = "\n".join("abcdefghij")
SENTENCES = "It was late. He sat. She ran. Nobody cared."
EVERYTHING = {**HOSTILE, "number": "9" * 50_000, "steps": "Step 1:" * 50_000, "json": '{"a": 1}'}
ENDS: dict[str, list[tuple[Any, str, dict[str, Any], str]]] = {
    "tot_dfs": [("crosswords", BOARD, {"max_records": 3}, "")],
    "chain": [(STEPPING, "x", {"steps": 2}, "step_limit")],
    "level_tot": [(STEPPING, "x", {"steps": 2}, "step_limit")],
    "rollback": [(STEPPING, "x", {"steps": 3, "parallel": at}, "") for at in (True, False)],
    "cot": [
        (task, problem, {"n_generate": 2}, "finished")
        for task, problem in (
            ("gsm8k", "?"),
            ("strategyqa", "?"),
            ("question", "?"),
            ("creative_writing", SENTENCES),
        )
    ],
}
"""Tasks, problems and settings of a method, and why it ends when it can read nothing."""


@pytest.mark.parametrize("name", few(EVERYTHING, 4))
@pytest.mark.parametrize("method", ENDS)
async def test_no_text_of_a_model_raises(method: str, name: str) -> None:
    text = EVERYTHING[name]
    for task, problem, context, reason in ENDS[method]:
        out, _ = await run(method, task, lambda call: text, problem, **context)
        assert out["stop_reason"] and reason in ("", out["stop_reason"]), "P3"
        unread = out["usage"].get("parse_errors", {})
        if method == "rollback":
            # Nothing is to be read out of an empty analysis, so nobody is asked to.
            role = "extract_index" if text.strip() else "analyse"
            assert unread[role] == out["usage"]["analyses"]
