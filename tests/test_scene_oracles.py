"""Gold plans of public questions run to the official answers, but for those that find nothing.

`THOUGHTGRAPH_SCENE_ORACLES` names a folder with question files, packed JSON, and scenes beside them
or inside. With `strict`, a filter that leaves nothing is an error: so is then a plan whose answer
is 0 or no, or one of whose two numbers that are compared is 0.
"""

import os
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph.bench.scene_data import GoldQuestion, load_questions
from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge
from thoughtgraph.tasks.scenes.question_reading import read

FOLDER = os.environ.get("THOUGHTGRAPH_SCENE_ORACLES")
PATTERNS = ("*questions*.json.gz", "*oracle*.json.gz", "*generated*.json.gz")
FILES = sorted({each for name in PATTERNS for each in Path(FOLDER or "/nowhere").glob(name)})
EXPECTED = {
    ("clevr_val_questions_0-999", "strict"): 293,
    ("clevr_generated_on_val_scenes_200-349", "strict"): 1034,
    ("ptr_real_scene_questions", "strict"): 1275,
    ("clevr_val_questions_0-999", "lazy"): 331,
    ("clevr_generated_on_val_scenes_200-349", "lazy"): 1194,
    ("ptr_real_scene_questions", "lazy"): 1280,
}
"""How many plans that the files give must come out right (the files whose number we know)."""

LAZY = Rules(profile="paper", empty="lazy")
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
    paper, grounded = (Rules(profile, empty=policy) for profile in ("paper", "grounded"))
    right: Counter[bool] = Counter()
    for question in questions(file):
        plan = question.plan or ()
        judged = judge(question.question, question.scene, None, plan, paper)
        good = judged.answer == question.answer
        finds_nothing = question.answer in ("0", "no") or COMPARING & {*question.program}
        explained = policy == "strict" and judged.code == "E_EMPTY" and finds_nothing
        assert good or explained, (question.id, judged.reason)
        right[good] += question.given
        if policy == "lazy" and judged.accepted:
            strict = judge(question.question, question.scene, None, plan, grounded)
            assert (strict.answer, strict.reason) == (judged.answer, ""), question.id
    expected = EXPECTED.get((file.name.partition(".")[0], policy))
    assert expected in (None, right[True])
    assert right[True] > 0.8 * right.total()


@each_file
def test_questions_with_plans_are_read_and_programs_become_the_plans(file: Path) -> None:
    def plain(plan: tuple[str, ...] | None) -> list[str]:
        return [line.replace(" ", "") for line in plan or ()]

    for question in questions(file):
        assert read(question.question, question.scene.style).exact, question.question
    given = [each for each in questions(file) if each.given and each.converted]
    unlike = [each for each in given if plain(each.plan) != plain(each.converted)]
    assert len(unlike) <= 0.05 * len(given)
    for question in unlike:
        one, other = (
            judge("", question.scene, None, plan or (), LAZY).answer
            for plan in (question.plan, question.converted)
        )
        assert one == other, question.id
