"""The votes, weights or scores by which an answer was chosen, as the result reports them."""

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
"""From the last state and the id of the thought that answers to the votes behind that choice."""


def samples(state: SearchState) -> list[str]:
    """Returns the ids of the samples in their order, without those that a person dropped."""
    tree = state["thoughts"]
    return [key for key in tree if key != ROOT and not tree[key].get("pruned_by")]


async def with_ballots(step: Step, thoughts: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Returns the thoughts, with a `ballot` where an answer votes as another text (`Same`).

    A ballot of None is no vote; the thought's note says why, if the task can tell.
    """
    state, task = step.state, step.task(Task)
    if not isinstance(task, Same):
        return [*map(dict, thoughts)]
    answers = [*dict.fromkeys(each.get("answer") for each in thoughts)]
    distinct = [answer for answer in answers if answer is not None]
    calls = (maybe_await(task.same(state["problem"], each, state["settings"])) for each in distinct)
    forms = dict(zip(distinct, await asyncio.gather(*calls), strict=True))
    voteless = [answer for answer in distinct if forms[answer] is None]
    reasons = dict(
        zip(voteless, await asyncio.gather(*(_why(step, e) for e in voteless)), strict=True)
    )
    voting = []
    for each in map(dict, thoughts):
        answer = each.get("answer")
        if answer is not None and forms[answer] != answer:
            each["ballot"] = forms[answer]
        if reason := reasons.get(answer):
            each["note"] = with_note(each, reason)
        voting.append(each)
    return voting


async def _why(step: Step, answer: str) -> str:
    """Returns why an answer has no vote; empty where the task cannot tell."""
    state, task = step.state, step.task(Task)
    if not isinstance(task, Plausible):
        return ""
    verdict = await maybe_await(task.plausible(state["problem"], answer, state["settings"]))
    return verdict.label.partition("\n")[0]


def ballots_of(thoughts: Mapping[str, Mapping[str, Any]]) -> dict[str, str | None]:
    """Returns the ballot of each thought, in order; None if the thought has no vote.

    A ballot is the answer, or the form the task gave it. Empty forms count only if all are empty.
    """
    votes = {key: each.get("ballot", each.get("answer")) for key, each in thoughts.items()}
    if not any("ballot" in each for each in thoughts.values()) or not any(votes.values()):
        return votes
    return {key: ballot or None for key, ballot in votes.items()}


def ballots(state: SearchState) -> dict[str, str | None]:
    """Returns the ballot of each sample; see `ballots_of`."""
    return ballots_of({key: state["thoughts"][key] for key in samples(state)})


def samples_of(state: SearchState, chosen: str) -> list[Vote]:
    """Returns the vote among answers of samples, one vote each (self-consistency)."""
    voting = {key: state["thoughts"][key] for key in samples(state)}
    return answers_of("votes", voting, dict.fromkeys(voting, 1), chosen)


def answers_of(
    by: By, thoughts: Mapping[str, Thought], weights: Mapping[str, float | Fraction], chosen: str
) -> list[Vote]:
    """Returns the vote among answers, each as its first thought wrote it; empty without a winner.

    Args:
        by: Kind of vote.
        thoughts: The thoughts that may vote, by id, in order.
        weights: Weight of the vote of each thought.
        chosen: Id of the thought that gives the answer.
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
    """Returns the vote at each depth of the answer's path, for a search that compared levels.

    Args:
        state: The last state.
        chosen: Id of the thought that gives the answer.
        by: Kind of vote that compared the thoughts.
    """
    steps = path_to(state["thoughts"], chosen)
    return [level for step in steps if (level := _level(by, state, step)) is not None]


def _level(by: By, state: SearchState, chosen: Thought) -> Vote | None:
    """Returns the vote that chose a thought among its level; None if there was no choice."""
    depth = chosen["depth"]
    level = [t for t in state["thoughts"].values() if t["depth"] == depth and "value" in t]
    if len(level) < 2 or "value" not in chosen or chosen["id"] == ROOT:
        return None
    worth = {thought["id"]: thought["value"] for thought in level}
    unread_counts = [thought.get("unread", 0) for thought in level]
    # One comparison gives all its thoughts the same count; scores each have their own.
    unread = sum(unread_counts) if by == "scores" else max(unread_counts)
    read = by != "scores" or not chosen.get("unread")
    counted = vote(by, worth, chosen["id"], unread=unread, step=depth, read=read)
    if by == "scores" and all(unread_counts):  # no score could be read
        counted["of"] = 0.0
    return {**counted, "tied": [_name(state["thoughts"][key]) for key in counted["tied"]]}


def _name(thought: Thought) -> str:
    return thought.get("answer") or f"thought {thought['id']}"
