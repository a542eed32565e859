"""Decides whether an output is good enough: an oracle, the exact check, or the model itself."""

from collections.abc import Callable
from typing import Any

from thoughtgraph.errors import InputError
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import state_key_of, verdict_fields, verdicts_in, words_of
from thoughtgraph.outcome import DENIED, FAILED, GOOD, POOR
from thoughtgraph.run import Run
from thoughtgraph.state import SearchState
from thoughtgraph.task import Checks, Judged, Judges, Verdict, told
from thoughtgraph.tree import Thought

RIGHT, WRONG = 1.0, 0.0
"""Values of an output that passed and of one that did not (ours)."""


def check(run: Run, *, last: Callable[[SearchState], bool]) -> Node:
    """Makes the node that judges the latest output, which is the youngest thought.

    With an oracle it asks that, with `exact_check` the task. Else it asks the model; a verdict that
    cannot be read counts as "not good enough".

    Args:
        last: Whether no other output may follow the latest one.

    It stops the search when an output that failed was the last, and when a limit or a
    failing endpoint forbids the verdict.
    """

    async def check(state: SearchState) -> dict[str, Any]:
        latest, step = latest_output(state), Step(run, state)
        feedback = run.has_feedback(state["settings"])
        if feedback:
            thought = await _ask_oracle(run, state, latest)
        elif (judged := await _ask_model(run, state, step, latest)) is None:
            return step.update(stop_reason="budget")
        else:
            thought = judged
        over = thought["value"] == WRONG and last(state)
        thought["status"] = "terminal"
        # Only an oracle verifies: a model that finds its own answer good may be wrong.
        reason = (
            "verified" if feedback and thought["value"] == RIGHT else "round_limit" if over else ""
        )
        return step.update(thoughts={latest: thought}, stop_reason=reason)

    return check


def latest_output(state: SearchState) -> str:
    """Returns the id of the latest output, the root's before there is one."""
    return next(reversed(state["thoughts"]))


def passed(thought: Thought) -> bool:
    """Returns whether an output was found good enough."""
    return thought.get("value") == RIGHT


async def is_right(run: Run, state: SearchState, answer: str | None) -> bool:
    """Asks the graph's oracle; no answer is never right.

    Raises:
        InputError: The oracle says neither yes nor no, such as a score, which is no verdict.
    """
    if answer is None:
        return False
    if callable(run.oracle):
        right: object = await run.oracle(answer)
        if right not in (True, False):
            raise InputError(f"the oracle said {right!r} of an answer; it must say True or False")
        return bool(right)
    return run.task_for(state["settings"], Checks).check(state["problem"], answer)


async def _ask_oracle(run: Run, state: SearchState, key: str) -> Thought:
    """Returns the verdict of the oracle, or of the task itself."""
    right = await is_right(run, state, state["thoughts"][key].get("answer"))
    if not run.oracle:
        note = "the exact check says right" if right else FAILED
    else:
        note = "the oracle says right" if right else DENIED
    return {"value": RIGHT if right else WRONG, "note": note}


async def _ask_model(run: Run, state: SearchState, step: Step, key: str) -> Thought | None:
    """Returns the verdict of the model; None where it may not be asked."""
    task = run.task_for(state["settings"], Judges)
    answer = state["thoughts"][key].get("answer") or ""
    question: Judged = await told(task.judge(state["problem"], answer, state["settings"]))
    if isinstance(question, Verdict):
        return {"value": RIGHT if question.value > 0 else WRONG, "note": question.label}
    state_key = state_key_of(question.prompt)
    if known := verdicts_in(state["thoughts"]).get(state_key):
        step.count(cached=1)
        return verdict_fields(state_key, known)
    answers = await step.ask([Ask(question, key, "judge", judges=True)])
    if not answers:
        return None
    [said] = answers
    good = said.reading.value > 0
    verdict = {"value": RIGHT if good else WRONG, "label": GOOD if good else POOR}
    return {**verdict_fields(state_key, verdict), **words_of(said)}
