"""A person in the search: the run pauses, somebody keeps, drops, adds or revalues, and it goes on.

The pause is LangGraph's interrupt, so it holds for as long as its checkpoint does: minutes in a
notebook, days on a server. What was done is in the tree, marked as made by hand. A reply that says
nothing, or makes no sense, is asked for again with the reason.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, cast

from langgraph.types import interrupt

from thoughtgraph.edits import applied, edited
from thoughtgraph.errors import InputError
from thoughtgraph.nodes.decisions import decided, requested
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.select import unready
from thoughtgraph.reducers import StackWrite, restack
from thoughtgraph.run import Run
from thoughtgraph.settings import Settings
from thoughtgraph.state import REPLY, SearchState
from thoughtgraph.task import Checks, Task
from thoughtgraph.tree import (
    RAW_LIMIT,
    ROOT,
    TEXT_LIMIT,
    Thought,
    Tree,
    cut,
    merge_thoughts,
    with_note,
)
from thoughtgraph.usage import Usage, add_usages

Candidates = Callable[[Any], Sequence[str]]
"""From the state to the ids of the thoughts that a person is shown."""
SHOWN = ("id", "parent", "depth", "text", "action", "observation", "value", "answer", "note")
"""What a person is shown of a thought."""
MOST = 100
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


def reviewed(node: Node, candidates: Candidates) -> Node:
    """Makes a node that, under `review=select`, lets a person choose among thoughts before it runs.

    Args:
        node: The node that selects.
        candidates: What the person is shown; where there is nothing, nobody is asked.
    """

    @wraps(node)
    async def run(state: Any) -> dict[str, Any]:
        if not _asks(state, "select"):
            return await node(state)
        update = _chosen(state, candidates(state))
        return _joined(update, await node(applied(state, update)))

    return run


def reviewed_after(node: Node) -> Node:
    """Makes a node that, under `review=select`, shows a person what it found and takes that back.

    Args:
        node: The node, which judges and selects in one. It runs again when the reply is there, so
            it asks no model.
    """

    @wraps(node)
    async def run(state: Any) -> dict[str, Any]:
        made = await node(state)
        if not _asks(state, "select"):
            return made
        after = applied(state, made)
        new = {key: after["thoughts"][key] for key in made.get("thoughts", {})}
        shown = [k for k, t in new.items() if t["status"] in ("open", "terminal") or "visit" in t]
        update = _chosen(after, shown)
        gone = [k for k, t in update.get("thoughts", {}).items() if t.get("status") == "pruned"]
        if made.get("stop_reason") == "finished" and any(_ends(new[k]) for k in gone if k in new):
            update["stop_reason"] = ""  # The output that ended the search is gone.
        return _joined(made, update)

    return run


def reviewed_answer(run: Run, state: SearchState, out: dict[str, Any]) -> dict[str, Any]:
    """Returns the end of a search, which under `review=answer` a person accepts or replaces."""
    if not _asks(state, "answer"):
        return out
    asked = {name: out.get(name) for name in ("answer", "outcome", "candidates")}
    return _settled(run, state, out, _reply("answer", state, asked, ANSWER_FORM, _final))


def _ends(thought: Thought) -> bool:
    return thought["status"] == "terminal"


def this_round(state: SearchState) -> list[str]:
    """Returns the thoughts of a round, once nothing is left to be expanded or judged in it."""
    ended = state["stop_reason"] or unready(state)
    return [] if ended else [*state["generation"]]


def _asks(state: Mapping[str, Any], kind: str) -> bool:
    return Settings.of(state["settings"]).review == kind


def _chosen(state: Mapping[str, Any], candidates: Sequence[str]) -> dict[str, Any]:
    """Returns what a person changes of a state."""
    tree = state["thoughts"]
    keys = [key for key in candidates if key != ROOT]
    if not keys:
        return {}
    best = sorted(keys, key=lambda key: -tree[key].get("value", 0.0))[:MOST]
    shown = [{k: v for k, v in tree[key].items() if k in SHOWN} for key in keys if key in best]

    def read(reply: Mapping[str, Any]) -> dict[str, Any]:
        changes = _changes(tree, keys, reply)
        if not changes:
            return {}
        return edited(state, {"thoughts": changes}, trusted=False)

    return cast("dict[str, Any]", _reply("select", state, {"thoughts": shown}, SELECT_FORM, read))


def _reply(
    kind: str,
    state: Mapping[str, Any],
    asked: Mapping[str, Any],
    form: Mapping[str, str],
    read: Callable[[Mapping[str, Any]], Any],
) -> Any:
    """Pauses the run until a reply makes sense; returns what was read from it."""
    question = {"review": kind, "problem": state["problem"], **asked, "reply": form}
    question |= requested(kind, asked)
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
        given = {"parent": tree[keys[0]]["parent"], "note": cut(f"added {BY_HAND}{why}"), **new}
        changes[str(len(tree) + at)] = cast("Thought", given)
    return changes


def _note(thought: Thought, done: str) -> str:
    return cut(with_note(thought, done))


def _ids(keys: Sequence[str], reply: Mapping[str, Any], name: str) -> Sequence[str]:
    given = reply.get(name, [])
    if not isinstance(given, list) or not all(key in keys for key in given):
        raise InputError(f"{name!r} is a list of ids of the thoughts shown: {', '.join(keys)}")
    return given


def _final(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    given = reply.get("answer")
    if given is not None and (not isinstance(given, str) or len(given) > TEXT_LIMIT):
        raise InputError(f"an answer is a text of at most {TEXT_LIMIT} characters, or null")
    if ("answer" in reply) == bool(reply.get("accept")):
        raise InputError('say {"accept": true}, or give another answer')
    return reply


def _settled(
    run: Run, state: SearchState, out: dict[str, Any], reply: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the end of a search with what a person said of its answer."""
    why = f" ({reply['note']})" if reply.get("note") else ""
    if "answer" not in reply:
        return {**out, "outcome": f"{out['outcome']}; a person accepted the answer{why}"}
    given: str | None = reply["answer"]
    task = run.task_for(state["settings"], Task)
    verified = None
    if isinstance(task, Checks) and given is not None:
        verified = task.check(state["problem"], given)
    tree: Tree = {}
    for key, thought in out["thoughts"].items():
        chosen = given is not None and thought.get("answer") == given
        tree[key] = cast("Thought", {**thought, "chosen": chosen})
    ended: dict[str, Any] = {
        "answer": given,
        "thoughts": tree,
        "verified": verified,
        "outcome": f"{out['outcome']}; a person put another answer in its place{why}",
    }
    for message in out.get("messages", []):
        if REPLY in message.response_metadata and given is not None:
            ended["messages"] = [message.model_copy(update={"content": given})]
    return {**out, **ended}


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Returns two updates, one after the other, as one."""
    both = {**first, **second}
    if "thoughts" in first and "thoughts" in second:
        both["thoughts"] = merge_thoughts(first["thoughts"], [second["thoughts"]])
    if "usage" in first and "usage" in second:
        both["usage"] = add_usages(Usage(), [first["usage"], second["usage"]])
    if "stack" in first and "stack" in second:
        both["stack"] = _restacked(first["stack"], second["stack"])
    return both


def _restacked(first: StackWrite, second: StackWrite) -> StackWrite:
    """Returns two writes to a stack as one; a write by hand is of the whole stack."""
    if second["keep"] == 0:
        return second
    return StackWrite(keep=0, frames=restack(restack([], [first]), [second]))
