"""The position of a depth-first search, derived from its tree: no stack is stored.

The stack of the recursion is the path from the root to the thought expanded last. The children of
one expansion have consecutive ids, so a level is a thought and its neighbours with the same parent.
The levels of the stack are those on the path up from the youngest thought. Thoughts that a person
added have later ids, and belong to the level of their siblings.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile

from thoughtgraph.settings.tot import TotDfsSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import PERSON, ROOT, Thought, Tree, children_of, living, path_to

Level = Sequence[Thought]
"""The thoughts that one expansion made, in the order of their creation."""


def levels(tree: Tree) -> Iterator[Level]:
    """Yields the levels of the stack, deepest first; none lies below a pruned thought."""
    path = path_to(tree, next(key for key in reversed(tree) if not _is_added(tree[key])))
    alive = [*takewhile(lambda thought: thought["status"] != "pruned", path)]
    for thought in reversed(path[: len(alive) + 1]):
        yield siblings(tree, thought["id"])


def siblings(tree: Tree, key: str) -> Level:
    """Returns the level of a thought: the thoughts of its expansion, and siblings added by hand."""
    parent = tree[key]["parent"]
    if _is_added(tree[key]):
        ids = (t["id"] for t in children_of(tree, parent or ROOT) if not _is_added(t))
        key = next(ids, key)
    first = last = int(key)
    while first > 1 and tree[str(first - 1)]["parent"] == parent:
        first -= 1
    while last + 1 < len(tree) and tree[str(last + 1)]["parent"] == parent:
        last += 1
    later = islice(tree.values(), last + 1, None)
    added = (t for t in later if "created_by" in t and t["parent"] == parent and _is_added(t))
    return [*(tree[str(at)] for at in range(first, last + 1)), *added]


def _is_added(thought: Thought) -> bool:
    """Returns whether a person added a thought."""
    return thought.get("created_by", {}).get("node") == PERSON


def latest(tree: Tree) -> str:
    """Returns the id of the thought visited last; the root's before the first visit."""
    visited = [thought for level in levels(tree) for thought in level if "visit" in thought]
    return max(visited, key=lambda thought: thought["visit"], default=tree[ROOT])["id"]


def current(tree: Tree) -> Level:
    """Returns the level of the last visit; the one below if the visited thought was expanded."""
    key, top = latest(tree), next(levels(tree), [])
    if top and top[0]["parent"] == key:
        return top
    return [] if tree[key]["status"] == "expanded" else siblings(tree, key)


def candidates(state: SearchState, level: Level) -> list[str]:
    """Returns the ids left to try in a level, best score first; ties in the order of creation.

    States that a person reopened come first. Without backtracking, a level is tried only once.
    """
    settings = TotDfsSettings.of(state["settings"])
    most = 1 if settings.variant == "no_backtrack" else settings.max_per_state
    tried = sum("visit" in thought for thought in level)
    new = [t for t in level if t["status"] == "open" and "visit" not in t and tried < most]
    ordered = sorted(new, key=lambda thought: -thought.get("score", 0.0))
    return [t["id"] for t in (*_reopened(state, level), *ordered)]


def next_state(state: SearchState) -> str:
    """Returns the id of the candidate to judge and visit next; empty if none is left."""
    tree = state["thoughts"]
    for level in levels(tree):
        if keys := candidates(state, level):
            return keys[0]
    left = [tree[key] for key in living(tree)]
    return next((t["id"] for t in (*_reopened(state, left), *_opened_by_hand(state, left))), "")


def judged(state: SearchState) -> list[str]:
    """Returns the id of the next candidate, in a list; none while its verdict is missing."""
    key = next_state(state)
    return [key] if key and not awaits_verdict(state, key) else []


def to_expand(state: SearchState) -> str:
    """Returns the id of the last visited state if it can be expanded; else empty."""
    key = latest(state["thoughts"])
    return key if _is_expandable(state, state["thoughts"][key]) else ""


def awaits_verdict(state: SearchState, key: str) -> bool:
    """Returns whether a candidate has no verdict yet; without backtracking none is judged."""
    judges = TotDfsSettings.of(state["settings"]).variant != "no_backtrack"
    return judges and "value" not in state["thoughts"][key]


def visited(thoughts: Iterable[Thought]) -> list[Thought]:
    """Returns the visited thoughts, in the order of their visits."""
    return sorted((t for t in thoughts if "visit" in t), key=lambda thought: thought["visit"])


def _is_expandable(state: SearchState, thought: Thought) -> bool:
    limit = TotDfsSettings.of(state["settings"]).limit_depth
    return thought["status"] == "open" and (limit is None or thought["depth"] < limit)


def _opened_by_hand(state: SearchState, thoughts: Iterable[Thought]) -> Iterator[Thought]:
    """Yields the unvisited, expandable states that a person opened or added."""
    for thought in thoughts:
        by_person = thought.get("pruned_by") == "" or _is_added(thought)
        if by_person and "visit" not in thought and _is_expandable(state, thought):
            yield thought


def _reopened(state: SearchState, thoughts: Iterable[Thought]) -> Iterator[Thought]:
    """Yields the expandable states that a person reopened after the search had left them."""
    for thought in thoughts:
        left = thought.get("visit", state["step"]) < state["step"]
        if left and thought.get("pruned_by") == "" and _is_expandable(state, thought):
            yield thought
