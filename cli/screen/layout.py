"""Lays a tree out for a small screen: which thoughts it shows, and the lines between them."""

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from thoughtgraph.cli import text
from thoughtgraph.tree import ROOT, Thought, Tree

_RANKS = {"terminal": 1, "open": 2, "expanded": 3, "pruned": 4}


class Row(NamedTuple):
    """One line of the drawn tree."""

    guides: str
    """The line characters that lead to the thought."""
    key: str | None
    """Id of the thought; None in a line that stands for several hidden ones."""
    words: str
    """The text of a line for hidden thoughts."""
    gap: bool = False
    """Whether ancestors between this thought and the one above it are hidden."""


def rows(tree: Tree, focus: Collection[str], height: int) -> list[Row]:
    """Lays a tree out in at most `height` lines.

    The root and the focus with its ancestors have priority, then outputs, open, expanded and pruned
    thoughts; within each kind those of higher value, then the newer ones. Hidden siblings share one
    line that counts them.
    """
    if ROOT not in tree:
        return []
    children: dict[str, list[str]] = {}
    for key, thought in tree.items():
        if key != ROOT:
            children.setdefault(thought.get("parent") or ROOT, []).append(key)
    chosen, covered = _choose(tree, children, focus, height)
    return list(_draw(tree, children, chosen, covered))[:height]


def _choose(
    tree: Tree, children: Mapping[str, list[str]], focus: Collection[str], height: int
) -> tuple[set[str], set[str]]:
    """Returns the ids of the thoughts to show, and of these with all their ancestors."""
    focused = set(focus)

    def rank(key: str) -> tuple[float, float, int]:
        thought = tree[key]
        kind = 0 if key in focused else _RANKS.get(thought.get("status", "open"), 2)
        return kind, -_worth(tree, thought), -int(key)

    chosen, covered = {ROOT}, {ROOT}
    for key in heapq.nsmallest(4 * height, tree, key=rank):
        path = {key, *_ancestors(tree, key)}
        wider = covered | path
        # A deep thought in the focus is shown even if the path to it does not fit.
        skips_path = key in focused and len(path) > height // 2
        for added in (path, {key}) if skips_path else (path,):
            if _lines(children, chosen | added, wider) <= height:
                chosen, covered = chosen | added, wider
                break
    return chosen, covered


def _worth(tree: Tree, thought: Thought) -> float:
    """Returns a thought's value, or its parent's value if it has none yet."""
    above = tree.get(thought.get("parent") or ROOT, Thought())
    return thought.get("value", above.get("value", 0.0))


def _ancestors(tree: Tree, key: str) -> Iterable[str]:
    at = tree[key].get("parent")
    while at is not None and at in tree:
        yield at
        at = tree[at].get("parent")


def _lines(children: Mapping[str, list[str]], chosen: set[str], covered: set[str]) -> int:
    """Returns the number of lines for these thoughts and for counts of their hidden children."""
    return len(chosen) + sum(
        any(child not in covered for child in children.get(key, ())) for key in chosen
    )


def _draw(
    tree: Tree, children: Mapping[str, list[str]], chosen: set[str], covered: set[str]
) -> Iterator[Row]:
    below: dict[str, list[str]] = {}
    for key in sorted(chosen - {ROOT}, key=int):
        above = next(at for at in _ancestors(tree, key) if at in chosen)
        below.setdefault(above, []).append(key)

    def subtree(key: str, guides: str) -> Iterator[Row]:
        hidden = [tree[child] for child in children.get(key, ()) if child not in covered]
        entries = [*below.get(key, ()), *([None] if hidden else [])]
        for at, child in enumerate(entries, 1):
            line, under = ("└─ ", "   ") if at == len(entries) else ("├─ ", "│  ")
            if child is None:
                yield Row(guides + line, None, _hidden_words(hidden))
            else:
                yield Row(guides + line, child, "", tree[child].get("parent") != key)
                yield from subtree(child, guides + under)

    yield Row("", ROOT, "")
    yield from subtree(ROOT, "")


def _hidden_words(hidden: list[Thought]) -> str:
    pruned = sum(thought.get("status") == "pruned" for thought in hidden)
    values = [thought["value"] for thought in hidden if "value" in thought]
    best = f", best {text.value(max(values))}" if values else ""
    if pruned == len(hidden):
        return f"{pruned} pruned{best}"
    return f"{len(hidden)} more{f' ({pruned} pruned)' if pruned else ''}{best}"
