"""How much of ours runs before a first request is sent: what a newcomer reads to follow one."""

import asyncio
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from support.searches import CASES, built

import thoughtgraph
from thoughtgraph.registry import METHODS

PACKAGE = str(Path(thoughtgraph.__file__).parent)
MOST_FUNCTIONS, MOST_FILES = 100, 35
INFORMED = ("itot_a_star", "itot_d_star_lite", "itot_best_first", "itot_dfs")
LONGER = {"tot_dfs": 101, "adaptive": 105, "rollback": 115, **dict.fromkeys(INFORMED, 115)}
"""Methods that choose what to ask about first: two of them run a line of their box before."""
SCRIPTED = "scripted.py"
"""The model of the test."""


class Sent(Exception):
    """The request is about to leave."""


@pytest.mark.parametrize("method", METHODS)
def test_few_functions_run_before_a_first_request(method: str) -> None:
    case, seen = CASES[method], set[tuple[str, str]]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        ours = code.co_filename.startswith(PACKAGE) and not code.co_filename.endswith(SCRIPTED)
        if event == "call" and ours and not code.co_qualname.endswith(">"):
            seen.add((code.co_filename, code.co_qualname))

    def send(call: Any) -> Any:
        sys.setprofile(None)
        raise Sent

    built(case, method)
    sys.setprofile(note)
    try:
        graph, model = built(case, method, checkpointer=None)
        model.reply = send
        asyncio.run(graph.ainvoke({"problem": case.problem}))
    except Sent:
        pass
    finally:
        sys.setprofile(None)
    assert len(seen) <= LONGER.get(method, MOST_FUNCTIONS)
    assert len({file for file, _ in seen}) <= MOST_FILES
