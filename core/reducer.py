"""The reducer of the channel `thoughts`: folds in the writes of nodes and edits by `update_state`.

A person writes an object of thoughts by id, such as `{"thoughts": {"3": {"status": "pruned"}}}`.
Nodes write lists of such objects, which tells the two apart. As nodes read the tree and keep no
state outside it, an edit takes effect from the next node on.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from thoughtgraph.entries import METHODS, Edit, MethodEntry
from thoughtgraph.errors import InputError
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
from thoughtgraph.tree_check import misgrown

BELOW = "below a thought that was pruned by hand"
EDITABLE = ("status", "value", "note")
"""Fields that any client may edit; in their own process, users may edit all but `PLACE`."""
PLACE = ("id", "parent", "depth", "created_by")
"""Fields for a thought's place in the tree and its origin; they never change."""
LARGEST_VALUE = 1e9
"""Largest value that an edit may set (ours): sums stay finite, and JSON can hold them."""
MOST_NEW = 100
"""Most thoughts that one edit may add (ours)."""


def fold_writes(tree: Tree, writes: Sequence[Any], method: MethodEntry, *, trusted: bool) -> Tree:
    """Folds the writes of nodes and persons into the tree: the reducer of the channel `thoughts`.

    Args:
        tree: The tree so far.
        writes: Lists of thoughts by nodes, objects by persons.
        method: The method, whose entry lists the edits that it supports.
        trusted: Whether a person may edit fields that otherwise only nodes write.

    Raises:
        InputError: An edit is invalid, or would have no effect on the method.
    """
    # On a server, a client can send a list that looks like a node's write.
    merge = merge_thoughts if trusted else _checked_merge
    node_writes: list[Tree] = []
    for write in writes:
        if isinstance(write, list):
            node_writes += write
        else:
            # An edit is checked against the tree with all earlier writes of nodes.
            tree, node_writes = merge(tree, node_writes), []
            tree = merge_thoughts(tree, [checked_edit(tree, write, method, trusted=trusted)])
    return merge(tree, node_writes)


def _checked_merge(tree: Tree, writes: Sequence[Any]) -> Tree:
    """Returns the tree with the writes of nodes, or of a client that poses as a node.

    Raises:
        InputError: No node could have written one of them.
    """
    if not all(isinstance(part, dict) and _is_tree(part) for part in writes):
        raise InputError('an edit of the tree is an object: {"3": {"status": "pruned"}}')
    grown = merge_thoughts(tree, writes)
    if writes and (fault := misgrown(grown, [key for part in writes for key in part])):
        raise InputError(f"{fault}; edit the tree as an object of thoughts by id")
    return grown


def _is_tree(part: Mapping[Any, Any]) -> bool:
    """Returns whether every id maps to fields, and the fields that merge by key are objects."""
    return all(
        isinstance(key, str)
        and isinstance(new, dict)
        and all(isinstance(new.get(name, {}), dict) for name in ("usage", "verdicts"))
        for key, new in part.items()
    )


def checked_edit(tree: Tree, edit: object, method: MethodEntry, *, trusted: bool) -> Tree:
    """Returns the changes of an edit, with those to thoughts below the ones that it prunes.

    Unchanged thoughts and fields do not count as part of the edit, so a person may write back a
    whole tree.

    Args:
        tree: The tree before the edit.
        edit: Changed thoughts by id, and new ones under the next free numbers.
        method: The method, whose entry lists the edits that it supports.
        trusted: Whether the edit may change fields that otherwise only nodes write.

    Raises:
        InputError: The edit is invalid, or would have no effect on the method.
    """
    if not isinstance(edit, Mapping):
        raise InputError('an edit of the tree is an object: {"3": {"status": "pruned"}}')
    if not tree:
        raise InputError(
            "this thread holds no search to edit; start one with a problem, or name another thread"
        )
    editable = Thought.__annotations__.keys() - PLACE if trusted else EDITABLE
    changes: Tree = {}
    new: dict[str, Mapping[str, Any]] = {}
    for key, thought in edit.items():
        if not isinstance(key, str) or not isinstance(thought, Mapping):
            raise InputError(f"thought {_quoted(key)} is an object of fields, such as a status")
        if key not in tree:
            new[key] = thought
        elif change := _change(key, tree[key], thought, method, editable):
            changes[key] = change
            if change.get("status") == "open":
                _check_reach(tree, key, tree[key]["depth"], method)
    changes |= _below(tree, changes)
    last = next(reversed(tree))
    if method.stands and changes.get(last, {}).get("status") == "pruned":
        raise InputError(f"the search stands at thought {last}; prune it later")
    if len(new) > MOST_NEW:
        raise InputError(f"an edit adds at most {MOST_NEW} thoughts")
    grown = merge_thoughts(tree, [changes])
    for key, fields in new.items():
        added = _addition(grown, key, fields, method)
        changes, grown = {**changes, **added}, {**grown, **added}
    return changes


def _change(
    key: str,
    old: Thought,
    thought: Mapping[str, Any],
    method: MethodEntry,
    editable: Collection[str],
) -> Thought:
    """Returns the fields of a thought that an edit changes, checked and ready to merge."""
    changed = {k: v for k, v in thought.items() if k not in old or cast("Any", old)[k] != v}
    for name in changed:
        if name not in editable:
            names = "its status, its value and its note"
            raise InputError(f"{_quoted(name)} of thought {key} cannot be edited; only {names}")
    if key == ROOT and "status" in changed:
        raise InputError("the root is the problem itself; prune thoughts below it")
    fields = _valid(key, changed, method)
    status = fields.get("status")
    if status == "open":
        _admit(method, "open", "does not go back to thoughts that it left")
    marks = {"pruned": PERSON, "open": ""}
    return cast("Thought", {**fields, **({"pruned_by": marks[status]} if status in marks else {})})


def _below(tree: Tree, changes: Tree) -> Tree:
    """Returns the changes to the thoughts below those that `changes` prunes."""
    pruned = {key for key, change in changes.items() if change.get("status") == "pruned"}
    below: Tree = {}
    for key, thought in tree.items() if pruned else ():  # parents come before their children
        if thought["parent"] in pruned and key not in changes:
            pruned.add(key)
            below[key] = {"status": "pruned", "note": BELOW, "pruned_by": PERSON}
    return below


def _addition(tree: Tree, key: str, fields: Mapping[str, Any], method: MethodEntry) -> Tree:
    """Returns a new thought that a person wrote, after a check of its fields."""
    if missing := [name for name in ("parent", "text") if name not in fields]:
        raise InputError(
            f"there is no thought {_quoted(key)}; a new one needs {' and '.join(missing)}"
        )
    _admit(method, "add", "takes no thoughts written by hand")
    if key != str(len(tree)):
        raise InputError(f"a new thought has the next number, {len(tree)}, not {_quoted(key)}")
    parent, text = fields["parent"], fields["text"]
    if not isinstance(parent, str):
        raise InputError(f'the parent of thought {key} must be an id as text, such as "{ROOT}"')
    if parent not in tree:
        raise InputError(
            f"thought {key} cannot follow thought {_quoted(parent)}, which does not exist; name "
            "a thought of the tree as its parent"
        )
    _check_reach(tree, key, tree[parent]["depth"] + 1, method)
    if tree[parent]["status"] in ("pruned", "terminal"):
        raise InputError(f"thought {parent} is {tree[parent]['status']}; nothing can follow it")
    if not isinstance(text, str) or not text.strip() or len(text) > TEXT_LIMIT:
        raise InputError(
            f"the text of thought {key} must be 1 to {TEXT_LIMIT} characters, not all blank"
        )
    own = _valid(key, {name: fields[name] for name in EDITABLE if name in fields}, method)
    return grow(
        tree, parent, [{"text": text, **own, "status": "open", "created_by": {"node": PERSON}}]
    )


def _valid(key: str, fields: Mapping[str, Any], method: MethodEntry) -> dict[str, Any]:
    """Checks the contents of fields, and returns them with the value as a float."""
    valid = dict(fields)
    if "value" in valid:
        value = valid["value"]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not abs(value) <= LARGEST_VALUE:
            raise InputError(
                f"the value of thought {key} is a number of at most {LARGEST_VALUE:.0f}"
            )
        valid["value"] = float(value)
        _admit(method, "value", "chooses by no values")
    if valid.get("status", "open") not in ("open", "pruned"):
        raise InputError(f"thought {key} can be made open or pruned, nothing else")
    note = valid.get("note", "")
    if not isinstance(note, str) or len(note) > RAW_LIMIT:
        raise InputError(f"the note of thought {key} is a text of at most {RAW_LIMIT} characters")
    return valid


def _admit(method: MethodEntry, edit: Edit, refusal: str) -> None:
    """Refuses an edit that would have no effect on the method."""
    if edit not in method.edits:
        methods = sorted(each.id for each in METHODS.values() if edit in each.edits)
        raise InputError(f"{method.id} {refusal}; {', '.join(methods)} do")


def _check_reach(tree: Tree, key: str, depth: int, method: MethodEntry) -> None:
    """Refuses to open or add a thought on a level that the method no longer looks at."""
    if method.reach is None:
        return
    deepest = max(thought["depth"] for thought in tree.values())
    if depth <= deepest - method.reach:
        raise InputError(
            f"{method.id} has left the level of thought {key}; it looks at the deepest "
            f"{method.reach} alone"
        )


def _quoted(refused: object) -> str:
    """Returns a refused value for a message, shortened, as it may be of any size."""
    return repr(refused[:60] if isinstance(refused, str) else type(refused).__name__)
