"""Questions about scenes, made offline: drawn, checked, balanced, each with its gold plan.

Nothing is kept that does not meet every constraint (ours): references are unique and distinct,
relations matter, the gold plan passes the strict evaluator and gives the answer that set logic
gives, the question cannot be answered with a relation left out, and no answer is given too often.
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
"""Draws without a question after which generation gives up; a question takes 2 to 60 (ours)."""

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
    """The gold answer: yes or no, digits, a lower-case word."""
    plan: tuple[str, ...]
    """The gold plan's lines, without numbers."""

    @property
    def hop(self) -> int:
        """The number of the plan's steps."""
        return len(self.plan)

    def problem(self) -> str:
        """Returns the problem as JSON text: scene, question, type; nothing of the gold."""
        return json.dumps({"scene": self.scene, "question": self.question, "type": self.type})


def generate(style: Style, kind: Type, count: int, seed: int) -> list[SceneQuestion]:
    """Returns questions of one type, each on a scene of its own.

    The same arguments give the same questions; a smaller count gives the first of them.

    Args:
        style: The style of scenes and texts.
        kind: The question type.
        count: How many questions.
        seed: Any number.

    Raises:
        InputError: No further question was found in `MOST_TRIES` draws.
    """
    rng = Random(f"{style} {kind} {seed}")
    golds: Counter[str] = Counter()
    questions: list[SceneQuestion] = []
    tries = 0
    while len(questions) < count:
        tries += 1
        if tries > MOST_TRIES:
            raise InputError(f"no {count} {kind} questions in {style} style from seed {seed}")
        scene = random_scene(style, rng)
        made = draft(kind, scene, rng)
        gold = made and checked_answer(scene, made)
        if not made or not gold or is_overused(golds, gold, style):
            continue
        golds[gold] += 1
        tries = 0
        plan = gold_plan(made.references, made.wanted)
        name = f"{style}-{kind}-{seed}-{len(questions):04d}"
        known = (name, style, kind, scene.to_json(), made.question, gold, plan)
        questions.append(SceneQuestion(*known))
    return questions


def is_overused(golds: Mapping[str, int], gold: str, style: Style) -> bool:
    """Whether one more question with this answer would upset the balance.

    The rule of CLEVR's generator with PTR's share: an answer waits while it is given more than 1.1
    times as often as the second most common one, or more than 1.5 (PTR) or 5 (CLEVR) times as often
    as the median answer, counted as at least 5. A rare answer waits, too, while it would pull the
    median down so far that another one is over.
    """
    counts = sorted(golds.values())
    second = counts[-2] if len(counts) > 1 else 0
    mine = golds.get(gold, 0)
    if mine > 1.1 * second or mine > _most_allowed(counts, style):
        return True
    after = sorted({**golds, gold: mine + 1}.values())
    return after[-1] > _most_allowed(after, style) + 1


def _most_allowed(counts: Sequence[int], style: Style) -> float:
    middle = counts[len(counts) // 2] if counts else 0
    return _SHARES[style] * max(5, middle)


def checked_answer(scene: Scene, made: QuestionDraft) -> str | None:
    """Returns the answer of a draft that meets every constraint; else None."""
    try:
        gold = answer(scene, made.references, made.wanted)
    except (NotUnique, ValueError):
        return None
    sound = (
        not (gold.isdigit() and int(gold) > 9)
        and _distinct(scene, made)
        and _plan_answers(scene, made, gold)
        and all(_changes_answer(scene, without, gold) for without in _without_a_relation(made))
    )
    return gold if sound else None


def _distinct(scene: Scene, made: QuestionDraft) -> bool:
    """Whether the references that mean one object mean different ones."""
    single = {other for each in made.references for _, other in each.links}
    single |= {other for each in made.references for other in each.like or ()}
    single |= {ask.of for ask in made.wanted.asks if ask.kind not in ("count", "exist")}
    objects = [referents(scene, made.references, at) for at in sorted(single)]
    return len(set(objects)) == len(objects)


def _plan_answers(scene: Scene, made: QuestionDraft, gold: str) -> bool:
    plan = gold_plan(made.references, made.wanted)
    return judge(scene, None, plan, _RULES).answer == gold


def _without_a_relation(made: QuestionDraft) -> Iterator[QuestionDraft]:
    """Yields the draft with one relation left out, for each relation that could matter.

    Whether there is any object among more objects is never "no" where it was "yes": such a question
    is not held to its outermost relation, or every answer would be "no".
    """
    (first, *_) = made.wanted.asks
    for at, each in enumerate(made.references):
        if first.kind == "exist" and at == first.of:
            continue
        looser = [
            replace(each, links=each.links[:k] + each.links[k + 1 :])
            for k in range(len(each.links))
        ]
        if each.like:
            looser.append(replace(each, like=None))
        for one in looser:
            references = (*made.references[:at], one, *made.references[at + 1 :])
            yield made._replace(references=references)


def _changes_answer(scene: Scene, without: QuestionDraft, gold: str) -> bool:
    try:
        return answer(scene, without.references, without.wanted) != gold
    except (NotUnique, ValueError):
        return True
