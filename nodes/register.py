"""Gives what was generated its place in the tree."""

from collections.abc import Sequence
from typing import Any

from thoughtgraph.fan_out import Expansion
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState


def register_thoughts(parts: Parts) -> Node:
    """Makes the node that turns the expansions of a fan-out into thoughts, in creation order.

    A thought whose request was not answered stays in the frontier. Thoughts beyond the limit are
    not created, and the search stops.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        expansions = state.get("expansions") or []
        placed = place(state, expansions)
        served = sum(expansion["served"] for expansion in expansions)
        counts = {"thoughts": len(placed.new), "expansions": served}
        return {
            "tree": placed.tree,
            "frontier": _not_expanded(state, expansions),
            "generation": [*state["generation"], *placed.new],
            "usage": {name: number for name, number in counts.items() if number},
            "stop_reason": "" if placed.complete else "budget",
        }

    return node


def _not_expanded(state: SearchState, expansions: Sequence[Expansion]) -> list[str]:
    """Returns what is left of the frontier, in which a thought may stand several times."""
    left = list(state["frontier"])
    for expansion in expansions:
        if expansion["served"]:
            left.remove(expansion["parent"])
    return left
