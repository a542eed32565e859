"""Gives what was generated its place in the tree: ids, a parent, and what it cost."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from thoughtgraph.generation import Expansion
from thoughtgraph.nodes.limits import thoughts_left
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Thought, Tree, grow, merge_thoughts
from thoughtgraph.usage import add_counts


class Placed(NamedTuple):
    """What expansions become."""

    new: Tree
    """The new thoughts, in the order of their creation."""
    parents: Tree
    """The changes to the thoughts that were expanded."""
    complete: bool
    """Whether the limit on thoughts kept none of them out of the tree."""

    @property
    def tree(self) -> Tree:
        """What is to be written to the tree."""
        return {**self.parents, **self.new}


def place(state: SearchState, expansions: Sequence[Expansion]) -> Placed:
    """Places the thoughts of expansions in their order, as many as the limit allows.

    What an expansion cost is added to what the expanded thought has cost, for a thought may be
    expanded several times.
    """
    room = thoughts_left(state)
    new: Tree = {}
    parents: Tree = {}
    for expansion in expansions:
        parent = expansion["parent"]
        kept = expansion["thoughts"][: max(0, room - len(new))]
        new |= grow(state["thoughts"], parent, kept, offset=len(new))
        # A draw with replacement may expand one thought several times in a step.
        before = parents.get(parent, state["thoughts"][parent])
        parents[parent] = {"status": "expanded", "usage": added_cost(before, expansion["usage"])}
    wanted = sum(len(expansion["thoughts"]) for expansion in expansions)
    short = any(expansion.get("short") for expansion in expansions)
    return Placed(new, parents, complete=wanted == len(new) and not short)


def with_times(state: SearchState, placed: Placed) -> Tree:
    """Returns what is to be written, with how often the expanded thoughts were: once more."""
    times: Tree = {key: {"expansions": times_expanded(state, key) + 1} for key in placed.parents}
    return merge_thoughts(placed.tree, [times])


def times_expanded(state: SearchState, key: str) -> int:
    """Returns how often a thought was expanded, in methods that may do so again."""
    return state["thoughts"][key].get("expansions", 0)


def place_below(
    state: SearchState,
    parent: str,
    thoughts: Sequence[Mapping[str, Any]],
    usage: dict[str, dict[str, float]],
) -> Placed:
    """Places the thoughts that follow one thought."""
    made = Expansion(parent=parent, thoughts=[dict(each) for each in thoughts], usage=usage)
    return place(state, [made])


def added_cost(
    thought: Thought, usage: Mapping[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    """Returns what a thought has cost in all, of the roles whose cost something adds to.

    The reducer of the tree keeps the other roles.
    """
    before = thought.get("usage", {})
    return {role: add_counts(before.get(role, {}), spent) for role, spent in usage.items()}
