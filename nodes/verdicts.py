"""Verdicts: the readings of judgements, and how a thought keeps them.

A verdict is kept under the state key of its question, so that equal questions are sent once.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from thoughtgraph.llm.store import digest
from thoughtgraph.nodes.calls import Answer, join_samples
from thoughtgraph.nodes.step import Step
from thoughtgraph.task import Estimates, Judged, Prompt, Question, Verdict, maybe_await
from thoughtgraph.tree import Thought, Tree, cut


class VoteCounts(NamedTuple):
    """The votes of a comparison."""

    votes: list[int]
    """Number of votes for each choice."""
    malformed: int


def counted_votes(question: Question[Sequence[int | None]], choices: int) -> Question[VoteCounts]:
    """Returns the question of a vote, read as the number of votes for each choice."""

    def read(samples: Sequence[str]) -> VoteCounts:
        chosen = question.read(samples)
        return VoteCounts([chosen.count(at) for at in range(choices)], chosen.count(None))

    return Question(question.prompt, read, question.n)


def verdicts_in(tree: Tree) -> dict[str, Any]:
    """Returns all verdicts in a tree, by state key."""
    return {k: v for thought in tree.values() for k, v in thought.get("verdicts", {}).items()}


def verdict_fields(key: str, verdict: dict[str, Any]) -> Thought:
    """Returns the fields of a thought for a verdict that equal states reuse."""
    return {"value": verdict["value"], "note": verdict["label"], "verdicts": {key: verdict}}


async def estimate(step: Step, key: str, style: str) -> Judged:
    """Returns the question that estimates how promising a thought is, or the estimate itself."""
    problem, path, settings = step.at(key)
    return await maybe_await(step.task(Estimates).estimate(problem, path, style, settings))


def value_fields(verdict: Verdict) -> Thought:
    """Returns the fields of a thought for a verdict without a state key."""
    return {"value": verdict.value, "note": verdict.label}


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Returns the part of a verdict that is stored under its state key."""
    return {"value": verdict.value, "label": verdict.label}


def words_of(answer: Answer[Any]) -> Thought:
    """Returns the fields of a thought for the words of a judge and the usage of the request."""
    return {"value_raw": cut(join_samples(answer.texts)), "usage": answer.usage}


def state_key_of(prompt: Prompt) -> str:
    """Returns the state key of a prompt: equal prompts are about equal states."""
    return digest({"system": prompt.system, "examples": prompt.examples, "user": prompt.user})
