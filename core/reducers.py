"""How writes change what a search has so far: the reducers of the state's channels."""

from collections.abc import Sequence
from typing import Any


def first_nonempty(old: str, new: str) -> str:
    """Keeps the first text that is not empty: nodes side by side may all report why they stop."""
    return old or new


def last_write(old: dict[str, Any], writes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Keeps the last write: what hardly changes is not stored again at every step."""
    return writes[-1] if writes else old
