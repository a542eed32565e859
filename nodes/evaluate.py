"""V(p, S): asks the model how promising partial solutions are."""

from typing import Any

from thoughtgraph.jobs import Job, Order
from thoughtgraph.nodes.ask import Asker
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.jobs import fanned_out
from thoughtgraph.nodes.judge import (
    as_json,
    balloting,
    judge,
    judging,
    key_of,
    verdict_fields,
)
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Question, Values, Verdict, Votes
from thoughtgraph.tree import Thought, Tree, path_to


def evaluate(parts: Parts) -> Node:
    """Makes the node that judges: one task a distinct state for values, one task a step for votes.

    Args:
        parts: The graph's objects.

    Returns:
        The node: from an `Order` to the values of the thoughts it is about. A request that a
        limit or a failing endpoint forbids leaves them without a value.
    """
    value, vote = judging(parts, _question, _record), _vote(parts)

    async def node(order: Order) -> dict[str, Any]:
        return await (vote if order.get("vote") else value)(order)

    return node


def value_orders(parts: Parts, state: SearchState) -> list[Order]:
    """Returns one order for each distinct state of this step without a value, in creation order."""
    task = parts.task_for(state["settings"], Values)
    orders: dict[str, Order] = {}
    for thought in unjudged(state):
        path = path_to(state["tree"], thought)
        question = task.value(state["problem"], path, state["settings"])
        if isinstance(question, Verdict):
            continue
        key = key_of(question.prompt)
        if key in orders:
            orders[key]["about"].append(thought)
        else:
            orders[key] = {"key": key, "about": [thought]}
    return list(orders.values())


def vote_orders(state: SearchState) -> list[Order]:
    """Returns the one order that compares all thoughts of this step; none when all have votes."""
    keys = unjudged(state)
    return [{"about": keys, "vote": True}] if keys else []


def unjudged(state: SearchState) -> list[str]:
    """Returns the ids of this step's thoughts that have no value yet, in creation order."""
    return [key for key in state["generation"] if "value" not in state["tree"][key]]


def _question(parts: Parts, job: Job) -> Question[Verdict]:
    task = parts.task_for(job["settings"], Values)
    question = task.value(job["problem"], job["path"], job["settings"])
    assert isinstance(question, Question), "a verdict without a request is written by register"
    return question


def _record(job: Job, question: Question[Verdict], verdict: Verdict) -> Thought:
    return verdict_fields(job["key"], as_json(verdict))


def _vote(parts: Parts) -> Node:
    async def node(job: Job) -> dict[str, Any]:
        asker, about, settings = Asker(parts, job), job["about"], job["settings"]
        asked = parts.task_for(settings, Votes).vote(job["problem"], job["paths"], settings)
        question = balloting(asked, len(about))
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
