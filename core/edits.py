"""Edits by hand: what a person may change of a search, and what else must change with it.

A thought can be pruned, opened again, valued otherwise, remarked on, or added. What a search keeps
beside its tree (frontier, round, stack) follows, so that the next node finds a state that could
have come about by itself.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from thoughtgraph.edit_effects import following
from thoughtgraph.entries import METHODS, Edit
from thoughtgraph.errors import InputError
from thoughtgraph.reducers import StackWrite, restack
from thoughtgraph.tree import (
    PERSON,
    RAW_LIMIT,
    ROOT,
    TEXT_LIMIT,
    Thought,
    Tree,
    grow,
    merge_thoughts,
)

CHANGES = ("status", "value", "note")
"""What can be changed of a thought."""
PLACE = {"id", "parent", "depth", "created_by"}
"""What says where a thought stands in the tree: nobody changes it."""
NEEDED = ("parent", "text")
"""What a new thought must say."""
LARGEST = 1e9
"""Largest value given by hand (ours): sums of such stay finite, and JSON holds them."""
START = "__start__"
"""As which LangGraph takes an edit as the input of another search."""
MOST_NEW = 100
"""Thoughts that one edit may add (ours)."""


def edited(
    state: Mapping[str, Any],
    values: Mapping[str, Any],
    *,
    trusted: bool = True,
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
    changed = differing(state, values)
    if "stack" in changed and not _is_write(changed["stack"]):
        changed["stack"] = _stack(state, changed["stack"])
    if "thoughts" not in changed:
        return changed
    if not state.get("thoughts"):
        raise InputError("there is no search here to edit; start one with a problem")
    tree = _tree(state, changed["thoughts"], trusted)
    follows = following(state, tree)
    return {**follows, **changed, "thoughts": merge_thoughts(tree, [follows.get("thoughts", {})])}


def check_nodes(ran: Collection[str], named: Iterable[str | None]) -> None:
    """Refuses edits from which a search would go on where it is not.

    Args:
        ran: The nodes of the last step.
        named: As which nodes the edits are written; None leaves it to LangGraph.

    Raises:
        InputError: Another node is named.
    """
    for node in named:
        if node and node not in (*ran, START):
            as_these = f"as {' or '.join(dict.fromkeys(ran))}, or " * bool(ran)
            raise InputError(
                f"{_shown(node)} is not where the search stands; edit {as_these}without as_node"
            )


def applied(state: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a state after an edit, or after another update of tree and stack."""
    after = {**state, **update}
    if "thoughts" in update:
        after["thoughts"] = merge_thoughts(state["thoughts"], [update["thoughts"]])
    if "stack" in update:
        after["stack"] = restack(state["stack"], [update["stack"]])
    return after


def differing(state: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what an edit does not leave as it was."""
    return {key: each for key, each in values.items() if key not in state or state[key] != each}


def _tree(state: Mapping[str, Any], given: Any, trusted: bool) -> Tree:
    """Returns the changed and the new thoughts, checked."""
    if not isinstance(given, Mapping):
        raise InputError('an edit of the tree is an object: {"3": {"status": "pruned"}}')
    known: Tree = state["thoughts"]
    changes: Tree = {}
    new: dict[str, Mapping[str, Any]] = {}
    for key, fields in given.items():
        if not isinstance(key, str) or not isinstance(fields, Mapping):
            raise InputError(f"thought {_shown(key)} is an object of fields, such as a status")
        if key not in known:
            new[key] = fields
        elif change := _change(state, key, known[key], fields, trusted):
            changes[key] = change
    return {**changes, **_added(state, merge_thoughts(known, [changes]), new)}


def _change(
    state: Mapping[str, Any], key: str, thought: Thought, fields: Mapping[str, Any], trusted: bool
) -> Thought:
    """Returns what an edit changes of a thought."""
    changed = differing(cast("Any", thought), fields)
    own = Thought.__annotations__.keys() - PLACE if trusted else CHANGES
    for name in changed:
        if name not in own:
            raise InputError(
                f"{_shown(name)} of thought {key} cannot be edited; "
                "only its status, its value and its note"
            )
    if key == ROOT and "status" in changed:
        raise InputError("the root is where all begins; prune thoughts below it")
    checked = _checked(state, key, changed)
    status = checked.get("status")
    if status == "open":
        _admit(state, "open", "takes nothing up again that it left")
    by = {"pruned": PERSON, "open": ""}
    return cast("Thought", {**checked, **({"pruned_by": by[status]} if status in by else {})})


def _added(state: Mapping[str, Any], tree: Tree, given: Mapping[str, Mapping[str, Any]]) -> Tree:
    """Returns the thoughts that a person adds."""
    new: Tree = {}
    for key, fields in given.items():
        new |= _new(state, {**tree, **new}, key, fields)
        if len(new) > MOST_NEW:
            raise InputError(f"an edit adds at most {MOST_NEW} thoughts")
    most = state["settings"].get("limit_thoughts")
    if new and most is not None and state["usage"].get("thoughts", 0) + len(new) > most:
        raise InputError(f"the search may have {most} thoughts (limit_thoughts), and has them")
    return new


def _new(
    state: Mapping[str, Any], tree: Mapping[str, Thought], key: str, fields: Mapping[str, Any]
) -> Tree:
    if missing := [name for name in NEEDED if name not in fields]:
        raise InputError(
            f"there is no thought {_shown(key)}; a new one needs {' and '.join(missing)}"
        )
    _admit(state, "add", "takes no thought that is written by hand")
    if key != (following := str(len(tree))):
        raise InputError(f"a new thought has the next number, {following}, not {_shown(key)}")
    parent, text = fields["parent"], fields["text"]
    if not isinstance(parent, str) or parent not in tree:
        raise InputError(f"there is no thought {_shown(parent)} for thought {key} to follow")
    if tree[parent]["status"] in ("pruned", "terminal"):
        raise InputError(f"thought {parent} is {tree[parent]['status']}; nothing can follow it")
    if not isinstance(text, str) or not text.strip() or len(text) > TEXT_LIMIT:
        raise InputError(f"the text of thought {key} is 1 to {TEXT_LIMIT} characters")
    deepest = state["settings"].get("limit_depth")
    if deepest is not None and tree[parent]["depth"] >= deepest:
        raise InputError(f"no thought is deeper than {deepest} (limit_depth)")
    own = _checked(state, key, {name: fields[name] for name in CHANGES if name in fields})
    made = {"text": text, **own, "status": "open", "created_by": {"node": PERSON}}
    return grow(dict(tree), parent, [made])


def _admit(state: Mapping[str, Any], edit: Edit, otherwise: str) -> None:
    """Refuses an edit that would have no effect on the method."""
    method, able = state.get("method", ""), [m.id for m in METHODS.values() if edit in m.edits]
    if method not in able:
        raise InputError(f"{method} {otherwise}; {', '.join(sorted(able))} do")


def _checked(state: Mapping[str, Any], key: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns fields of a thought that may be written so."""
    given = dict(fields)
    if "value" in given:
        value = given["value"]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not abs(value) <= LARGEST:
            raise InputError(f"the value of thought {key} is a number of at most {LARGEST:.0f}")
        given["value"] = float(value)
        _admit(state, "value", "chooses by no values")
    if given.get("status", "open") not in ("open", "pruned"):
        raise InputError(f"thought {key} can be made open or pruned, nothing else")
    note = given.get("note", "")
    if not isinstance(note, str) or len(note) > RAW_LIMIT:
        raise InputError(f"the note of thought {key} is a text of at most {RAW_LIMIT} characters")
    return given


def _stack(state: Mapping[str, Any], given: Any) -> StackWrite:
    """Returns the write of a whole stack that was posted, if its thoughts are there."""
    frames = given if isinstance(given, list) else [given]
    shapes = [frame.keys() for frame in state.get("stack") or []]
    if not shapes or not all(_fits(state["thoughts"], frame, shapes[0]) for frame in frames):
        raise InputError("that stack does not fit the tree; leave it out of the edit")
    return StackWrite(keep=0, frames=frames)


def _fits(tree: Tree, frame: Any, shape: Iterable[str]) -> bool:
    """Returns whether a frame is like those there are, and its thoughts are there."""
    if not isinstance(frame, Mapping) or frame.keys() != set(shape):
        return False
    keys = [frame["thought"], *frame.get("candidates", [])]
    numbers = [frame[name] for name in ("pos", "tried") if name in frame]
    there = all(isinstance(key, str) and key in tree for key in keys)
    return there and all(isinstance(at, int) and 0 <= at <= len(tree) for at in numbers)


def _is_write(given: Any) -> bool:
    return isinstance(given, Mapping) and StackWrite.__annotations__.keys() == given.keys()


def _shown(given: Any) -> str:
    """Returns a refused value, shortened: it may be of any size."""
    return repr(given[:60] if isinstance(given, str) else type(given).__name__)
