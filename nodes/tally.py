"""What the answer was chosen by: votes, weights or scores, as the result tells them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from thoughtgraph.answers import Plausible, Same
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import By, Vote, vote, with_note
from thoughtgraph.state import SearchState
from thoughtgraph.task import Task, maybe_await
from thoughtgraph.tree import ROOT, Thought, path_to

Tally = Callable[[SearchState, str], list[Vote]]
"""From the last state and the thought that the answer is from to how it was chosen, in order."""


def samples(state: SearchState) -> list[str]:
    """Returns the samples of a problem in their order, without those that a person dropped."""
    tree = state["thoughts"]
    return [key for key in tree if key != ROOT and not tree[key].get("pruned_by")]


async def with_ballots(step: Step, thoughts: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Returns the thoughts; one whose answer counts as another text has that text as `ballot`.

    A ballot of None has no vote, and the thought's note says why if the task can tell.
    """
    state, task = step.state, step.task(Task)
    if not isinstance(task, Same):
        return [*map(dict, thoughts)]
    answers = [*dict.fromkeys(each.get("answer") for each in thoughts)]
    distinct = [answer for answer in answers if answer is not None]
    read = (maybe_await(task.same(state["problem"], each, state["settings"])) for each in distinct)
    forms = dict(zip(distinct, await asyncio.gather(*read), strict=True))
    voteless = [answer for answer in distinct if forms[answer] is None]
    reasons = dict(
        zip(voteless, await asyncio.gather(*(_why(step, e) for e in voteless)), strict=True)
    )
    voting = []
    for each in map(dict, thoughts):
        answer = each.get("answer")
        if answer is not None and forms[answer] != answer:
            each["ballot"] = forms[answer]
        if why := reasons.get(answer):
            each["note"] = with_note(each, why)
        voting.append(each)
    return voting


async def _why(step: Step, answer: str) -> str:
    """Returns why an answer has no vote; empty where the task cannot tell."""
    state, task = step.state, step.task(Task)
    if not isinstance(task, Plausible):
        return ""
    said = await maybe_await(task.plausible(state["problem"], answer, state["settings"]))
    return said.label.partition("\n")[0]


def ballots_of(thoughts: Mapping[str, Mapping[str, Any]]) -> dict[str, str | None]:
    """Returns what each of some thoughts votes for, in order; None where it has no vote.

    It is the answer, or the form that the task gives it; an empty form counts if there is no other.
    """
    votes = {key: each.get("ballot", each.get("answer")) for key, each in thoughts.items()}
    if not any("ballot" in each for each in thoughts.values()) or not any(votes.values()):
        return votes
    return {key: ballot or None for key, ballot in votes.items()}


def ballots(state: SearchState) -> dict[str, str | None]:
    """Returns what each sample votes for; see `ballots_of`."""
    return ballots_of({key: state["thoughts"][key] for key in samples(state)})


def samples_of(state: SearchState, chosen: str) -> list[Vote]:
    """Tells of answers each of which one sample gave (self-consistency)."""
    voting = {key: state["thoughts"][key] for key in samples(state)}
    return answers_of("votes", voting, dict.fromkeys(voting, 1), chosen)


def answers_of(
    by: By, thoughts: Mapping[str, Thought], weights: Mapping[str, float | Fraction], chosen: str
) -> list[Vote]:
    """Tells of a vote of answers, each named as it was first given.

    Args:
        by: What is counted.
        thoughts: Those that may vote, by id, in order.
        weights: What the vote of each is worth.
        chosen: The thought that the answer is from.
    """
    votes, names = ballots_of(thoughts), dict[str | None, str]()
    totals: dict[str, float | Fraction] = {}
    for key, ballot in votes.items():
        if ballot is not None:
            name = names.setdefault(ballot, thoughts[key]["answer"] or "")
            totals[name] = totals.get(name, 0) + weights[key]
    if (winner := names.get(votes.get(chosen))) is None:
        return []
    worth = {name: float(total) for name, total in totals.items()}
    return [vote(by, worth, winner, unread=[*votes.values()].count(None))]


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
