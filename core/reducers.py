"""How writes change what a search has so far: the reducers of the state's channels."""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict


def first_nonempty(old: str, new: str) -> str:
    """Keeps the first text that is not empty: nodes side by side may all report why they stop."""
    return old or new


def last_write(old: dict[str, Any], writes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Keeps the last write: what hardly changes is not stored again at every step."""
    return writes[-1] if writes else old


def merge_index(index: dict[str, str], writes: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Adds entries to an index; what is known stays: the first thought counts."""
    merged = dict(index)
    for write in writes:
        for key, thought in write.items():
            merged.setdefault(key, thought)
    return merged


class Frame(TypedDict):
    """One level of a depth-first search: a state and what is left to try from it."""

    thought: str
    """Id of the expanded thought."""
    candidates: list[str]
    """Ids of its children in the order in which they are tried."""
    pos: int
    """How many of them were looked at."""
    tried: int
    """How many of them were visited."""


class StackWrite(TypedDict):
    """A write to a stack."""

    keep: int
    """How many frames stay, from the root down."""
    frames: list[Any]
    """What is put on them."""


def restack(stack: list[Any], writes: Sequence[StackWrite]) -> list[Any]:
    """Changes the top of a stack; what lies below is not stored again."""
    for write in writes:
        stack = [*stack[: write["keep"]], *write["frames"]]
    return stack
