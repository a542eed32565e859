"""V(s): asks the model how promising a trajectory is, from 1 to 10."""

from math import isfinite
from statistics import fmean
from typing import Any

from langgraph.types import Send

from thoughtgraph.acting import Estimates
from thoughtgraph.jobs import Job, Order
from thoughtgraph.nodes.ask import Asker, joined
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.jobs import fanned_out
from thoughtgraph.nodes.limits import grants
from thoughtgraph.nodes.register import key_of
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Thought, cut, path_to

LOWEST = 1.0
"""The value of a trajectory whose score cannot be read (ours)."""


def estimate(parts: Parts) -> Node:
    """Makes the node that values one trajectory; it runs as one task a thought.

    Args:
        parts: The graph's objects.

    Returns:
        The node: from an `Order` to the thought's value, the mean of the scores. A request that a
        limit or a failing endpoint forbids leaves it without one.
    """

    async def node(job: Job) -> dict[str, Any]:
        task, settings = parts.task_for(job["settings"], Estimates), job["settings"]
        prompt = task.estimate(job["problem"], job["path"], settings)
        asker = Asker(parts, job)
        samples = await asker.samples(prompt, role="value", n=settings["n_evaluate"])
        if samples is None:
            return asker.update()
        scores = [task.estimated(text) for text in samples]
        read = [score for score in scores if score is not None and isfinite(score)]
        lost = len(samples) - len(read)
        asker.meter.add({"evaluated": 1, **({"parse_errors": {"value": lost}} if lost else {})})
        value = fmean([*read, *[LOWEST] * lost])
        fields: Thought = {
            "value": value,
            "verdicts": {key_of(prompt): {"value": value, "label": ""}},
            "value_raw": cut(joined(samples)),
            "usage": asker.meter.by_role(),
        }
        return asker.update(tree={job["thought"]: fields})

    return fanned_out(node)


def estimates(state: SearchState) -> list[Send]:
    """Returns one task for each new thought without a value, as many as the limits allow."""
    if state.get("stop_reason"):
        return []
    tree = state["tree"]
    orders = [Order(thought=key) for key in state["generation"] if "value" not in tree[key]]
    return [Send("evaluate", order) for order in orders[: grants(state)]]


def known_value(parts: Parts, state: SearchState, key: str, verdicts: dict[str, Any]) -> Thought:
    """Returns the value of a trajectory that reads exactly like an earlier one, if there is one."""
    task = parts.task_for(state["settings"], Estimates)
    path = path_to(state["tree"], key)
    prompt = task.estimate(state["problem"], path, state["settings"])
    verdict = verdicts.get(key_of(prompt))
    return {} if verdict is None else {"value": verdict["value"]}
