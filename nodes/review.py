"""A person in the search: the run pauses, somebody keeps, drops, adds or revalues, and it goes on.

The pause is LangGraph's interrupt, so it holds for as long as its checkpoint does: minutes in a
notebook, days on a server. What was done is in the tree, marked as done by hand. A reply that says
nothing, or makes no sense, is asked for again with the reason.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, cast

from langchain_core.messages import AnyMessage
from langgraph.types import interrupt

from thoughtgraph.errors import InputError
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
"""From the state to the ids of the thoughts that a person is shown."""
SHOWN = ("id", "parent", "depth", "text", "action", "observation", "value", "answer", "note")
"""What a person is shown of a thought."""
MOST_SHOWN = 100
"""Thoughts that a person is shown at once, those of highest value (ours)."""
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
    """Returns whether a person is to choose now: under `review="select"`, if there is a choice."""
    return _asks(state, "select") and bool(_shown(state, candidates))


def shown_first(candidates: Candidates) -> Callable[[Any], Awaitable[Literal["review", "select"]]]:
    """Makes the router to a choice that shows a person the candidates first, if one reviews it."""

    async def show(state: SearchState) -> Literal["review", "select"]:
        return "review" if reviews(state, candidates) else "select"

    return show


async def answered(state: SearchState) -> Literal["review", "__end__"]:
    """Routes from the answer to a person who reviews it, or to the end."""
    refused = state["stop_reason"] == REFUSED
    return "review" if _asks(state, "answer") and not refused else "__end__"


async def review(candidates: Candidates | None, step: Step, state: SearchState) -> dict[str, Any]:
    """The node in which a person chooses among thoughts or, in the end, looks at the answer.

    Args:
        candidates: What there is to choose among; None: the method chooses nothing.
        step: This run of the node.
        state: The state.
    """
    if state["outcome"] or candidates is None:
        return await _settled(step, state)
    return {"thoughts": _choice(step, state, _shown(state, candidates))}


def _shown(state: SearchState, candidates: Candidates) -> list[str]:
    ended = state["stop_reason"]
    return [] if ended else [key for key in candidates(state) if key != ROOT]


def _asks(state: Mapping[str, Any], kind: str) -> bool:
    return Settings.of(state["settings"]).review == kind


def _choice(step: Step, state: SearchState, keys: Sequence[str]) -> Tree:
    """Returns what a person changes of the tree."""
    tree = state["thoughts"]
    best = sorted(keys, key=lambda key: -tree[key].get("value", 0.0))[:MOST_SHOWN]
    shown = [{k: v for k, v in tree[key].items() if k in SHOWN} for key in keys if key in best]

    def read(reply: Mapping[str, Any]) -> Tree:
        return checked_edit(tree, _changes(tree, keys, reply), step.run.method.entry, trusted=False)

    return cast("Tree", _reply("select", state, {"thoughts": shown}, SELECT_FORM, read))


def _reply(
    kind: str,
    state: Mapping[str, Any],
    shown: Mapping[str, Any],
    form: Mapping[str, str],
    read: Callable[[Mapping[str, Any]], Any],
) -> Any:
    """Pauses the run until a reply makes sense; returns what was read from it."""
    question = {"review": kind, "problem": state["problem"], **shown, "reply": form}
    question |= requested(kind, shown)
    error = ""
    while True:
        reply = interrupt({**question, **({"error": error} if error else {})})
        try:
            return read(_checked(decided(kind, reply), form))
        except InputError as refused:
            error = str(refused)


def _checked(reply: Any, form: Mapping[str, str]) -> Mapping[str, Any]:
    """Returns a reply that says something, in the form that was asked for."""
    if not isinstance(reply, Mapping) or not reply.keys() - {"note"}:
        raise InputError(f"the reply says nothing; it is an object with {' or '.join(form)}")
    if reply.get("accept", True) is not True:
        raise InputError('what is accepted is {"accept": true}; else leave it out')
    if "accept" in reply and reply.keys() - {"accept", "note"}:
        raise InputError('say {"accept": true}, or what is to be another way')
    for name in reply:
        if name not in form:
            raise InputError(f"{str(name)[:60]!r} is no part of a reply; say {' or '.join(form)}")
    note = reply.get("note", "")
    if not isinstance(note, str) or len(note) > RAW_LIMIT:
        raise InputError(f"a note is a text of at most {RAW_LIMIT} characters")
    return reply


def _changes(tree: Tree, keys: Sequence[str], reply: Mapping[str, Any]) -> Tree:
    """Returns the changed and the new thoughts of a reply."""
    kept, dropped = (_ids(keys, reply, name) for name in ("keep", "drop"))
    gone = {*dropped, *(set(keys) - set(kept) if "keep" in reply else ())}
    values = reply.get("values", {})
    if not isinstance(values, Mapping) or not values.keys() <= set(keys):
        raise InputError("values are an object of numbers by the ids of the thoughts shown")
    if both := gone & {*kept, *values}:
        raise InputError(f"thought {min(both, key=int)} is dropped; leave it out of the rest")
    why = f": {reply['note']}" if reply.get("note") else ""
    changes: Tree = {}
    for key in keys:
        done: dict[str, Any] = {}
        if key in kept and tree[key]["status"] == "pruned":
            done = {"status": "open", "note": _note(tree[key], f"kept {BY_HAND}{why}")}
        elif key in gone:
            done = {"status": "pruned", "note": _note(tree[key], f"dropped {BY_HAND}{why}")}
        elif key in values:
            done = {"value": values[key], "note": _note(tree[key], f"valued {BY_HAND}{why}")}
        if done:
            changes[key] = cast("Thought", done)
    added = reply.get("add", [])
    if not isinstance(added, list) or not all(isinstance(each, Mapping) for each in added):
        raise InputError("what is added is a list of objects with a text")
    for at, new in enumerate(added):
        fields = {"parent": tree[keys[0]]["parent"], "note": cut(f"added {BY_HAND}{why}"), **new}
        changes[str(len(tree) + at)] = cast("Thought", fields)
    return changes


def _note(thought: Thought, done: str) -> str:
    return cut(with_note(thought, done))


def _ids(keys: Sequence[str], reply: Mapping[str, Any], name: str) -> Sequence[str]:
    ids = reply.get(name, [])
    if not isinstance(ids, list) or not all(key in keys for key in ids):
        raise InputError(f"{name!r} is a list of ids of the thoughts shown: {', '.join(keys)}")
    return ids


def _final(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    text = reply.get("answer")
    if text is not None and (not isinstance(text, str) or len(text) > TEXT_LIMIT):
        raise InputError(f"an answer is a text of at most {TEXT_LIMIT} characters, or null")
    if ("answer" in reply) == bool(reply.get("accept")):
        raise InputError('say {"accept": true}, or give another answer')
    return reply


async def _settled(step: Step, state: SearchState) -> dict[str, Any]:
    """Returns what a person changes of the end of a search: accepts the answer, or replaces it."""
    shown = {name: state.get(name) for name in ("answer", "outcome", "candidates")}
    reply = _reply("answer", state, shown, ANSWER_FORM, _final)
    why = f" ({reply['note']})" if reply.get("note") else ""
    ended: dict[str, Any] = {"answer": state["answer"], "stop_reason": state["stop_reason"]}
    if "answer" not in reply:
        return {**ended, "outcome": f"{state['outcome']}; a person accepted the answer{why}"}
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
        **ended,
        "answer": answer,
        "thoughts": chosen,
        "tree": merge_thoughts(state["thoughts"], [chosen]),
        "verified": verified,
        "outcome": f"{state['outcome']}; a person put another answer in its place{why}",
        "messages": _replaced(state, answer),
    }


def _replaced(state: SearchState, answer: str | None) -> list[AnyMessage]:
    """Returns the reply of a conversation with another answer; by its id it replaces the first."""
    said = state.get("messages") or []
    if not said or answer is None or REPLY not in said[-1].response_metadata:
        return []
    return [said[-1].model_copy(update={"content": answer})]
