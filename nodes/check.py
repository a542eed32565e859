"""Decides whether an output is good enough, by an oracle, the exact check or the model itself."""

from typing import Any

from thoughtgraph.errors import InputError
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import state_key_of, verdict_fields, verdicts_in, words_of
from thoughtgraph.outcome import DENIED, FAILED, GOOD, POOR
from thoughtgraph.state import SearchState
from thoughtgraph.task import Checks, Judged, Judges, Verdict, maybe_await
from thoughtgraph.tree import Thought

RIGHT, WRONG = 1.0, 0.0
"""Values of an output that passed and of one that failed (ours)."""


async def judge_latest(step: Step, state: SearchState, *, over: bool) -> dict[str, Any]:
    """Judges the latest output, which is the youngest thought.

    An oracle judges it, or the task under `exact_check`, else the model. A verdict that cannot be
    read counts as "not good enough". The search stops when the last allowed output fails, and when
    a limit or a failing endpoint forbids the verdict.

    Args:
        step: This run of the node.
        state: The state.
        over: Whether no other output may follow the latest one.
    """
    latest, feedback = latest_output(state), step.run.has_feedback(state["settings"])
    ask = _ask_oracle if feedback else _ask_model
    if (thought := await ask(step, state, latest)) is None:
        return step.update(stop_reason="budget")
    thought["status"] = "terminal"
    reason = "round_limit" if over and not passed(thought) else ""
    # Only an oracle verifies: a model that finds its own answer good may be wrong.
    reason = "verified" if feedback and passed(thought) else reason
    return step.update(thoughts={latest: thought}, stop_reason=reason)


def latest_output(state: SearchState) -> str:
    """Returns the id of the latest output; the root's while there is none."""
    return next(reversed(state["thoughts"]))


def passed(thought: Thought) -> bool:
    """Returns whether an output was found good enough."""
    return thought.get("value") == RIGHT


async def is_right(step: Step, answer: str | None) -> bool:
    """Returns whether the oracle or the task's exact check finds an answer right; never None.

    Raises:
        InputError: The oracle returned neither True nor False, such as a score.
    """
    if answer is None:
        return False
    if callable(step.run.oracle):
        right: object = await step.run.oracle(answer)
        if right not in (True, False):
            raise InputError(f"the oracle said {right!r} of an answer; it must say True or False")
        return bool(right)
    return await maybe_await(step.task(Checks).check(step.state["problem"], answer))


async def _ask_oracle(step: Step, state: SearchState, key: str) -> Thought | None:
    """Returns the verdict of the oracle, or of the task's exact check."""
    right = await is_right(step, state["thoughts"][key].get("answer"))
    if not step.run.oracle:
        note = "the exact check says right" if right else FAILED
    else:
        note = "the oracle says right" if right else DENIED
    return {"value": RIGHT if right else WRONG, "note": note}


async def _ask_model(step: Step, state: SearchState, key: str) -> Thought | None:
    """Returns the model's verdict; None if a limit or a failing endpoint forbids the request."""
    answer = state["thoughts"][key].get("answer") or ""
    judging = step.task(Judges).judge(state["problem"], answer, state["settings"])
    question: Judged = await maybe_await(judging)
    if isinstance(question, Verdict):
        return {"value": RIGHT if question.value > 0 else WRONG, "note": question.label}
    state_key = state_key_of(question.prompt)
    if stored := verdicts_in(state["thoughts"]).get(state_key):
        step.count(cached=1)
        return verdict_fields(state_key, stored)
    if (reply := await step.ask_one(Ask(question, key, "judge", judges=True))) is None:
        return None
    good = reply.reading.value > 0
    verdict = {"value": RIGHT if good else WRONG, "label": GOOD if good else POOR}
    return {**verdict_fields(state_key, verdict), **words_of(reply)}
