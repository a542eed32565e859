"""What the answer was chosen by: votes, weights or scores, as the result tells them."""

from collections.abc import Callable

from thoughtgraph.outcome import By, Vote, vote
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Thought, path_to

Tally = Callable[[SearchState, str], list[Vote]]
"""From the last state and the thought that the answer is from to how it was chosen, in order."""


def samples(state: SearchState) -> list[str]:
    """Returns the samples of a problem in their order, without those that a person dropped."""
    tree = state["thoughts"]
    return [key for key in tree if key != ROOT and not tree[key].get("pruned_by")]


def samples_of(state: SearchState, chosen: str) -> list[Vote]:
    """Tells of answers each of which one sample gave (self-consistency)."""
    given = [state["thoughts"][key].get("answer") for key in samples(state)]
    worth: dict[str, float] = {}
    for answer in given:
        if answer is not None:
            worth[answer] = worth.get(answer, 0.0) + 1
    name = state["thoughts"][chosen]["answer"]
    return [vote("votes", worth, name or "", unread=given.count(None))] if name in worth else []


def level_votes(state: SearchState, chosen: str, by: By) -> list[Vote]:
    """Tells of a search that compared the thoughts of each depth.

    Args:
        state: The last state.
        chosen: The thought that the answer is from.
        by: What the thoughts were compared by.
    """
    steps = path_to(state["thoughts"], chosen)
    return [each for step in steps if (each := _level(by, state, step)) is not None]


def _level(by: By, state: SearchState, chosen: Thought) -> Vote | None:
    depth = chosen["depth"]
    level = [t for t in state["thoughts"].values() if t["depth"] == depth and "value" in t]
    if len(level) < 2 or "value" not in chosen or chosen["id"] == ROOT:
        return None
    worth = {thought["id"]: thought["value"] for thought in level}
    lost = [thought.get("unread", 0) for thought in level]
    unread = sum(lost) if by == "scores" else max(lost)
    read = by != "scores" or not chosen.get("unread")
    found = vote(by, worth, chosen["id"], unread=unread, step=depth, read=read)
    if by == "scores" and all(lost):
        found["of"] = 0.0
    return {**found, "tied": [_name(state["thoughts"][key]) for key in found["tied"]]}


def _name(thought: Thought) -> str:
    return thought.get("answer") or f"thought {thought['id']}"
