"""Checks whether a value, such as one from a file, is a search tree."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from thoughtgraph.tree import ROOT, Status, Thought, Tree

ALWAYS = ("id", "parent", "depth", "status", "text")
"""Fields that every thought has."""


def damage(tree: object) -> str:
    """Returns why a value is not a search tree; empty if it is one."""
    try:
        whole = _adapter().validate_python(tree, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}".removeprefix(": ")
    return misgrown(whole)


def misgrown(tree: Tree, among: Collection[str] | None = None) -> str:
    """Returns why thoughts cannot have grown from a root, parents first; empty if they can.

    Args:
        tree: The tree.
        among: Ids of the thoughts to check; None: all.
    """
    return next(_faults(tree, tree if among is None else among), "")


@cache
def _adapter() -> TypeAdapter[dict[str, Thought]]:
    return TypeAdapter(dict[str, Thought])


def _faults(tree: Tree, among: Collection[str]) -> Iterator[str]:
    """Yields the faults of a tree, and of the thoughts to check, in order."""
    if ROOT not in tree:
        yield "the tree has no root" if tree else "the tree is empty"
    for key in among:
        thought = tree[key]
        missing = [name for name in ALWAYS if name not in thought]
        if missing:
            yield f"thought {key!r} has no {missing[0]}"
        elif thought["id"] != key or not (key.isascii() and key.isdecimal()):
            yield f"thought {key!r} has the id {thought['id']!r}"
        elif thought["status"] not in get_args(Status) or not isinstance(thought["text"], str):
            yield f"thought {key!r} has an invalid status or text"
        elif absent := next((name for name in _references(thought) if name not in tree), None):
            yield f"thought {key!r} refers to {absent!r}, which does not exist"
        elif fault := _misplaced(tree, thought):
            yield f"thought {key!r} {fault}"


def _misplaced(tree: Tree, thought: Thought) -> str:
    """Returns how a thought's parent or depth is wrong; empty if both are right."""
    parent = thought["parent"]
    if parent is None:
        depth, fits = 0, thought["id"] == ROOT
    else:
        depth, fits = tree[parent]["depth"] + 1, int(parent) < int(thought["id"])
    if not fits:
        return f"cannot have the parent {parent!r}"
    return "" if thought["depth"] == depth else f"has the depth {thought['depth']}, not {depth}"


def _references(thought: Thought) -> Iterator[str]:
    """Yields the ids of other thoughts that a thought refers to."""
    if parent := thought["parent"]:
        yield parent
    if "rollback" in thought:
        yield thought["rollback"]["to"]
    if "caused_by" in thought:
        yield thought["caused_by"]
    yield from thought.get("experiences", [])
    contents: Mapping[str, Any] = thought.get("shown", {})
    yield from contents.get("rejected", [])
    yield from contents.get("beside", [])
    yield from contents.get("lessons", [])
    if propagation := thought.get("propagation"):
        yield propagation["last"]
        yield from (each["thought"] for each in propagation["raised"])
