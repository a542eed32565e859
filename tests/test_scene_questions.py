"""Questions made offline: every constraint on them, and set logic's agreement."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest
from support.rooms import ROOM

from thoughtgraph.bench.questions import plan_mutations
from thoughtgraph.bench.questions.gold_answers import (
    Ask,
    Asked,
    Group,
    NotUnique,
    Reference,
    answer,
)
from thoughtgraph.bench.questions.question_types import TYPES, Type
from thoughtgraph.bench.questions.random_scenes import random_scene
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


@every
def test_answers_are_balanced_and_hops_about_the_papers(style: Style, kind: Type) -> None:
    counts = sorted(Counter(question.answer for question in made(style, kind)).values())
    share = 1.5 if style == "ptr" else 5
    assert counts[-1] <= 1.1 * counts[-2] + 1
    assert counts[-1] <= share * max(5, counts[len(counts) // 2]) + 1
    assert all(not q.answer.isdigit() or int(q.answer) < 10 for q in made(style, kind))
    assert abs(sum(question.hop for question in made(style, kind)) / COUNT - HOPS[kind]) < 1.2


@pytest.mark.parametrize("style", STYLES)
def test_the_same_seed_gives_the_same_questions_and_a_part_of_them(style: Style) -> None:
    assert generate(style, "count", 12, 5) == generate(style, "count", 30, 5)[:12]
    assert generate(style, "count", 12, 5) != generate(style, "count", 12, 6)


def test_set_logic_by_hand() -> None:
    table = Reference("table", group=Group(6, "red", "drawer"))
    right = Reference(links=(("right", 0),))
    same = Reference(same=("number", "leg", 2))
    chair = Reference("chair")
    refs = (table, right, chair, same, Reference(like=(2, 0, 0)))
    asks = {
        **{Ask("number", 0, "leg"): "6", Ask("count", 1): "2", Ask("exist", 4): "yes"},
        **{Ask("color", 3, "leg"): "cyan", Ask("part", 0, "green"): "top"},
    }
    for ask, gold in asks.items():
        assert answer(ROOM, refs, Asked(None, (ask,))) == gold
    legs = (Ask("number", 0, "leg"), Ask("number", 2, "leg"))
    for join, gold in {"sum": "10", "more": "yes", "fewer": "no", "more_by": "2"}.items():
        assert answer(ROOM, refs, Asked(join, legs)) == gold
    with pytest.raises(ValueError):
        answer(ROOM, refs, Asked("fewer_by", legs))
    with pytest.raises(NotUnique):
        answer(ROOM, refs, Asked(None, (Ask("category", 1),)))


@pytest.mark.parametrize("style", STYLES)
def test_relations_are_those_of_the_positions(style: Style) -> None:
    for seed in range(20):
        scene = random_scene(style, Random(seed))
        places = [each.position or (0, 0) for each in scene.objects]
        for at, row in enumerate(scene.relationships["left"]):
            assert all(places[other][0] < places[at][0] for other in row)
            for other in range(len(places)):
                assert (other in row) == (at in scene.relationships["right"][other])
        assert len(scene.objects) in (range(3, 7) if style == "ptr" else range(3, 11))


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
