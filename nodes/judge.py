"""One way to judge: asks a task's question, reads the verdict, counts what could not be read.

A verdict is kept under the state key of its question, so that equal questions are asked once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from langgraph.types import Send

from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.llm.port import Draw
from thoughtgraph.nodes.asker import Asker, join_samples
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.node import Node, fanned_out
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Estimates, Question, Verdict
from thoughtgraph.tree import Thought, Tree, cut


class Readable(Protocol):
    """What is read out of a judgement."""

    @property
    def malformed(self) -> int:
        """How many completions could not be read."""
        ...


Reading = TypeVar("Reading", bound=Readable)
Ask = Callable[[Parts, NodeInput], Question[Verdict]]
"""What a judge asks about the thought that was sent."""
Record = Callable[[NodeInput, Question[Verdict], Verdict], Thought]
"""The fields by which a thought keeps a verdict on it."""


@dataclass(frozen=True, slots=True)
class Judgement(Generic[Reading]):
    """What a judge answered."""

    verdict: Reading
    samples: Sequence[str]
    usage: dict[str, dict[str, float]]
    """What it cost, by role."""

    def fields(self) -> Thought:
        """Returns the fields by which a thought keeps the model's words, and what they cost."""
        return {"value_raw": cut(join_samples(self.samples)), "usage": self.usage}


class VoteCounts(NamedTuple):
    """The votes of a comparison."""

    votes: list[int]
    """How many each choice has."""
    malformed: int


async def judge(
    asker: Asker,
    question: Question[Reading],
    *,
    role: str,
    n: int = 1,
    draw: Draw | None = None,
) -> Judgement[Reading] | None:
    """Asks a judge's question; completions that cannot be read are counted under its role.

    Args:
        asker: Asks the model.
        question: What to ask.
        role: What for.
        n: How many completions, where the question does not say it.
        draw: Identifies a judgement that is to differ from others by the same prompt.

    Returns:
        The judgement; None where a limit or a failing endpoint forbids the request.
    """
    samples = await asker.samples(question.prompt, role=role, n=question.n or n, draw=draw)
    if samples is None:
        return None
    verdict = question.read(samples)
    if verdict.malformed:
        asker.meter.add({"parse_errors": {role: verdict.malformed}})
    return Judgement(verdict, samples, asker.meter.by_role())


def judge_states(
    parts: Parts, ask: Ask, record: Record, *, role: str = "value", drawn: bool = False
) -> Node:
    """Makes the node that judges states; it runs as one task a distinct state.

    Args:
        ask: What it asks.
        record: How a thought keeps the verdict.
        role: What it asks for.
        drawn: Whether equal prompts about different thoughts are asked anew.

    Returns:
        The node: from a `SendArg` to the values of the thoughts it is about. A request that a limit
        or a failing endpoint forbids leaves them without a value.
    """

    async def node(given: NodeInput) -> dict[str, Any]:
        asker, question = Asker(parts, given), ask(parts, given)
        about = given.get("about") or [given["thought"]]
        draw = Draw(given["problem"], about[0]) if drawn else None
        found = await judge(asker, question, role=role, draw=draw)
        if found is None:
            return asker.update()
        asker.meter.add({"evaluated": 1})
        raw = found.fields()
        spent = raw.pop("usage")
        kept: Thought = {**record(given, question, found.verdict), **raw}
        # The request was made once: of equal states the first thought bears its cost.
        tree: Tree = {key: Thought(**kept) for key in about}
        tree[about[0]]["usage"] = spent
        return asker.update(tree=tree)

    return fanned_out(node)


def estimate_in(style: str) -> Ask:
    """Returns what asks for the estimate of a trajectory, in the style of a method."""

    def ask(parts: Parts, given: NodeInput) -> Question[Verdict]:
        task = parts.task_for(given["settings"], Estimates)
        return task.estimate(given["problem"], given["path"], style, given["settings"])

    return ask


def unjudged(state: SearchState) -> list[str]:
    """Returns the ids of this round's thoughts that have no value yet, in creation order."""
    return [key for key in state["generation"] if "value" not in state["tree"][key]]


def judgement_sends(state: SearchState, *, spared: int = 0) -> list[Send]:
    """Returns one task for each thought of this round without a value, as the limits allow.

    Args:
        spared: How many requests are kept back for others.
    """
    allowed = 0 if state["stop_reason"] else max(0, requests_left(state) - spared)
    return [Send("evaluate", SendArg(thought=key)) for key in unjudged(state)[:allowed]]


def counted_votes(question: Question[Sequence[int | None]], choices: int) -> Question[VoteCounts]:
    """Returns a vote whose completions are counted by choice."""

    def read(samples: Sequence[str]) -> VoteCounts:
        chosen = question.read(samples)
        return VoteCounts([chosen.count(at) for at in range(choices)], chosen.count(None))

    return Question(question.prompt, read, question.n)


def verdicts_in(tree: Tree) -> dict[str, Any]:
    """Returns all verdicts that are kept in a tree, by state key."""
    return {k: v for thought in tree.values() for k, v in thought.get("verdicts", {}).items()}


def verdict_fields(key: str, verdict: dict[str, Any]) -> Thought:
    """Returns the fields by which a thought keeps a verdict that can be used again."""
    return {"value": verdict["value"], "note": verdict["label"], "verdicts": {key: verdict}}


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Returns what is kept of a verdict under its state key."""
    return {"value": verdict.value, "label": verdict.label}
