"""V(s): asks the model how promising a trajectory is, from 1 to 10."""

from typing import Any

from langgraph.types import Send

from thoughtgraph.jobs import Job, Order
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.judge import as_json, judging, key_of
from thoughtgraph.nodes.limits import grants
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Estimates, Question, Verdict
from thoughtgraph.tree import Thought, path_to

STYLE = "itot"


def estimate(parts: Parts) -> Node:
    """Makes the node that values one trajectory; it runs as one task a thought.

    Args:
        parts: The graph's objects.

    Returns:
        The node: from an `Order` to the thought's value. A request that a limit or a failing
        endpoint forbids leaves it without one.
    """
    return judging(parts, _question, _record)


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
    question = task.estimate(state["problem"], path, STYLE, state["settings"])
    verdict = verdicts.get(key_of(question.prompt))
    return {} if verdict is None else {"value": verdict["value"]}


def _question(parts: Parts, job: Job) -> Question[Verdict]:
    task = parts.task_for(job["settings"], Estimates)
    return task.estimate(job["problem"], job["path"], STYLE, job["settings"])


def _record(job: Job, question: Question[Verdict], verdict: Verdict) -> Thought:
    key = key_of(question.prompt)
    return {"value": verdict.value, "verdicts": {key: as_json(verdict)}}
