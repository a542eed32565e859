"""Where a depth-first search stands, read off its tree: no stack is kept beside it.

The stack of the recursion is the path from the root to the thought expanded last. The children of
one expansion have consecutive ids, so a level is found by a look at the neighbours of a thought,
and the levels of the stack by going up from the youngest thought. What a person added comes later:
it belongs to the level of its siblings.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile

from thoughtgraph.settings.tot import TotDfsSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import PERSON, ROOT, Thought, Tree, children_of, living, path_to

Level = Sequence[Thought]
"""The thoughts that one expansion made, in the order of their creation."""


def levels(tree: Tree) -> Iterator[Level]:
    """Yields the levels of the stack, the deepest first; none below a pruned thought."""
    path = path_to(tree, next(key for key in reversed(tree) if not _is_added(tree[key])))
    alive = [*takewhile(lambda thought: thought["status"] != "pruned", path)]
    for thought in reversed(path[: len(alive) + 1]):
        yield siblings(tree, thought["id"])


def siblings(tree: Tree, key: str) -> Level:
    """Returns a thought and those that were made together with it."""
    parent = tree[key]["parent"]
    if _is_added(tree[key]):
        made = (t["id"] for t in children_of(tree, parent or ROOT) if not _is_added(t))
        key = next(made, key)
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
    """Returns the id of the thought that was visited last, the root's before the first visit."""
    visited = [thought for level in levels(tree) for thought in level if "visit" in thought]
    return max(visited, key=lambda thought: thought["visit"], default=tree[ROOT])["id"]


def current(tree: Tree) -> Level:
    """Returns the level of the last visit, or the one below where that thought was expanded."""
    key, top = latest(tree), next(levels(tree), [])
    if top and top[0]["parent"] == key:
        return top
    return [] if tree[key]["status"] == "expanded" else siblings(tree, key)


def candidates(state: SearchState, level: Level) -> list[str]:
    """Returns what is left to try in a level, best score first; equals in the order of creation.

    A state that a person opened again is tried again. Without backtracking a level is tried once.
    """
    settings = TotDfsSettings.of(state["settings"])
    most = 1 if settings.variant == "no_backtrack" else settings.max_per_state
    tried = sum("visit" in thought for thought in level)
    new = [t for t in level if t["status"] == "open" and "visit" not in t and tried < most]
    ordered = sorted(new, key=lambda thought: -thought.get("score", 0.0))
    return [t["id"] for t in (*_reopened(state, level), *ordered)]


def next_state(state: SearchState) -> str:
    """Returns the candidate to judge and visit next; empty where nothing is left to try."""
    tree = state["thoughts"]
    for level in levels(tree):
        if keys := candidates(state, level):
            return keys[0]
    left = [tree[key] for key in living(tree)]
    return next((t["id"] for t in (*_reopened(state, left), *_by_hand(state, left))), "")


def judged(state: SearchState) -> list[str]:
    """Returns the candidate that was judged and is visited next, if there is one."""
    key = next_state(state)
    return [key] if key and not awaits_verdict(state, key) else []


def to_expand(state: SearchState) -> str:
    """Returns the visited state that is gone into next; empty where none is."""
    key = latest(state["thoughts"])
    return key if _may_go_on(state, state["thoughts"][key]) else ""


def awaits_verdict(state: SearchState, key: str) -> bool:
    """Returns whether a candidate is still to be judged; without backtracking none is."""
    judges = TotDfsSettings.of(state["settings"]).variant != "no_backtrack"
    return judges and "value" not in state["thoughts"][key]


def visited(thoughts: Iterable[Thought]) -> list[Thought]:
    """Returns the thoughts that a search recorded, in the order of its visits."""
    return sorted((t for t in thoughts if "visit" in t), key=lambda thought: thought["visit"])


def _may_go_on(state: SearchState, thought: Thought) -> bool:
    limit = TotDfsSettings.of(state["settings"]).limit_depth
    return thought["status"] == "open" and (limit is None or thought["depth"] < limit)


def _by_hand(state: SearchState, thoughts: Iterable[Thought]) -> Iterator[Thought]:
    """Yields the states that a person opened or added where the search had not visited them."""
    for thought in thoughts:
        by_person = thought.get("pruned_by") == "" or _is_added(thought)
        if by_person and "visit" not in thought and _may_go_on(state, thought):
            yield thought


def _reopened(state: SearchState, thoughts: Iterable[Thought]) -> Iterator[Thought]:
    """Yields the states that a person opened again after they were visited and left."""
    for thought in thoughts:
        left = thought.get("visit", state["step"]) < state["step"]
        if left and thought.get("pruned_by") == "" and _may_go_on(state, thought):
            yield thought
