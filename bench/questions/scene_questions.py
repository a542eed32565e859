"""Generates questions about scenes offline: drawn, checked, balanced, each with its gold plan.

Every question meets all constraints (ours): references are unique and distinct, relations matter,
the gold plan passes the strict evaluator and gives the same answer as set logic, the answer changes
or is lost without any of its relations, and no answer is too frequent.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from thoughtgraph.bench.questions.draft_builder import QuestionDraft
from thoughtgraph.bench.questions.gold_answers import (
    NotUnique,
    answer,
    referents,
)
from thoughtgraph.bench.questions.gold_plans import gold_plan
from thoughtgraph.bench.questions.question_types import Type, draft
from thoughtgraph.bench.questions.random_scenes import random_scene
from thoughtgraph.errors import InputError
from thoughtgraph.tasks.scenes.plan_evaluator import Rules, judge
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.vocabulary import Style

MOST_TRIES = 50_000
"""Fruitless draws in a row after which generation gives up; a question takes 2 to 60 (ours)."""

_RULES = Rules()
_SHARES = {"ptr": 1.5, "clevr": 5.0}


class SceneQuestion(NamedTuple):
    """A question on a scene with its gold plan and answer."""

    id: str
    """Style, type, seed and number."""
    style: Style
    type: Type
    scene: Mapping[str, Any]
    """The scene in the ToMT format."""
    question: str
    answer: str
    """The gold answer: yes or no, digits, or a lower-case word."""
    plan: tuple[str, ...]
    """The lines of the gold plan, without line numbers."""

    @property
    def hop(self) -> int:
        """The number of steps of the plan."""
        return len(self.plan)

    def problem(self) -> str:
        """Returns the problem as JSON text: scene, question and type, without answer and plan."""
        return json.dumps({"scene": self.scene, "question": self.question, "type": self.type})


def generate(style: Style, kind: Type, count: int, seed: int) -> list[SceneQuestion]:
    """Returns questions of one type, each on a scene of its own.

    The same arguments give the same questions; a smaller count gives the first of them.

    Args:
        style: The style of scenes and texts.
        kind: The question type.
        count: Number of questions.
        seed: Seed of the draws; any number.

    Raises:
        InputError: `MOST_TRIES` draws in a row gave no further question.
    """
    rng = Random(f"{style} {kind} {seed}")
    counts: Counter[str] = Counter()
    questions: list[SceneQuestion] = []
    tries = 0
    while len(questions) < count:
        tries += 1
        if tries > MOST_TRIES:
            raise InputError(f"no {count} {kind} questions in {style} style from seed {seed}")
        scene = random_scene(style, rng)
        candidate = draft(kind, scene, rng)
        gold = candidate and checked_answer(scene, candidate)
        if not candidate or not gold or is_overused(counts, gold, style):
            continue
        counts[gold] += 1
        tries = 0
        plan = gold_plan(candidate.references, candidate.wanted)
        name = f"{style}-{kind}-{seed}-{len(questions):04d}"
        fields = (name, style, kind, scene.to_json(), candidate.question, gold, plan)
        questions.append(SceneQuestion(*fields))
    return questions


def is_overused(count_of: Mapping[str, int], gold: str, style: Style) -> bool:
    """Returns whether one more question with this answer would upset the balance.

    This is the rule of CLEVR's generator with PTR's share. An answer is overused while it is more
    than 1.1 times as frequent as the second most frequent one, or more than 1.5 (PTR) or 5 (CLEVR)
    times as frequent as the median answer, whose count is taken as at least 5. A rare answer is
    overused, too, while it would lower the median so far that another answer exceeds its limit.
    """
    counts = sorted(count_of.values())
    second = counts[-2] if len(counts) > 1 else 0
    own_count = count_of.get(gold, 0)
    if own_count > 1.1 * second or own_count > _most_allowed(counts, style):
        return True
    after = sorted({**count_of, gold: own_count + 1}.values())
    return after[-1] > _most_allowed(after, style) + 1


def _most_allowed(counts: Sequence[int], style: Style) -> float:
    middle = counts[len(counts) // 2] if counts else 0
    return _SHARES[style] * max(5, middle)


def checked_answer(scene: Scene, candidate: QuestionDraft) -> str | None:
    """Returns the answer of a draft that meets every constraint; else None."""
    try:
        gold = answer(scene, candidate.references, candidate.wanted)
    except (NotUnique, ValueError):
        return None
    sound = (
        not (gold.isdigit() and int(gold) > 9)
        and _distinct(scene, candidate)
        and _plan_answers(scene, candidate, gold)
        and all(_changes_answer(scene, without, gold) for without in _without_a_relation(candidate))
    )
    return gold if sound else None


def _distinct(scene: Scene, candidate: QuestionDraft) -> bool:
    """Returns whether all references that must mean one object mean different objects."""
    single = {other for each in candidate.references for _, other in each.links}
    single |= {other for each in candidate.references for other in each.like or ()}
    single |= {ask.of for ask in candidate.wanted.asks if ask.kind not in ("count", "exist")}
    objects = [referents(scene, candidate.references, at) for at in sorted(single)]
    return len(set(objects)) == len(objects)


def _plan_answers(scene: Scene, candidate: QuestionDraft, gold: str) -> bool:
    plan = gold_plan(candidate.references, candidate.wanted)
    return judge(scene, None, plan, _RULES).answer == gold


def _without_a_relation(candidate: QuestionDraft) -> Iterator[QuestionDraft]:
    """Yields the draft without one relation, for each relation that could matter.

    The outermost relation of an "exist" question stays: without it there are more objects, so "yes"
    never becomes "no", and only questions that are answered "no" would pass the check.
    """
    (first, *_) = candidate.wanted.asks
    for at, each in enumerate(candidate.references):
        if first.kind == "exist" and at == first.of:
            continue
        variants = [
            replace(each, links=each.links[:k] + each.links[k + 1 :])
            for k in range(len(each.links))
        ]
        if each.like:
            variants.append(replace(each, like=None))
        for variant in variants:
            references = (*candidate.references[:at], variant, *candidate.references[at + 1 :])
            yield candidate._replace(references=references)


def _changes_answer(scene: Scene, without: QuestionDraft, gold: str) -> bool:
    try:
        return answer(scene, without.references, without.wanted) != gold
    except (NotUnique, ValueError):
        return True
