"""Whether what was read from a file is a search tree."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from thoughtgraph.tree import ROOT, Status, Thought, Tree

ALWAYS = ("id", "parent", "depth", "status", "text")
"""Fields that every thought has."""


def damage(tree: object) -> str:
    """Returns what keeps a value from being a search tree; empty: nothing does."""
    try:
        whole = _adapter().validate_python(tree, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}".removeprefix(": ")
    return misgrown(whole)


def misgrown(tree: Tree, among: Collection[str] | None = None) -> str:
    """Returns what keeps thoughts from having grown from a root, parents first; or nothing.

    Args:
        tree: The tree.
        among: The thoughts that are looked at; None: all.
    """
    return next(_faults(tree, tree if among is None else among), "")


@cache
def _adapter() -> TypeAdapter[dict[str, Thought]]:
    return TypeAdapter(dict[str, Thought])


def _faults(tree: Tree, among: Collection[str]) -> Iterator[str]:
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
            yield f"thought {key!r} has a status or a text that no thought has"
        elif lost := next((name for name in _named(thought) if name not in tree), None):
            yield f"thought {key!r} speaks of {lost!r}, which is not there"
        elif wrong := _misplaced(tree, thought):
            yield f"thought {key!r} {wrong}"


def _misplaced(tree: Tree, thought: Thought) -> str:
    parent = thought["parent"]
    if parent is None:
        depth, older = 0, thought["id"] == ROOT
    else:
        depth, older = tree[parent]["depth"] + 1, int(parent) < int(thought["id"])
    if not older:
        return f"cannot have the parent {parent!r}"
    return "" if thought["depth"] == depth else f"has the depth {thought['depth']}, not {depth}"


def _named(thought: Thought) -> Iterator[str]:
    """Yields the ids by which a thought speaks of others."""
    if parent := thought["parent"]:
        yield parent
    if "rollback" in thought:
        yield thought["rollback"]["to"]
    if "caused_by" in thought:
        yield thought["caused_by"]
    yield from thought.get("experiences", [])
    shown: Mapping[str, Any] = thought.get("shown", {})
    yield from shown.get("rejected", [])
    yield from shown.get("beside", [])
    yield from shown.get("lessons", [])
    if propagation := thought.get("propagation"):
        yield propagation["last"]
        yield from (each["thought"] for each in propagation["raised"])
