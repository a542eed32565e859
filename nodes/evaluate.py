"""V(p, S): asks the model how promising partial solutions are."""

from typing import Any

from thoughtgraph.jobs import Job, Order
from thoughtgraph.nodes.ask import Asker, joined
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.jobs import fanned_out
from thoughtgraph.nodes.register import key_of, verdict_fields
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Prompt, Values, Verdict, Votes
from thoughtgraph.tree import Thought, Tree, cut, path_to


def evaluate(parts: Parts) -> Node:
    """Makes the node that judges: one task a distinct state for values, one task a step for votes.

    Args:
        parts: The graph's objects.

    Returns:
        The node: from an `Order` to the values of the thoughts it is about. A request that a
        limit or a failing endpoint forbids leaves them without a value.
    """

    async def node(job: Job) -> dict[str, Any]:
        asker = Asker(parts, job)
        judge = _vote if job.get("vote") else _value
        tree = await judge(parts, job, asker)
        if tree:
            first = tree[job["about"][0]]
            first["usage"] = asker.meter.by_role()
        return asker.update(tree=tree)

    return fanned_out(node)


def value_orders(parts: Parts, state: SearchState) -> list[Order]:
    """Returns one order for each distinct state of this step without a value, in creation order."""
    task = parts.task_for(state["settings"], Values)
    orders: dict[str, Order] = {}
    for thought in unjudged(state):
        prompt = task.value(state["problem"], path_to(state["tree"], thought))
        if isinstance(prompt, Verdict):
            continue
        key = key_of(prompt)
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


async def _value(parts: Parts, job: Job, asker: Asker) -> Tree:
    task = parts.task_for(job["settings"], Values)
    prompt = task.value(job["problem"], job["path"])
    assert isinstance(prompt, Prompt), "a verdict without a request is written by register"
    samples = await asker.samples(prompt, role="value", n=job["settings"]["n_evaluate"])
    if samples is None:
        return {}
    verdict = task.valued(job["problem"], job["path"], samples)
    if verdict.malformed:
        asker.meter.add({"parse_errors": {"value": verdict.malformed}})
    asker.meter.add({"evaluated": 1})
    fields = verdict_fields(job["key"], {"value": verdict.value, "label": verdict.label})
    return {key: {**fields, "value_raw": cut(joined(samples))} for key in job["about"]}


async def _vote(parts: Parts, job: Job, asker: Asker) -> Tree:
    task = parts.task_for(job["settings"], Votes)
    prompt = task.vote(job["problem"], job["paths"])
    samples = await asker.samples(prompt, role="vote", n=job["settings"]["n_evaluate"])
    if samples is None:
        return {}
    votes = [0] * len(job["about"])
    for text in samples:
        choice = task.voted(text, len(votes))
        if choice is None:
            asker.meter.parse_error("vote")
        else:
            votes[choice] += 1
    asker.meter.add({"evaluated": len(votes)})
    ballots = cut(joined(samples))
    lost: Thought = {"unread": unread} if (unread := len(samples) - sum(votes)) else {}
    tree: Tree = {
        key: {"value": float(n), **lost} for key, n in zip(job["about"], votes, strict=True)
    }
    tree[job["about"][0]]["value_raw"] = ballots
    return tree
