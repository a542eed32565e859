"""Which thoughts of a tree a small screen shows, and how they hang together."""

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from thoughtgraph.cli import text
from thoughtgraph.tree import ROOT, Thought, Tree

_RANKS = {"terminal": 1, "open": 2, "expanded": 3, "pruned": 4}


class Row(NamedTuple):
    """One line of the drawn tree."""

    guides: str
    """The lines that lead to it."""
    key: str | None
    """The thought it shows; None for a line that stands for several hidden ones."""
    words: str
    """What such a line says."""
    gap: bool = False
    """Whether ancestors between this thought and the one it hangs from are hidden."""


def rows(tree: Tree, focus: Collection[str], height: int) -> list[Row]:
    """Lays a tree out in at most so many lines.

    The root and the focus with its ancestors come first, then outputs, open thoughts and expanded
    ones, pruned ones last; within each kind the higher value, then the newer. Hidden siblings share
    one line that counts them.
    """
    if ROOT not in tree:
        return []
    children: dict[str, list[str]] = {}
    for key, thought in tree.items():
        if key != ROOT:
            children.setdefault(thought.get("parent") or ROOT, []).append(key)
    shown, covered = _shown(tree, children, focus, height)
    return list(_draw(tree, children, shown, covered))[:height]


def _shown(
    tree: Tree, children: Mapping[str, list[str]], focus: Collection[str], height: int
) -> tuple[set[str], set[str]]:
    """Returns the thoughts to show, and these with all their ancestors."""
    focused = set(focus)

    def rank(key: str) -> tuple[float, float, int]:
        thought = tree[key]
        kind = 0 if key in focused else _RANKS.get(thought.get("status", "open"), 2)
        return kind, -_worth(tree, thought), -int(key)

    shown, covered = {ROOT}, {ROOT}
    for key in heapq.nsmallest(4 * height, tree, key=rank):
        path = {key, *_ancestors(tree, key)}
        wider = covered | path
        # A deep thought that matters is shown even where the way down to it does not fit.
        alone = key in focused and len(path) > height // 2
        for more in (path, {key}) if alone else (path,):
            if _lines(children, shown | more, wider) <= height:
                shown, covered = shown | more, wider
                break
    return shown, covered


def _worth(tree: Tree, thought: Thought) -> float:
    """Returns a thought's value; its parent's while it has none."""
    above = tree.get(thought.get("parent") or ROOT, Thought())
    return thought.get("value", above.get("value", 0.0))


def _ancestors(tree: Tree, key: str) -> Iterable[str]:
    at = tree[key].get("parent")
    while at is not None and at in tree:
        yield at
        at = tree[at].get("parent")


def _lines(children: Mapping[str, list[str]], shown: set[str], covered: set[str]) -> int:
    """Returns how many lines it takes to show these thoughts and to count their hidden children."""
    return len(shown) + sum(
        any(child not in covered for child in children.get(key, ())) for key in shown
    )


def _draw(
    tree: Tree, children: Mapping[str, list[str]], shown: set[str], covered: set[str]
) -> Iterator[Row]:
    below: dict[str, list[str]] = {}
    for key in sorted(shown - {ROOT}, key=int):
        above = next(at for at in _ancestors(tree, key) if at in shown)
        below.setdefault(above, []).append(key)

    def hang(key: str, guides: str) -> Iterator[Row]:
        hidden = [tree[child] for child in children.get(key, ()) if child not in covered]
        hanging = [*below.get(key, ()), *([None] if hidden else [])]
        for at, child in enumerate(hanging, 1):
            line, under = ("└─ ", "   ") if at == len(hanging) else ("├─ ", "│  ")
            if child is None:
                yield Row(guides + line, None, _counted(hidden))
            else:
                yield Row(guides + line, child, "", tree[child].get("parent") != key)
                yield from hang(child, guides + under)

    yield Row("", ROOT, "")
    yield from hang(ROOT, "")


def _counted(hidden: list[Thought]) -> str:
    pruned = sum(thought.get("status") == "pruned" for thought in hidden)
    values = [thought["value"] for thought in hidden if "value" in thought]
    best = f", best {text.value(max(values))}" if values else ""
    if pruned == len(hidden):
        return f"{pruned} pruned{best}"
    return f"{len(hidden)} more{f' ({pruned} pruned)' if pruned else ''}{best}"
