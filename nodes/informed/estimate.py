"""V(s): asks the model how promising a trajectory is, from 1 to 10."""

from typing import Any

from langgraph.types import Send

from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.nodes.judge import judge_states, state_key_of, verdict_json
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.method_graph import Node
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
        The node: from a `SendArg` to the thought's value. A request that a limit or a failing
        endpoint forbids leaves it without one.
    """
    return judge_states(parts, _question, _record)


def value_sends(state: SearchState) -> list[Send]:
    """Returns one task for each new thought without a value, as many as the limits allow."""
    if state.get("stop_reason"):
        return []
    tree = state["tree"]
    to_send = [SendArg(thought=key) for key in state["generation"] if "value" not in tree[key]]
    return [Send("evaluate", sent) for sent in to_send[: requests_left(state)]]


def known_value(parts: Parts, state: SearchState, key: str, verdicts: dict[str, Any]) -> Thought:
    """Returns the value of a trajectory that reads exactly like an earlier one, if there is one."""
    task = parts.task_for(state["settings"], Estimates)
    path = path_to(state["tree"], key)
    question = task.estimate(state["problem"], path, STYLE, state["settings"])
    verdict = verdicts.get(state_key_of(question.prompt))
    return {} if verdict is None else {"value": verdict["value"]}


def _question(parts: Parts, given: NodeInput) -> Question[Verdict]:
    task = parts.task_for(given["settings"], Estimates)
    return task.estimate(given["problem"], given["path"], STYLE, given["settings"])


def _record(given: NodeInput, question: Question[Verdict], verdict: Verdict) -> Thought:
    key = state_key_of(question.prompt)
    return {"value": verdict.value, "verdicts": {key: verdict_json(verdict)}}
