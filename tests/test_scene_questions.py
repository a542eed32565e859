"""Questions made offline: they have the packaged examples' words, and set logic agrees."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from thoughtgraph.bench.questions import plan_mutations
from thoughtgraph.bench.questions.gold_answers import (
    Group,
    Reference,
    answer,
)
from thoughtgraph.bench.questions.packaged_questions import examples
from thoughtgraph.bench.questions.question_types import TYPES, Type
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge
from thoughtgraph.tasks.scenes.question_reading import read
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.vocabulary import Style

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


def references(question: SceneQuestion) -> tuple[Reference, ...]:
    def tuples(value: Any) -> Any:
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    plain = [{key: tuples(value) for key, value in each.items()} for each in question.references]
    return tuple(Reference(**{**p, "group": p["group"] and Group(*p["group"])}) for p in plain)


@every
def test_gold_plans_pass_both_profiles_and_set_logic_agrees(style: Style, kind: Type) -> None:
    questions = made(style, kind)
    for question in questions:
        scene = Scene.from_json(question.scene)
        for profile in ("paper", "grounded"):
            rules = Rules(profile=profile)  # type: ignore[arg-type]
            judged = judge(question.question, scene, None, question.plan, rules)
            assert (judged.answer, judged.reason) == (question.answer, ""), question.question
        assert answer(scene, references(question), question.asked) == question.answer
        assert read(question.question, style).exact
        assert question.hop == len(question.plan)
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


@pytest.mark.ci
@pytest.mark.parametrize("style", STYLES)
def test_grounded_rejects_far_more_faults_than_paper(style: Style) -> None:
    questions = [question for kind in TYPES for question in made(style, kind)[:15]]
    paper = plan_mutations.rates(questions, Rules(profile="paper"))
    grounded = plan_mutations.rates(questions, Rules(profile="grounded"))
    for kind, rate in paper.items():
        assert grounded[kind].rejected >= rate.rejected
    assert grounded["all"].rejected > 0.98
    assert paper["all"].rejected < 0.8
    free = [replace(q, question=f"please tell: {q.question}") for q in questions]
    words = plan_mutations.rates(free, Rules(profile="grounded"))
    assert paper["all"].rejected + 0.05 < words["all"].rejected < grounded["all"].rejected
