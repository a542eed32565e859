"""Level-greedy search over reasoning steps: scores a level's candidates, keeps the best."""

from typing import Any

from langgraph.types import Send

from thoughtgraph.fan_out import NodeInput, SendArg
from thoughtgraph.nodes.judge import judge_states
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.method_graph import Node
from thoughtgraph.nodes.reasoning_steps import end_reason
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Estimates, Question, Verdict
from thoughtgraph.tree import Thought

STYLE = "level_tot"


def score(parts: Parts) -> Node:
    """Makes the node that scores one candidate; it runs as one task a candidate.

    Args:
        parts: The graph's objects.

    Returns:
        The node: from a `SendArg` to the candidate's value in [0, 1].
    """
    return judge_states(parts, _question, _record, role="score", drawn=True)


def score_sends(state: SearchState) -> list[Send]:
    """Returns the requests for the scores of this level's candidates, as the limits allow."""
    if state["stop_reason"]:
        return []
    missing = [key for key in state["generation"] if "value" not in state["tree"][key]]
    return [Send("evaluate", SendArg(thought=key)) for key in missing[: requests_left(state)]]


def keep_best() -> Node:
    """Makes the node that goes on with the best candidate of a level, the first of equals.

    A level without a positive score ends the search dead. One that a limit left without scores ends
    it too.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        tree, level = state["tree"], state["generation"]
        if state["stop_reason"]:
            return {}
        if not level or any("value" not in tree[key] for key in level):
            return {"stop_reason": "budget"}
        best = max(level, key=lambda key: tree[key]["value"])
        lost = {key: Thought(status="pruned") for key in level if key != best}
        update = {"generation": [], "step": state["step"] + 1, "usage": {"rounds": 1}}
        if tree[best]["value"] <= 0:
            lost[best] = Thought(status="pruned")
            return {**update, "tree": lost, "frontier": [], "stop_reason": "dead_end"}
        reason, left = end_reason(tree[best])
        return {**update, "tree": lost, "frontier": left, "stop_reason": reason}

    return node


def _question(parts: Parts, given: NodeInput) -> Question[Verdict]:
    task = parts.task_for(given["settings"], Estimates)
    return task.estimate(given["problem"], given["path"], STYLE, given["settings"])


def _record(given: NodeInput, question: Question[Verdict], verdict: Verdict) -> Thought:
    if not verdict.malformed:
        return {"value": verdict.value}
    scored: Thought = {"value": verdict.value, "unread": verdict.malformed}
    if "note" not in given["path"][-1]:  # one that says why the path ends stays
        scored["note"] = verdict.label
    return scored
