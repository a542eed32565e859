"""A person in the search: the run pauses, the person keeps, drops, adds or revalues thoughts.

The pause is LangGraph's interrupt, so it lasts as long as its checkpoint: minutes in a notebook,
days on a server. The tree marks every change as made by hand. A reply that is empty or invalid is
requested again, with the reason.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, cast

from langchain_core.messages import AnyMessage
from langgraph.types import interrupt

from thoughtgraph.errors import InputError
from thoughtgraph.nodes.answer import NO_ANSWER
from thoughtgraph.nodes.decisions import decided, requested
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import REFUSED, with_note
from thoughtgraph.reducer import checked_edit
from thoughtgraph.settings import Settings
from thoughtgraph.state import REPLY, SearchState
from thoughtgraph.task import Checks, Task, maybe_await
from thoughtgraph.tree import (
    RAW_LIMIT,
    ROOT,
    TEXT_LIMIT,
    Thought,
    Tree,
    cut,
    merge_thoughts,
)

Candidates = Callable[[Any], Sequence[str]]
"""From the state to the ids of the thoughts to show to a person."""
SHOWN = ("id", "parent", "depth", "text", "action", "observation", "value", "answer", "note")
"""The fields of a thought that a person sees."""
MOST_SHOWN = 100
"""Most thoughts shown to a person at once, those of highest value (ours)."""
BY_HAND = "by hand"
SELECT_FORM = {
    "accept": "true: go on as they are",
    "keep": "ids of those to go on with; all others are dropped",
    "drop": "ids of those to drop",
    "values": "new values by id",
    "add": 'new thoughts: [{"text": …, "parent": id, "value": number}]',
    "note": "why, for a reader of the tree",
}
ANSWER_FORM = {
    "accept": "true: this is the answer",
    "answer": "another answer, or null for none",
    "note": "why, for a reader of the tree",
}


def reviews(state: SearchState, candidates: Candidates) -> bool:
    """Returns whether a person chooses now: `review` is `select`, and there are candidates."""
    return _is_reviewed(state, "select") and bool(_reviewable(state, candidates))


def shown_first(candidates: Candidates) -> Callable[[Any], Awaitable[Literal["review", "select"]]]:
    """Returns the router to `select`, through `review` first if a person is to choose."""

    async def show(state: SearchState) -> Literal["review", "select"]:
        return "review" if reviews(state, candidates) else "select"

    return show


async def answered(state: SearchState) -> Literal["review", "__end__"]:
    """Routes from the answer to its review, or to the end."""
    is_refused = state["stop_reason"] == REFUSED
    return "review" if _is_reviewed(state, "answer") and not is_refused else "__end__"


async def review(candidates: Candidates | None, step: Step, state: SearchState) -> dict[str, Any]:
    """Pauses for a person to choose among thoughts or, after the last node, review the answer.

    Args:
        candidates: Returns the thoughts to choose among; None: no choice is reviewed.
        step: This run of the node.
        state: The state.
    """
    if state["outcome"] or candidates is None:
        return await _review_answer(step, state)
    return {"thoughts": _review_choice(step, state, _reviewable(state, candidates))}


def _reviewable(state: SearchState, candidates: Candidates) -> list[str]:
    stop_reason = state["stop_reason"]
    return [] if stop_reason else [key for key in candidates(state) if key != ROOT]


def _is_reviewed(state: Mapping[str, Any], kind: str) -> bool:
    return Settings.of(state["settings"]).review == kind


def _review_choice(step: Step, state: SearchState, keys: Sequence[str]) -> Tree:
    """Pauses for a person to choose among thoughts; returns the changes of the tree."""
    tree = state["thoughts"]
    best = sorted(keys, key=lambda key: -tree[key].get("value", 0.0))[:MOST_SHOWN]
    summaries = [{k: v for k, v in tree[key].items() if k in SHOWN} for key in keys if key in best]

    def read(reply: Mapping[str, Any]) -> Tree:
        return checked_edit(tree, _changes(tree, keys, reply), step.run.method.entry, trusted=False)

    return cast("Tree", _request_reply("select", state, {"thoughts": summaries}, SELECT_FORM, read))


def _request_reply(
    kind: str,
    state: Mapping[str, Any],
    content: Mapping[str, Any],
    form: Mapping[str, str],
    read: Callable[[Mapping[str, Any]], Any],
) -> Any:
    """Pauses the run until a reply is valid; returns what `read` makes of the reply."""
    question = {"review": kind, "problem": state["problem"], **content, "reply": form}
    question |= requested(kind, content)
    error = ""
    while True:
        reply = interrupt({**question, **({"error": error} if error else {})})
        try:
            return read(_checked(decided(kind, reply), form))
        except InputError as invalid:
            error = str(invalid)


def _checked(reply: Any, form: Mapping[str, str]) -> Mapping[str, Any]:
    """Returns a reply if it is not empty and has only fields of the form, of valid types."""
    if not isinstance(reply, Mapping) or not reply.keys() - {"note"}:
        raise InputError(f"the reply says nothing; it is an object with {' or '.join(form)}")
    if reply.get("accept", True) is not True:
        raise InputError('"accept" is true or left out')
    if "accept" in reply and reply.keys() - {"accept", "note"}:
        raise InputError('say {"accept": true} alone, or leave "accept" out and say what to change')
    for name in reply:
        if name not in form:
            raise InputError(f"{str(name)[:60]!r} is no part of a reply; say {' or '.join(form)}")
    note = reply.get("note", "")
    if not isinstance(note, str) or len(note) > RAW_LIMIT:
        raise InputError(f"a note is a text of at most {RAW_LIMIT} characters")
    return reply


def _changes(tree: Tree, keys: Sequence[str], reply: Mapping[str, Any]) -> Tree:
    """Returns the thoughts that a reply changes or adds."""
    keep, drop = (_ids(keys, reply, name) for name in ("keep", "drop"))
    removed = {*drop, *(set(keys) - set(keep) if "keep" in reply else ())}
    values = reply.get("values", {})
    if not isinstance(values, Mapping) or not values.keys() <= set(keys):
        raise InputError("values are an object of numbers by the ids of the thoughts shown")
    if both := removed & {*keep, *values}:
        raise InputError(f"thought {min(both, key=int)} is dropped; leave it out of the rest")
    reason = f": {reply['note']}" if reply.get("note") else ""
    changes: Tree = {}
    for key in keys:
        change: dict[str, Any] = {}
        if key in keep and tree[key]["status"] == "pruned":
            change = {"status": "open", "note": _note(tree[key], f"kept {BY_HAND}{reason}")}
        elif key in removed:
            change = {"status": "pruned", "note": _note(tree[key], f"dropped {BY_HAND}{reason}")}
        elif key in values:
            change = {"value": values[key], "note": _note(tree[key], f"valued {BY_HAND}{reason}")}
        if change:
            changes[key] = cast("Thought", change)
    added = reply.get("add", [])
    if not isinstance(added, list) or not all(isinstance(each, Mapping) for each in added):
        raise InputError("'add' is a list of objects, each with a text")
    for index, new in enumerate(added):
        fields = {"parent": tree[keys[0]]["parent"], "note": cut(f"added {BY_HAND}{reason}"), **new}
        changes[str(len(tree) + index)] = cast("Thought", fields)
    return changes


def _note(thought: Thought, event: str) -> str:
    return cut(with_note(thought, event))


def _ids(keys: Sequence[str], reply: Mapping[str, Any], name: str) -> Sequence[str]:
    ids = reply.get(name, [])
    if not isinstance(ids, list) or not all(key in keys for key in ids):
        shown = json.dumps([*keys])
        raise InputError(f"{name!r} is a list of ids, as texts, of the thoughts shown: {shown}")
    return ids


def _checked_answer(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a reply that either accepts the answer or gives another one."""
    text = reply.get("answer")
    if text is not None and (not isinstance(text, str) or len(text) > TEXT_LIMIT):
        raise InputError(f"an answer is a text of at most {TEXT_LIMIT} characters, or null")
    if ("answer" in reply) == bool(reply.get("accept")):
        raise InputError('say {"accept": true}, or give another answer')
    return reply


async def _review_answer(step: Step, state: SearchState) -> dict[str, Any]:
    """Pauses for a review of the answer; returns the update that accepts or replaces it."""
    summary = {name: state.get(name) for name in ("answer", "outcome", "candidates")}
    reply = _request_reply("answer", state, summary, ANSWER_FORM, _checked_answer)
    reason = f" ({reply['note']})" if reply.get("note") else ""
    # The event `ended` reads both from the update that has the outcome.
    ending: dict[str, Any] = {"answer": state["answer"], "stop_reason": state["stop_reason"]}
    if "answer" not in reply:
        return {**ending, "outcome": f"{state['outcome']}; a person accepted the answer{reason}"}
    answer: str | None = reply["answer"]
    task = step.task(Task)
    verified = None
    if isinstance(task, Checks) and answer is not None:
        verified = await maybe_await(task.check(state["problem"], answer))
    chosen: Tree = {
        key: {"chosen": answer is not None and thought.get("answer") == answer}
        for key, thought in state["thoughts"].items()
        if "answer" in thought
    }
    return {
        **ending,
        "answer": answer,
        "thoughts": chosen,
        "tree": merge_thoughts(state["thoughts"], [chosen]),
        "verified": verified,
        "outcome": f"{state['outcome']}; a person put another answer in its place{reason}",
        "messages": _replaced(state, answer),
    }


def _replaced(state: SearchState, answer: str | None) -> list[AnyMessage]:
    """Returns our message with the new answer; by its id it replaces the old message."""
    messages = state.get("messages") or []
    if not messages or REPLY not in messages[-1].response_metadata:
        return []
    return [messages[-1].model_copy(update={"content": NO_ANSWER if answer is None else answer})]
