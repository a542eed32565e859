"""V(p, S): asks the model how promising partial solutions are."""

from typing import Any

from langgraph.types import Send

from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.nodes.asker import Asker
from thoughtgraph.nodes.judge import (
    counted_votes,
    judge,
    judge_states,
    state_key_of,
    verdict_fields,
    verdict_json,
)
from thoughtgraph.nodes.method_graph import Node
from thoughtgraph.nodes.node_input import fanned_out
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Question, Values, Verdict, Votes
from thoughtgraph.tree import Thought, Tree, path_to


def evaluate(parts: Parts) -> Node:
    """Makes the node that judges: one task a distinct state for values, one task a step for votes.

    Args:
        parts: The graph's objects.

    Returns:
        The node: from a `SendArg` to the values of the thoughts it is about. A request that a
        limit or a failing endpoint forbids leaves them without a value.
    """
    value, vote = judge_states(parts, _question, _record), _vote(parts)

    async def node(sent: SendArg) -> dict[str, Any]:
        return await (vote if sent.get("vote") else value)(sent)

    return node


def value_sends(parts: Parts, state: SearchState) -> list[Send]:
    """Returns one task for each distinct state of this step without a value, in creation order."""
    task = parts.task_for(state["settings"], Values)
    distinct: dict[str, SendArg] = {}
    for thought in unjudged(state):
        path = path_to(state["tree"], thought)
        question = task.value(state["problem"], path, state["settings"])
        if isinstance(question, Verdict):
            continue
        key = state_key_of(question.prompt)
        if key in distinct:
            distinct[key]["about"].append(thought)
        else:
            distinct[key] = {"key": key, "about": [thought]}
    return [Send("evaluate", sent) for sent in distinct.values()]


def vote_sends(state: SearchState) -> list[Send]:
    """Returns the one task that compares all thoughts of this step; none when all have votes."""
    keys = unjudged(state)
    return [Send("evaluate", SendArg(about=keys, vote=True))] if keys else []


def unjudged(state: SearchState) -> list[str]:
    """Returns the ids of this step's thoughts that have no value yet, in creation order."""
    return [key for key in state["generation"] if "value" not in state["tree"][key]]


def _question(parts: Parts, given: NodeInput) -> Question[Verdict]:
    task = parts.task_for(given["settings"], Values)
    question = task.value(given["problem"], given["path"], given["settings"])
    assert isinstance(question, Question), "a verdict without a request is written by register"
    return question


def _record(given: NodeInput, question: Question[Verdict], verdict: Verdict) -> Thought:
    return verdict_fields(given["key"], verdict_json(verdict))


def _vote(parts: Parts) -> Node:
    async def node(given: NodeInput) -> dict[str, Any]:
        asker, about, settings = Asker(parts, given), given["about"], given["settings"]
        asked = parts.task_for(settings, Votes).vote(given["problem"], given["paths"], settings)
        question = counted_votes(asked, len(about))
        found = await judge(asker, question, role="vote", n=settings["n_evaluate"])
        if found is None:
            return asker.update(tree={})
        votes, unread = found.verdict
        asker.meter.add({"evaluated": len(votes)})
        lost: Thought = {"unread": unread} if unread else {}
        tree: Tree = {key: {"value": float(n), **lost} for key, n in zip(about, votes, strict=True)}
        tree[about[0]] |= found.fields()
        return asker.update(tree=tree)

    return fanned_out(node)
