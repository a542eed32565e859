"""Evaluates a chunk of a plan: V of Tree-of-Mixed-Thought (section 3.3.4).

A chunk passes if each step can be parsed and runs on the scene. No model is called and no gold
answer is used, so a plan that runs may still be wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from thoughtgraph.planning import Ruling
from thoughtgraph.tasks.scenes.interpreter import ExecutedStep, execute, value_of
from thoughtgraph.tasks.scenes.plan_language import ANSWER, clean, parse
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.values import PlanError, View, answer_of, in_words

MOST_STEPS = 32
"""Most steps of a plan (ours)."""
MALFORMED = frozenset({"E_SYNTAX", "E_STMT", "E_LIMIT"})
"""Fault codes of output that is no step at all."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings by which the evaluator accepts steps.

    Attributes:
        empty: "strict" (ours, default): a filter must leave an object. "lazy": it may leave none,
            as CLEVR's questions with the answer 0 or no require.
        ambiguous: "error" (ours, default): several objects where a tool takes one are a fault.
            "first": the tool takes the first of them.
        tools: The tools that exist: "extended" (default) or the "paper"'s own.
    """

    empty: Literal["strict", "lazy"] = "strict"
    ambiguous: Literal["error", "first"] = "error"
    tools: Literal["extended", "paper"] = "extended"


def judge(
    scene: Scene,
    state: Mapping[str, Any] | None,
    lines: Sequence[str],
    rules: Rules,
) -> Ruling:
    """Evaluates the next lines of a plan.

    Args:
        scene: The scene that the plan is about.
        state: The `tool_state` after the earlier chunks; None at the start.
        lines: The chunk, as the model wrote it: one step, several, or the rest of the plan.
        rules: Which steps to accept.

    Returns:
        The ruling. The first line that fails rejects the whole chunk; lines after the one that
        assigns `ans` are dropped. No content of the lines makes this function raise.
    """
    view = View(scene, rules.empty == "strict", rules.ambiguous == "first")
    plain = [clean(line) for line in lines]
    before: list[ExecutedStep] = (state or {}).get("steps", [])
    done, lines_run, answer = list(before), list[str](), None
    try:
        if not plain:
            raise PlanError("E_SYNTAX", "the plan has no next step")
        for line in plain:
            lines_run.append(line)
            done.append(_run(line, done, view, rules))
            if done[-1]["target"] == ANSWER:
                answer = _answer(done[-1])
                break
    except PlanError as error:
        reason = f"line {len(lines_run)}: {error}" if len(lines) > 1 else str(error)
        malformed = error.code in MALFORMED
        return Ruling(False, "\n".join(plain), code=error.code, reason=reason, malformed=malformed)
    values = (in_words(view, value_of(step)) for step in done[len(before) :])
    return Ruling(True, "\n".join(lines_run), "\n".join(values), {"steps": done}, answer)


def _run(line: str, done: Sequence[ExecutedStep], view: View, rules: Rules) -> ExecutedStep:
    step = parse(line)
    if len(done) >= MOST_STEPS:
        raise PlanError("E_LIMIT", f"a plan has at most {MOST_STEPS} steps")
    return execute(step, done, view, rules.tools)


def _answer(step: ExecutedStep) -> str:
    answer = answer_of(value_of(step))
    if answer is None:
        raise PlanError("E_NOANS", "ans is no answer: not a number, a word, yes or no")
    return answer
