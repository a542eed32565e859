"""Scene questions, and the evaluator of plans beside public oracles."""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.rooms import ROOM

from thoughtgraph.bench.questions.packaged_questions import examples
from thoughtgraph.bench.questions.question_types import TYPES, Type
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.bench.scene_data import GoldQuestion, load_questions
from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge
from thoughtgraph.tasks.scenes.plan_language import SOURCE, parse, steps_of
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.scene_tools import TOOLS
from thoughtgraph.tools.scenes.values import PlanError
from thoughtgraph.tools.scenes.vocabulary import Style

FOLDER = os.environ.get("THOUGHTGRAPH_SCENE_ORACLES")
PATTERNS = ("*questions*.json.gz", "*oracle*.json.gz", "*generated*.json.gz")
FILES = sorted({each for name in PATTERNS for each in Path(FOLDER or "/nowhere").glob(name)})
EXPECTED = {
    "clevr_val_questions_0-999": {"strict": 293, "lazy": 331},
    "clevr_generated_on_val_scenes_200-349": {"strict": 1034, "lazy": 1194},
    "ptr_real_scene_questions": {"strict": 1275, "lazy": 1280},
}
"""How many plans that the files give must come out right (the files whose number we know)."""

COMPARING = {"greater_than", "less_than", "equal_integer"}

NONE = pytest.param(
    Path("none"), marks=pytest.mark.skip(reason="THOUGHTGRAPH_SCENE_ORACLES holds no questions")
)
each_file = pytest.mark.parametrize(
    "file", FILES or [NONE], ids=lambda path: path.name.partition(".")[0]
)


@cache
def questions(file: Path) -> list[GoldQuestion]:
    found = load_questions(file)
    assert found
    return [question for question in found if question.plan]


@pytest.mark.ci
@each_file
@pytest.mark.parametrize("policy", ["strict", "lazy"])
def test_gold_plans_run_to_the_official_answer(file: Path, policy: Any) -> None:
    right: Counter[bool] = Counter()
    for question in questions(file):
        plan = question.plan or ()
        judged = judge(question.scene, None, plan, Rules(empty=policy))
        good = judged.answer == question.answer
        finds_nothing = question.answer in ("0", "no") or COMPARING & {*question.program}
        explained = policy == "strict" and judged.code == "E_EMPTY" and finds_nothing
        assert good or explained, (question.id, judged.reason)
        right[good] += 1
    expected = EXPECTED.get(file.name.partition(".")[0], {})
    assert expected.get(policy) in (None, right[True])
    assert right[True] > 0.8 * right.total()


FUZZ = os.environ.get("THOUGHTGRAPH_PLAN_FUZZ")
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


@pytest.mark.skipif(not FUZZ, reason="THOUGHTGRAPH_PLAN_FUZZ names no folder")
def test_every_line_of_the_corpus_gets_its_verdict() -> None:
    files = Path(FUZZ or ".").glob("fuzz_plan_lines*.jsonl")
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
            judged = judge(ROOM, None, steps, Rules())
        assert seen == []
        assert code == "OK" or not judged.accepted or len(steps) != 1
        assert "\n" not in judged.reason
        json.dumps(judged.tool_state)


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


COUNT = 120
HOPS: dict[Type, float] = {
    **{"short": 4.1, "sum": 5.6, "compare": 5.9, "query_part": 5.0, "exist": 5.6, "count": 5.9},
    **{"analogy": 6.7, "logic": 7.2, "long": 8.3},
}
"""Steps of a plan in the paper, on average."""


@cache
def made(style: Style, kind: Type) -> list[SceneQuestion]:
    return generate(style, kind, COUNT, 11)


STYLES: tuple[Style, ...] = ("ptr", "clevr")
every = pytest.mark.parametrize(
    ("style", "kind"),
    [
        pytest.param(style, kind, marks=() if kind in ("count", "logic") else pytest.mark.ci)
        for style in STYLES
        for kind in TYPES
    ],
)


@every
def test_gold_plans_answer_right(style: Style, kind: Type) -> None:
    questions = made(style, kind)
    for question in questions:
        scene = Scene.from_json(question.scene)
        judged = judge(scene, None, question.plan, Rules())
        assert (judged.answer, judged.reason) == (question.answer, ""), question.question
        assert set(json.loads(question.problem())) == {"scene", "question", "type"}
        assert set(question.scene) <= {"relationships", "objects", "positions"}
    assert len({q.id for q in questions}) == len({json.dumps(q.scene) for q in questions}) == COUNT
    packaged = Path(__file__).parents[1] / "prompts" / "plans" / f"{style}_{kind}.json"
    assert packaged.read_text(encoding="utf-8") == examples(style, kind)


@every
def test_answers_are_balanced_and_hops_about_the_papers(style: Style, kind: Type) -> None:
    counts = sorted(Counter(question.answer for question in made(style, kind)).values())
    share = 1.5 if style == "ptr" else 5
    assert counts[-1] <= 1.1 * counts[-2] + 1
    assert counts[-1] <= share * max(5, counts[len(counts) // 2]) + 1
    assert all(not q.answer.isdigit() or int(q.answer) < 10 for q in made(style, kind))
    assert abs(sum(question.hop for question in made(style, kind)) / COUNT - HOPS[kind]) < 1.2
