"""The rounds of a breadth-first search, read off its tree and the paper's t (`step`)."""

from collections.abc import Sequence

from thoughtgraph.nodes.placement import Placed
from thoughtgraph.nodes.verdicts import unjudged
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT


def frontier(state: SearchState) -> list[str]:
    """Returns the states to expand, best first or as they were drawn; ids may occur twice."""
    tree, t = state["thoughts"], state["step"]
    level = [thought for thought in tree.values() if thought["depth"] == t]
    drawn = [(at, thought["id"]) for thought in level for at in thought.get("draws", ())]
    best = [each for each in level if each["status"] == "open" and "draws" not in each]
    best.sort(key=lambda thought: -thought.get("value", 0.0))
    left = [key for _, key in sorted(drawn) if tree[key]["status"] in ("open", "expanded")]
    return [*left, *(thought["id"] for thought in best)]


def this_round(state: SearchState) -> list[str]:
    """Returns the states created in this round that nobody has dropped (the paper's S'_t)."""
    tree, depth = state["thoughts"], state["step"] + 1
    level = [each for each in tree.values() if each["depth"] == depth]
    return [
        each["id"]
        for each in level
        if each["status"] != "pruned" and tree[each["parent"] or ROOT]["status"] != "pruned"
    ]


def complete_round(state: SearchState) -> list[str]:
    """Returns the states of this round once nothing is left to be expanded or judged in it."""
    return [] if state["stop_reason"] or unready(state) else this_round(state)


def draws_left(state: SearchState, placed: Placed, served: Sequence[str]) -> None:
    """Notes which draws of a state are still to be expanded, where states were drawn."""
    for key, parent in placed.parents.items():
        if "draws" in state["thoughts"][key]:
            parent["draws"] = state["thoughts"][key]["draws"][served.count(key) :]


def unready(state: SearchState) -> bool:
    """Returns whether states of this round are still to be expanded or judged."""
    return bool(frontier(state) or unjudged(state, this_round(state)))


def outputs(state: SearchState) -> list[str]:
    """Returns what the last selection kept, in its order; an id may occur twice."""
    tree, t = state["thoughts"], state["step"]
    kept = [each for each in tree.values() if each["depth"] == t and each["status"] != "pruned"]
    drawn = sorted((at, thought["id"]) for thought in kept for at in thought.get("draws", ()))
    kept.sort(key=lambda thought: -thought.get("value", 0.0))
    return [key for _, key in drawn] or [thought["id"] for thought in kept]
