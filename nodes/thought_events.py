"""Events about thoughts for the stream mode `custom`.

Events are derived from what nodes write to the tree, so that no method has to send any. Each names
the `node` that it comes from:

    {"event": "asked", "id": "1", "role": "generate", "expansion": 0}    a request about it was sent
    {"event": "answered", …}                                             the request was answered
    {"event": "made", "id": "3", "parent": "1", "depth": 2, "text": …}
    {"event": "called", "id": "3", "observation": …, "failed": false}    a tool answered
    {"event": "judged", "id": "3", "value": 7.0, "note": …}
    {"event": "pruned", "id": "3", "note": …}
    {"event": "rolled_back", "id": "3", "to": "1", "step": 2}
    {"event": "backtracked", "to": "1"}                                  None: nothing is left
    {"event": "propagated", "id": "3", "raised": [{"thought": "1", "before": 0.0, "after": 1.0}]}
    {"event": "checked", "id": "3", "right": false, "note": …}           its answer
    {"event": "chosen", "id": "3", "answer": …}                          the result's answer
    {"event": "selected", "ids": ["3", "4"]}                             kept, to be continued
    {"event": "ended", "answer": …, "stop_reason": …, "outcome": …}      the last one
"""

from collections.abc import Iterator, Mapping
from typing import Any

from langgraph.config import get_config, get_stream_writer

from thoughtgraph.outcome import ACCEPTED, REJECTED
from thoughtgraph.tree import ROOT, Thought, Tree

ENDED = ("answer", "stop_reason", "outcome")


def tell_events(tree: Tree, update: Mapping[str, Any]) -> None:
    """Streams an event for every thought that the running node changes.

    Args:
        tree: The tree before the update.
        update: The state update of the node.
    """
    write, node = get_stream_writer(), get_config()["metadata"]["langgraph_node"]
    for event in events(tree, update, node):
        write({**event, "node": node})


def events(tree: Tree, update: Mapping[str, Any], node: str) -> Iterator[dict[str, Any]]:
    """Yields the events of a state update.

    Args:
        tree: The tree before the update.
        update: The state update of a node.
        node: Name of the node.
    """
    changes = update.get("thoughts", {})
    if isinstance(changes, Mapping):
        for key, fields in changes.items():
            if key != ROOT:
                yield from _of_thought(key, tree.get(key), fields)
    if ids := _selected(node, tree, update):
        yield {"event": "selected", "ids": ids}
    if update.get("outcome"):
        yield {"event": "ended", **{key: update[key] for key in ENDED}}


def _selected(node: str, tree: Tree, update: Mapping[str, Any]) -> list[str]:
    """Returns the ids of the thoughts that a selection kept."""
    if "frontier" in update:
        return [key for key in update["frontier"] if key != ROOT]
    changes: Mapping[str, Thought] = update.get("thoughts", {}) if node == "select" else {}
    # A search that visits thoughts one by one may write a visit without a status.
    statuses = {
        key: new.get("status", "open" if "visit" in new else "") for key, new in changes.items()
    }
    return [key for key, status in statuses.items() if status in ("open", "terminal")]


def _of_thought(key: str, before: Thought | None, new: Thought) -> Iterator[dict[str, Any]]:
    old, note = before or Thought(), new.get("note", "")
    if before is None:
        place = {"parent": new.get("parent"), "depth": new.get("depth")}
        yield {"event": "made", "id": key, **place, "text": new.get("text", "")}
    if new.get("observation") is not None and new["observation"] != old.get("observation"):
        result = {"observation": new["observation"], "failed": bool(new.get("failed"))}
        yield {"event": "called", "id": key, **result}
    if "value" in new and new["value"] != old.get("value"):
        yield {"event": "judged", "id": key, "value": new["value"], **_note(new)}
    if note == ACCEPTED or note.startswith(REJECTED):
        yield {"event": "checked", "id": key, "right": note == ACCEPTED, "note": note}
    if new.get("status") == "pruned" and old.get("status") != "pruned":
        yield {"event": "pruned", "id": key, **_note(new)}
    if "rollback" in new:
        yield {"event": "rolled_back", "id": key, **new["rollback"]}
    if raised := new.get("propagation", {}).get("raised"):
        yield {"event": "propagated", "id": key, "raised": raised}
    if new.get("chosen") and not old.get("chosen"):
        yield {"event": "chosen", "id": key, "answer": new.get("answer")}


def _note(thought: Thought) -> dict[str, str]:
    return {"note": thought["note"]} if thought.get("note") else {}
