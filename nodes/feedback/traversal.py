"""The layers of FGDIP's depth-first search: which step is visited next."""

from collections.abc import Sequence
from typing import Any, cast

from langgraph.types import Send

from thoughtgraph.acting import WORTH, Label
from thoughtgraph.fan_out import SendArg
from thoughtgraph.nodes.actions import awaits_tool
from thoughtgraph.nodes.limits import limit_reason, requests_left
from thoughtgraph.nodes.method_graph import Node
from thoughtgraph.outcome import StopReason
from thoughtgraph.state import FeedbackState, Layer
from thoughtgraph.tree import ROOT, Thought, Tree
from thoughtgraph.usage import Usage, add_usage


def label_known() -> Node:
    """Makes the node that joins a layer's tool calls and labels the steps that need no model.

    An answer is sure, a step whose action calls no tool impossible. What a page says has no part
    in it: a call that was carried out is the model's to judge.
    """

    async def node(state: FeedbackState) -> dict[str, Any]:
        if not state["settings"]["step_evaluator"]:
            return {}
        tree, known = state["tree"], Tree()
        for key in state["generation"]:
            if "value" not in tree[key] and (fate := _fate(tree[key])):
                known[key] = {"value": WORTH[fate], "note": fate}
        return {"tree": known}

    return node


def label_sends(state: FeedbackState) -> list[Send]:
    """Returns one task for each step of the layer without a label, as many as the limits allow."""
    if state["stop_reason"] or not state["settings"]["step_evaluator"]:
        return []
    to_send = [SendArg(thought=key) for key in _unlabelled(state)]
    return [Send("evaluate", sent) for sent in to_send[: spare_requests(state)]]


def spare_requests(state: FeedbackState) -> int:
    """Returns how many requests the search may still send.

    While no answer was rejected, one is kept back for the answer that is forced at the end.
    """
    return max(0, requests_left(state) - (not state["rejected"]))


def visit_next() -> Node:
    """Makes the node that pushes the new layer, sure before maybe, and visits the next step.

    Impossible steps are pruned; in the layer of the entities they are kept when all are impossible.
    A layer without unvisited steps is left for the one above it. Steps at the depth limit are
    passed over. An answer that nobody checks ends the search.
    """

    async def node(state: FeedbackState) -> dict[str, Any]:
        if _unfinished(state):
            return {"stop_reason": limit_reason(state)}
        kept, pruned = _ordered(state)
        ended: Usage = {"rounds": state["step"] - state["usage"].get("rounds", 0)}
        after = cast("FeedbackState", {**state, "usage": add_usage(state["usage"], ended)})
        stack = [*state["stack"], Layer(candidates=kept, pos=0)] if kept else state["stack"]
        clear = {"tree": pruned, "stack": stack, "usage": ended, "generation": [], "tried": 0}
        if len(state["rejected"]) >= state["settings"]["max_answer_checks"]:
            return {**clear, "frontier": [], "stop_reason": "budget", "limit": "max_answer_checks"}
        stack, chosen = _next(state, stack)
        if not chosen:
            return {**clear, "stack": stack, "frontier": [], "stop_reason": "exhausted"}
        step, reason = state["step"] + 1, _stop_reason(after, state["tree"][chosen])
        return {
            **clear,
            "usage": {"rounds": ended["rounds"] + (reason == "finished")},
            "tree": {**pruned, chosen: {"visit": step}},
            "stack": stack,
            "frontier": [chosen],
            "step": step,
            "stop_reason": reason,
        }

    return node


def _fate(thought: Thought) -> Label | None:
    if thought["status"] == "terminal":
        return "sure"
    return "impossible" if thought.get("invalid") else None


def _unlabelled(state: FeedbackState) -> list[str]:
    return [key for key in state["generation"] if "value" not in state["tree"][key]]


def _unfinished(state: FeedbackState) -> bool:
    """Returns whether a limit or an error cut the layer short."""
    if state["stop_reason"] or any(awaits_tool(state["tree"][key]) for key in state["generation"]):
        return True
    return bool(state["settings"]["step_evaluator"] and _unlabelled(state))


def _ordered(state: FeedbackState) -> tuple[list[str], Tree]:
    """Returns the layer in the order of its visits, and what pruning changes."""
    layer, tree, settings = state["generation"], state["tree"], state["settings"]
    if not layer or not settings["step_evaluator"]:
        return list(layer), {}
    hopeful = [key for key in layer if tree[key]["value"] > WORTH["impossible"]]
    if not hopeful and settings["extractor"] and tree[layer[0]]["parent"] == ROOT:
        return list(layer), {}
    ordered = sorted(hopeful, key=lambda key: -tree[key]["value"])
    return ordered, {key: {"status": "pruned"} for key in layer if key not in hopeful}


def _next(state: FeedbackState, layers: Sequence[Layer]) -> tuple[list[Layer], str]:
    """Returns the stack after the next visit, and the visited step; empty if there is none."""
    stack, tree, settings = list(layers), state["tree"], state["settings"]
    deepest = min(settings["max_depth"], settings["limit_depth"] or settings["max_depth"])
    while stack:
        candidates, pos = stack[-1]["candidates"], stack[-1]["pos"]
        if pos == len(candidates):
            stack.pop()
            continue
        stack[-1] = Layer(candidates=candidates, pos=pos + 1)
        step = tree[candidates[pos]]
        if step["status"] == "terminal" or step["depth"] < deepest:
            return stack, candidates[pos]
    return stack, ""


def _stop_reason(state: FeedbackState, step: Thought) -> StopReason:
    """Returns why the search ends with this visit, if it does."""
    settings = state["settings"]
    if step["status"] == "terminal":
        if not settings["answer_evaluator"]:
            return "finished"
        return "" if requests_left(state) or settings["exact_check"] else limit_reason(state)
    return "" if spare_requests(state) else limit_reason(state)
