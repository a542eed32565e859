"""Judging a chunk of a plan on a scene: the evaluator V of Tree-of-Mixed-Thought (section 3.3.4).

Two profiles. `paper`: each step can be read, and runs on the scene. `grounded` (ours): also, each
step says what the question says, and the plan ends when it has answered what the question asks
(`grounding.py`). Neither calls a model nor knows an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from thoughtgraph.tasks.scenes.grounding import Grounding
from thoughtgraph.tasks.scenes.interpreter import Environment, execute
from thoughtgraph.tasks.scenes.plan_language import clean, parse
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.values import PlanError, View, answer_of, in_words

MOST_STEPS = 32
"""Steps of a plan (ours)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What an evaluator lets pass; plain values from settings.

    Attributes:
        profile: "paper" (default) only runs the steps; "grounded" (ours) also holds them to the
            question.
        empty: "strict" (ours, default): a filter must leave an object. "lazy": it may leave none;
            CLEVR's questions that answer 0 or no need it.
        ambiguous: "error" (ours, default): one object must be one. "first": of several the first.
        tools: The tools there are: "extended" (default) or the "paper"'s own.
    """

    profile: Literal["paper", "grounded"] = "paper"
    empty: Literal["strict", "lazy"] = "strict"
    ambiguous: Literal["error", "first"] = "error"
    tools: Literal["extended", "paper"] = "extended"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict on a chunk.

    Attributes:
        accepted: Whether every line passed; the first that fails rejects the whole chunk.
        lines: The chunk's lines without numbers and decoration, cut after the one that assigns
            `ans`.
        values: What each line that passed gave, in words for a reader ("2 objects: Chair0, Bed0").
        state: The environment after the chunk as plain JSON values, the thought's `tool_state`;
            the one given when the chunk is rejected.
        answer: The canonical answer when the plan is finished.
        code: Why it was rejected, a family of `PlanError`, or E_GROUND, E_END (`grounded`); "".
        reason: The same in one line for a reader; "".
    """

    accepted: bool
    lines: tuple[str, ...]
    values: tuple[str, ...]
    state: Mapping[str, Any]
    answer: str | None
    code: str
    reason: str


def judge(
    question: str,
    scene: Scene,
    state: Mapping[str, Any] | None,
    lines: Sequence[str],
    rules: Rules,
) -> Evaluation:
    """Judges the next lines of a plan.

    Args:
        question: The question, for `grounded`.
        scene: The scene it is about.
        state: The `state` of the verdict on what stands before; None at the start.
        lines: The chunk, as the model wrote it: one step, several, or the rest of the plan.
        rules: What is let pass.

    Returns:
        The verdict. Whatever the lines hold, nothing is raised for them.
    """
    view = View(scene, rules.empty == "strict", rules.ambiguous == "first")
    evaluator = _Evaluator(question, view, rules)
    plain = [clean(line) for line in lines]
    return evaluator.judge(Environment.from_json(state), plain, state or {})


@dataclass(frozen=True, slots=True)
class _Evaluator:
    question: str
    view: View
    rules: Rules

    def judge(
        self, environment: Environment, lines: list[str], before: Mapping[str, Any]
    ) -> Evaluation:
        kept: list[str] = []
        values: list[str] = []
        grounding = self._grounding(environment)
        try:
            if not lines:
                raise PlanError("E_SYNTAX", "the plan has no next step")
            for line in lines:
                kept.append(line)
                environment = self._run(line, environment)
                if grounding:
                    grounding = grounding.after(environment.steps[-1])
                values.append(in_words(self.view, environment.steps[-1].value))
                if environment.finished:
                    break
            answer = self._answer(environment, grounding)
        except PlanError as error:
            where = f"line {len(kept)}: " if len(lines) > 1 else ""
            reason = f"{where}{error}"
            return Evaluation(False, tuple(kept), tuple(values), before, None, error.code, reason)
        state = environment.to_json(before)
        return Evaluation(True, tuple(kept), tuple(values), state, answer, "", "")

    def _run(self, line: str, environment: Environment) -> Environment:
        step = parse(line)
        if len(environment.steps) >= MOST_STEPS:
            raise PlanError("E_LIMIT", f"a plan has at most {MOST_STEPS} steps")
        return execute(step, environment, self.view, self.rules.tools)

    def _grounding(self, environment: Environment) -> Grounding | None:
        if self.rules.profile == "paper":
            return None
        return Grounding(self.question, self.view.scene.style, environment.steps)

    def _answer(self, environment: Environment, grounding: Grounding | None) -> str | None:
        if not environment.finished:
            return None
        answer = answer_of(environment.steps[-1].value)
        if answer is None:
            raise PlanError("E_NOANS", "ans is no answer: not a number, a word, yes or no")
        if grounding:
            grounding.end()
        return answer
