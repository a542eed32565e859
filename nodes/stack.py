"""The stack of a depth-first search, which stands in its state so that it can be resumed.

Its frames hold candidates that were all made at once.
"""

from collections.abc import Callable, Sequence
from typing import Any

from thoughtgraph.reducers import Frame, StackWrite


def rewritten(old: Sequence[Any], new: Sequence[Any]) -> StackWrite:
    """Returns the write that makes one stack of another: what lies below is not stored again."""
    pairs = enumerate(zip(old, new, strict=False))
    shorter = min(len(old), len(new))
    keep = next((at for at, (before, after) in pairs if before is not after), shorter)
    return StackWrite(keep=keep, frames=[*new[keep:]])


def advance(
    frame: Frame, refused: Callable[[str], bool], *, most: int | None = None
) -> tuple[Frame, str]:
    """Takes the next candidate of a frame.

    Args:
        frame: The frame.
        refused: Whether a candidate, by its id, is passed over.
        most: How many candidates may be visited; None: all.

    Returns:
        The frame afterwards, and the candidate's id; empty where none is left.
    """
    pos = frame["pos"]
    while pos < len(frame["candidates"]) and frame["tried"] != most:
        key = frame["candidates"][pos]
        pos += 1
        if not refused(key):
            return {**frame, "pos": pos, "tried": frame["tried"] + 1}, key
    return {**frame, "pos": pos}, ""
