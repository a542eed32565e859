"""Edits by hand: what a person may change of a search, and what else must change with it.

A thought can be pruned, opened again, valued otherwise, remarked on, or added. What a search keeps
beside its tree (frontier, round, stack) follows, so that the next node finds
a state that could have come about by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, cast

from thoughtgraph.errors import InputError
from thoughtgraph.reducers import StackWrite
from thoughtgraph.tree import RAW_LIMIT, ROOT, TEXT_LIMIT, Thought, Tree, grow, merge_thoughts

PERSON = "person"
"""What `created_by` and notes say of what was done by hand."""
CHANGES = ("status", "value", "note")
"""What can be changed of a thought."""
PLACE = {"id", "parent", "depth", "created_by"}
"""What says where a thought stands in the tree: nobody changes it."""
NEEDED = ("parent", "text")
"""What a new thought must say."""
STANDING = {"refine", "react", "reflexion", "fgdip"}
"""Methods that stand at one thought and go on from there."""
HANDED_ON = ("expansions", "findings", "reports")
"""State keys that hold what one node made for the next: an edit between the two would drop it."""
BELOW = "below a thought that was pruned by hand"
ACTS = ("tool_state", "action")
"""What thoughts have whose steps are carried out: such a step is not only a text."""


def edited(
    state: Mapping[str, Any], values: Mapping[str, Any], *, trusted: bool = True
) -> dict[str, Any]:
    """Returns what is to be written for an edit.

    A whole state may be posted back: what it leaves as it was is no edit.

    Args:
        state: The state that is edited.
        values: What is written to it, by state key: of the tree, changed thoughts by id, and new
            ones by the ids that come next.
        trusted: Whether fields may be written that only nodes write otherwise, such as verdicts.

    Raises:
        InputError: It makes no sense.
    """
    handed_on = {key: state[key] for key in HANDED_ON if state.get(key)}
    changed = {**handed_on, **differing(state, values)}
    if "stack" in changed and not _is_write(changed["stack"]):
        changed["stack"] = _stack(state, changed["stack"])
    if "tree" not in changed:
        return changed
    if not state.get("tree"):
        raise InputError("there is no search here to edit; start one with a problem")
    tree = _tree(state, changed["tree"], trusted)
    follows = _following(state, tree)
    return {**follows, **changed, "tree": merge_thoughts(tree, [follows.get("tree", {})])}


def differing(state: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what an edit does not leave as it was."""
    return {key: each for key, each in values.items() if key not in state or state[key] != each}


def _tree(state: Mapping[str, Any], given: Any, trusted: bool) -> Tree:
    """Returns the changed and the new thoughts, checked."""
    if not isinstance(given, Mapping):
        raise InputError('an edit of the tree is an object: {"3": {"status": "pruned"}}')
    known: Tree = state["tree"]
    changes: Tree = {}
    for key, fields in given.items():
        if not isinstance(fields, Mapping):
            raise InputError(f"thought {_shown(key)} is an object of fields, such as a status")
        if key in known:
            if change := _change(key, known[key], fields, trusted):
                changes[key] = change
        else:
            changes |= _new(state, {**known, **changes}, key, fields)
    return changes


def _change(key: str, thought: Thought, fields: Mapping[str, Any], trusted: bool) -> Thought:
    """Returns what an edit changes of a thought."""
    changed = differing(cast("Any", thought), fields)
    own = Thought.__annotations__.keys() - PLACE if trusted else CHANGES
    for name in changed:
        if name not in own:
            raise InputError(
                f"{_shown(name)} of thought {key} cannot be edited; "
                "only its status, its value and its note"
            )
    _check(key, changed)
    if key == ROOT and "status" in changed:
        raise InputError("the root is where all begins; prune thoughts below it")
    return cast("Thought", changed)


def _new(state: Mapping[str, Any], tree: Tree, key: Any, fields: Mapping[str, Any]) -> Tree:
    """Returns a thought that a person adds."""
    if missing := [name for name in NEEDED if name not in fields]:
        raise InputError(
            f"there is no thought {_shown(key)}; a new one needs {' and '.join(missing)}"
        )
    if key != (following := str(len(tree))):
        raise InputError(f"a new thought has the next number, {following}, not {_shown(key)}")
    parent, text = fields["parent"], fields["text"]
    if parent not in tree:
        raise InputError(f"there is no thought {_shown(parent)} for thought {key} to follow")
    if not isinstance(text, str) or not text.strip() or len(text) > TEXT_LIMIT:
        raise InputError(f"the text of thought {key} is 1 to {TEXT_LIMIT} characters")
    if _levels(state) or any(name in thought for thought in tree.values() for name in ACTS):
        raise InputError("the steps of this method are carried out; none can be added by hand")
    own = {name: fields[name] for name in CHANGES if name in fields}
    _check(key, own)
    made = {"text": text, **own, "status": "open", "created_by": {"node": PERSON}}
    return grow(tree, parent, [made])


def _check(key: Any, fields: Mapping[str, Any]) -> None:
    value, note = fields.get("value", 0.0), fields.get("note", "")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not isfinite(value):
        raise InputError(f"the value of thought {key} is a number, not {_shown(value)}")
    if fields.get("status", "open") not in ("open", "pruned"):
        raise InputError(f"thought {key} can be made open or pruned, nothing else")
    if not isinstance(note, str) or len(note) > RAW_LIMIT:
        raise InputError(f"the note of thought {key} is a text of at most {RAW_LIMIT} characters")


def _following(state: Mapping[str, Any], changes: Tree) -> dict[str, Any]:
    """Returns what else must change with thoughts."""
    tree = merge_thoughts(state["tree"], [changes])
    gone = _below(tree, [key for key, each in changes.items() if each.get("status") == "pruned"])
    more: Tree = {key: {"status": "pruned", "note": BELOW} for key in gone if key not in changes}
    for key, thought in changes.items():
        if "value" in thought and "priority" in tree[key]:
            weight = state["settings"].get("value_weight", 0.0)
            more[key] = {"priority": tree[key].get("cost", 0.0) - weight * thought["value"]}
    update = _without(state, gone)
    opened = [key for key, thought in changes.items() if thought.get("status") == "open"]
    for key in opened:
        update |= _opened({**state, **update}, tree, key)
    if any("value" in thought for thought in changes.values()):
        update |= _resorted({**state, **update}, tree)
    if "stack" in update:
        update["stack"] = _write(update["stack"])
    return {**update, **({"tree": more} if more else {})}


def _below(tree: Tree, pruned: Iterable[str]) -> set[str]:
    """Returns pruned thoughts and all that follow them."""
    gone = set(pruned)
    for key in sorted(tree, key=int):
        if tree[key]["parent"] in gone:
            gone.add(key)
    return gone


def _without(state: Mapping[str, Any], gone: set[str]) -> dict[str, Any]:
    """Returns what a search keeps beside its tree, without thoughts that are gone.

    Raises:
        InputError: The search stands at one of them.
    """
    for made in state.get("expansions") or []:
        if made["parent"] in gone:
            raise InputError(f"thought {made['parent']} is being expanded; prune it a step later")
    kept: dict[str, Any] = {}
    for name in ("frontier", "generation", "pending", "solutions"):
        if gone & set(state.get(name, ())):
            kept[name] = [key for key in state[name] if key not in gone]
    if state.get("method") in STANDING and not kept.get("frontier", [ROOT]):
        raise InputError(f"the search stands at thought {state['frontier'][0]}; prune it later")
    if "stack" in state:
        stack = state["stack"]
        cut = next((at for at, frame in enumerate(stack) if frame["thought"] in gone), len(stack))
        left = [_passed_over(frame, gone) for frame in stack[:cut]]
        if left != stack:
            kept["stack"] = left
    return kept


def _passed_over(frame: Mapping[str, Any], gone: set[str]) -> Mapping[str, Any]:
    """Returns a frame without candidates that are gone, those apart that were looked at already."""
    if "candidates" not in frame:
        return frame
    seen, left = frame["candidates"][: frame["pos"]], frame["candidates"][frame["pos"] :]
    return {**frame, "candidates": [*seen, *(key for key in left if key not in gone)]}


def _opened(state: Mapping[str, Any], tree: Tree, key: str) -> dict[str, Any]:
    """Returns where a search takes up a thought that is open again, or new.

    Raises:
        InputError: It has left that place and does not come back.
    """
    thought = tree[key]
    if _levels(state):
        raise InputError(f"the evaluator refused thought {key}; it cannot be opened by hand")
    if "priority" in thought or thought["parent"] not in tree:
        return {}  # The open set is read from the tree.
    if "visiting" in state and "visit" in thought and not state["frontier"]:
        return {"frontier": [key]}  # Visited and left alone: it is gone into next.
    if state.get("stack"):
        return _on_stack(state["stack"], thought)
    for name in ("generation", "frontier"):
        beside = state.get(name, [])
        if key in beside:
            return {}
        if any(tree[each]["depth"] == thought["depth"] for each in beside):
            return {name: sorted([*beside, key], key=int)}
    if thought["parent"] in state.get("frontier", []):
        return {"generation": [*state.get("generation", []), key]}
    if "solutions" in state:  # Thought Rollback grows all open paths.
        return {"frontier": [*state["frontier"], key]}
    raise InputError(
        f"the search has left the place of thought {key} and does not come back to it; go back in "
        "its history and edit it there"
    )


def _on_stack(stack: Sequence[Mapping[str, Any]], thought: Thought) -> dict[str, Any]:
    key, parent = thought["id"], thought["parent"]
    for at, frame in enumerate(stack):
        if frame["thought"] == parent:
            done = frame["candidates"][: frame["pos"]]
            left = [each for each in frame["candidates"][frame["pos"] :] if each != key]
            moved = {**frame, "candidates": [*done, key, *left]}
            return {"stack": [*stack[:at], moved, *stack[at + 1 :]]}
    raise InputError(
        f"the search has left thought {parent}, which thought {key} follows; go back in its "
        "history and edit it there"
    )


def _resorted(state: Mapping[str, Any], tree: Tree) -> dict[str, Any]:
    """Returns the stack with candidates in the order of their values, where all have one."""
    frames = []
    for frame in state.get("stack") or []:
        left = frame["candidates"][frame["pos"] :] if "candidates" in frame else []
        if left and all("value" in tree[key] for key in left):
            done = frame["candidates"][: frame["pos"]]
            ordered = sorted(left, key=lambda key: -tree[key]["value"])
            frame = {**frame, "candidates": [*done, *ordered]}
        frames.append(frame)
    return {"stack": frames} if frames and frames != state["stack"] else {}


def _levels(state: Mapping[str, Any]) -> bool:
    """Returns whether the state is that of a search over plans, whose steps are run."""
    return any("ahead" in level for level in state.get("stack") or [])


def _stack(state: Mapping[str, Any], given: Any) -> StackWrite:
    """Returns the write of a whole stack that was posted, if its thoughts are there."""
    frames = given if isinstance(given, list) else [given]
    if not all(_fits(state.get("tree", {}), frame) for frame in frames):
        raise InputError("that stack does not fit the tree; leave it out of the edit")
    return _write(frames)


def _fits(tree: Tree, frame: Any) -> bool:
    """Returns whether a frame is one, and its thoughts are there."""
    if not isinstance(frame, Mapping) or frame.get("thought") not in tree:
        return False
    candidates = frame.get("candidates", [])
    there = all(key in tree for key in candidates)
    return there and 0 <= frame.get("pos", 0) <= len(candidates)


def _write(frames: Sequence[Any]) -> StackWrite:
    return StackWrite(keep=0, frames=[*frames])


def _is_write(given: Any) -> bool:
    return isinstance(given, Mapping) and StackWrite.__annotations__.keys() == given.keys()


def _shown(given: Any) -> str:
    """Returns a refused value, shortened: it may be of any size."""
    return repr(given if isinstance(given, str | int | float) else type(given).__name__)[:60]
