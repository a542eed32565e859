"""What the answer was chosen by: votes, weights or scores, as the result tells them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from thoughtgraph.answers import Same
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import By, Vote, vote
from thoughtgraph.state import SearchState
from thoughtgraph.task import Task, maybe_await
from thoughtgraph.tree import ROOT, Thought, path_to

Tally = Callable[[SearchState, str], list[Vote]]
"""From the last state and the thought that the answer is from to how it was chosen, in order."""


def samples(state: SearchState) -> list[str]:
    """Returns the samples of a problem in their order, without those that a person dropped."""
    tree = state["thoughts"]
    return [key for key in tree if key != ROOT and not tree[key].get("pruned_by")]


async def with_ballots(step: Step, thoughts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns new samples with what each votes for, where the task says which answers are equal."""
    state, task, forms = step.state, step.task(Task), dict[Any, str | None]()
    if not isinstance(task, Same):
        return [*map(dict, thoughts)]
    for answer in dict.fromkeys(each.get("answer") for each in thoughts):
        if answer is not None:
            forms[answer] = await maybe_await(
                task.same(state["problem"], answer, state["settings"])
            )
    return [{**each, "ballot": forms.get(each.get("answer"))} for each in thoughts]


def ballots(state: SearchState) -> dict[str, str | None]:
    """Returns what each sample votes for, in order; None where it has no vote.

    It is the answer, or the form that the task gives it; an empty form counts if there is no other.
    """
    tree = state["thoughts"]
    votes = {key: tree[key].get("ballot", tree[key].get("answer")) for key in samples(state)}
    if not any("ballot" in tree[key] for key in votes) or not any(votes.values()):
        return votes
    return {key: ballot or None for key, ballot in votes.items()}


def samples_of(state: SearchState, chosen: str) -> list[Vote]:
    """Tells of answers each of which one sample gave (self-consistency)."""
    votes, names, worth = ballots(state), dict[str, str](), dict[str, float]()
    for key, ballot in votes.items():
        if ballot is not None:
            name = names.setdefault(ballot, state["thoughts"][key]["answer"] or "")
            worth[name] = worth.get(name, 0.0) + 1
    name = names.get(votes.get(chosen) or "", "")
    unread = [*votes.values()].count(None)
    return [vote("votes", worth, name, unread=unread)] if name in worth else []


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
    counted = vote(by, worth, chosen["id"], unread=unread, step=depth, read=read)
    if by == "scores" and all(lost):
        counted["of"] = 0.0
    return {**counted, "tied": [_name(state["thoughts"][key]) for key in counted["tied"]]}


def _name(thought: Thought) -> str:
    return thought.get("answer") or f"thought {thought['id']}"
