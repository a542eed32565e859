"""Level-greedy search over reasoning steps: scores a level's candidates, keeps the best."""

from typing import Any

from thoughtgraph.fan_out import NodeInput
from thoughtgraph.nodes.judge import estimate_in, judge_states, unjudged
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.reasoning_steps import end_reason
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Question, Verdict
from thoughtgraph.tree import Thought, children_of

STYLE = "level_tot"


def score(parts: Parts) -> Node:
    """Makes the node that scores one candidate; it runs as one task a candidate."""
    return judge_states(parts, estimate_in(STYLE), _record, role="score", drawn=True)


def level(state: SearchState) -> list[str]:
    """Returns the candidates of a level, once all are scored."""
    return [] if state["stop_reason"] or unjudged(state) else [*state["generation"]]


async def keep_best(state: SearchState) -> dict[str, Any]:
    """Goes on with the best candidate of a level, the first of equals.

    A level without a positive score ends the search dead. One that a limit left without scores ends
    it too.
    """
    tree, level = state["tree"], state["generation"]
    if state["stop_reason"]:
        return {}
    last = state["frontier"][:1]
    if unjudged(state) or (last and not children_of(tree, last[0])):
        return {"stop_reason": "budget"}
    if not level:  # A person dropped all.
        return {"frontier": [], "stop_reason": "dead_end"}
    best = max(level, key=lambda key: tree[key]["value"])
    lost = {key: Thought(status="pruned") for key in level if key != best}
    update = {"generation": [], "step": state["step"] + 1, "usage": {"rounds": 1}}
    if tree[best]["value"] <= 0:
        lost[best] = Thought(status="pruned")
        return {**update, "tree": lost, "frontier": [], "stop_reason": "dead_end"}
    reason, left = end_reason(tree[best])
    return {**update, "tree": lost, "frontier": left, "stop_reason": reason}


def _record(given: NodeInput, question: Question[Verdict], verdict: Verdict) -> Thought:
    if not verdict.malformed:
        return {"value": verdict.value}
    scored: Thought = {"value": verdict.value, "unread": verdict.malformed}
    if "note" not in given["path"][-1]:  # one that says why the path ends stays
        scored["note"] = verdict.label
    return scored
