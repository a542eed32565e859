"""Hostile plan lines: every one gets a verdict, none reaches anything but the parser.

`THOUGHTGRAPH_PLAN_FUZZ` names a folder with `fuzz_plan_lines*.jsonl`, lines with the static verdict
each must get.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.rooms import ROOM

from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge
from thoughtgraph.tasks.scenes.plan_language import SOURCE, parse, steps_of
from thoughtgraph.tools.scenes.scene_tools import TOOLS
from thoughtgraph.tools.scenes.values import PlanError

FOLDER = os.environ.get("THOUGHTGRAPH_PLAN_FUZZ")
QUESTION = "how many legs does the table with drawers have?"
FORBIDDEN = {"exec", "open", "import", "os.system", "subprocess.Popen", "socket.connect"}
_watching = False
_seen: list[str] = []


def _audit(event: str, details: Any) -> None:
    # Python's parser looks for the file "<plan>" to quote a line that is wrong.
    if _watching and event in FORBIDDEN and details[:1] != (SOURCE,):
        _seen.append(event)


sys.addaudithook(_audit)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Collects what the interpreter opens, imports or executes meanwhile."""
    global _watching
    _seen.clear()
    _watching = True
    try:
        yield _seen
    finally:
        _watching = False


def verdict(line: str) -> str:
    try:
        parse(line)
    except PlanError as error:
        assert "\n" not in str(error)
        return error.code
    return "OK"


@pytest.mark.skipif(not FOLDER, reason="THOUGHTGRAPH_PLAN_FUZZ names no folder")
def test_every_line_of_the_corpus_gets_its_verdict() -> None:
    files = Path(FOLDER or ".").glob("fuzz_plan_lines*.jsonl")
    entries = [json.loads(row) for file in files for row in file.read_text("utf-8").splitlines()]
    assert entries
    for entry in entries:
        line, expected = entry["line"], entry["static_verdict"]
        if isinstance(line, dict):  # a long line, told by its beginning
            start = line["repeat_of"]
            line = start + start[-1] * (line["length"] - len(start))
        if expected == "NONE":
            assert steps_of(line) == []
        else:
            assert verdict(line) == expected, line[:80]


names = st.sampled_from([*TOOLS, "ans", "obj1", "all_obj", "num1", "eval", "__import__", "open"])
values = st.one_of(
    names,
    st.sampled_from(['"table"', "'leg'", "3", "-1", "1e308", "10**10**10", "[]", "{}", "..."]),
    st.sampled_from(["None", "__builtins__", "(x for x in y)", "f'{ans}'", "lambda: 0", "*a"]),
    st.text(max_size=12),
    st.text("([{}])'\"\\=,.:;#`\u200b\u202e\uff08\x00 \t", max_size=10),
)
calls = st.builds(
    lambda target, tool, given: f"{target} = {tool}({', '.join(given)})",
    *(names, names, st.lists(values, max_size=4)),
)
lines = st.one_of(
    calls,
    st.builds(lambda a, b, c: f"{a}{b}{c}", values, calls, values),
    st.builds("Step {}: {}".format, st.integers(0, 99), calls),
    st.builds(lambda a, n: a * n, values, st.integers(0, 60)),
    st.text(max_size=80),
)
CHECKS = (HealthCheck.too_slow, HealthCheck.large_base_example, HealthCheck.data_too_large)


def check(many: list[str]) -> None:
    for line in many:
        steps = steps_of(line)
        with watched() as seen:
            code = verdict(line)
            ruled = [judge(QUESTION, ROOM, None, steps, Rules(p)) for p in ("paper", "grounded")]
        assert seen == []
        for judged in ruled:
            assert code == "OK" or not judged.accepted or len(steps) != 1
            assert "\n" not in judged.reason
            json.dumps(judged.state)


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(100, marks=pytest.mark.ci, id="2_000"),
        pytest.param(5_000, marks=pytest.mark.slow, id="100_000"),
    ],
)
def test_no_line_does_anything_but_be_refused(count: int) -> None:
    many = given(st.lists(lines, min_size=20, max_size=20))
    fuzz = settings(deadline=None, suppress_health_check=CHECKS, database=None, max_examples=count)
    fuzz(many(check))()
