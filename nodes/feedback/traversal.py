"""The layers of FGDIP's depth-first search: which step is visited next."""

from collections.abc import Sequence
from typing import Any, cast

from thoughtgraph.acting import WORTH, Label
from thoughtgraph.nodes.actions import awaits_tool
from thoughtgraph.nodes.limits import limit_reason, requests_left
from thoughtgraph.nodes.stack import advance, rewritten
from thoughtgraph.nodes.verdicts import unjudged
from thoughtgraph.outcome import StopReason
from thoughtgraph.reducers import Frame
from thoughtgraph.settings.feedback import FgdipSettings
from thoughtgraph.state import FeedbackState
from thoughtgraph.tree import ROOT, Thought, Tree, merge_thoughts
from thoughtgraph.usage import Usage, add_usage


def labelled(state: FeedbackState, written: Tree, keys: Sequence[str]) -> Tree:
    """Returns what a node writes of a layer, with the labels of the steps that need no model.

    An answer is sure, a step whose action calls no tool impossible. What a page says has no part
    in it: a call that was carried out is the model's to judge.

    Args:
        written: What the node writes.
        keys: The steps of the layer in it.
    """
    if not FgdipSettings.of(state["settings"]).step_evaluator:
        return written
    tree, known = merge_thoughts(state["thoughts"], [written]), Tree()
    for key in keys:
        # A person may have judged it.
        new = "value" not in tree[key] and not awaits_tool(tree[key])
        if new and (fate := _fate(tree[key])):
            known[key] = {"value": WORTH[fate], "note": fate}
    return merge_thoughts(written, [known])


def spare_requests(state: FeedbackState) -> int:
    """Returns how many requests the search may still send."""
    return max(0, requests_left(state) - _spared(state))


def _spared(state: FeedbackState) -> int:
    # While no answer was rejected, one request is kept back for the answer forced at the end.
    return int(not state["rejected"])


def new_layer(state: FeedbackState) -> list[str]:
    """Returns the steps of a layer, once all are labelled."""
    return [] if _unfinished(state) else [*state["generation"]]


async def visit_next(state: FeedbackState) -> dict[str, Any]:
    """Pushes the new layer, sure before maybe, and visits the next step.

    Impossible steps are pruned; in the layer of the entities they are kept when all are impossible.
    A layer without unvisited steps is left for the one above it. Steps at the depth limit are
    passed over. An answer that nobody checks ends the search.
    """
    if _unfinished(state):
        return {"stop_reason": limit_reason(state)}
    kept, pruned = _ordered(state)
    ended: Usage = {"rounds": state["step"] - state["usage"].get("rounds", 0)}
    # What may still be done is asked as if the round that ends here were counted already.
    after = cast("FeedbackState", {**state, "usage": add_usage(state["usage"], ended)})
    stack = [*state["stack"], *_layer(state["thoughts"], kept)]
    clear = {"thoughts": pruned, "usage": ended, "generation": [], "tried": 0}
    if len(state["rejected"]) >= FgdipSettings.of(state["settings"]).max_answer_checks:
        return {**clear, "frontier": [], "stop_reason": "budget", "limit": "max_answer_checks"}
    stack, chosen = _next(state, stack)
    clear["stack"] = rewritten(state["stack"], stack)
    if not chosen:
        return {**clear, "frontier": [], "stop_reason": "exhausted"}
    step, reason = state["step"] + 1, _stop_reason(after, state["thoughts"][chosen])
    return {
        **clear,
        "usage": {"rounds": ended["rounds"] + (reason == "finished")},
        "thoughts": {**pruned, chosen: {"visit": step}},
        "frontier": [chosen],
        "step": step,
        "stop_reason": reason,
    }


def _fate(thought: Thought) -> Label | None:
    if thought["status"] == "terminal":
        return "sure"
    return "impossible" if thought.get("invalid") else None


def _unfinished(state: FeedbackState) -> bool:
    """Returns whether a limit or an error cut the layer short."""
    if state["stop_reason"] or any(
        awaits_tool(state["thoughts"][key]) for key in state["generation"]
    ):
        return True
    return bool(
        FgdipSettings.of(state["settings"]).step_evaluator and unjudged(state, state["generation"])
    )


def _ordered(state: FeedbackState) -> tuple[list[str], Tree]:
    """Returns the layer in the order of its visits, and what pruning changes."""
    layer, tree, settings = (
        state["generation"],
        state["thoughts"],
        FgdipSettings.of(state["settings"]),
    )
    if not layer or not settings.step_evaluator:
        return list(layer), {}
    hopeful = [key for key in layer if tree[key]["value"] > WORTH["impossible"]]
    if not hopeful and settings.extractor and tree[layer[0]]["parent"] == ROOT:
        return list(layer), {}
    ordered = sorted(hopeful, key=lambda key: -tree[key]["value"])
    return ordered, {key: {"status": "pruned"} for key in layer if key not in hopeful}


def _layer(tree: Tree, kept: Sequence[str]) -> list[Frame]:
    """Returns the frame of a new layer; none where nothing of it is left."""
    parents = [tree[key]["parent"] or ROOT for key in kept[:1]]
    return [Frame(thought=key, candidates=[*kept], pos=0, tried=0) for key in parents]


def _next(state: FeedbackState, stack: Sequence[Frame]) -> tuple[list[Frame], str]:
    """Returns the stack after the next visit, and the visited step; empty if there is none."""
    tree, settings, left = state["thoughts"], FgdipSettings.of(state["settings"]), list(stack)
    deepest = min(settings.max_depth, settings.limit_depth or settings.max_depth)

    def too_deep(key: str) -> bool:
        return tree[key]["status"] != "terminal" and tree[key]["depth"] >= deepest

    while left:
        frame, chosen = advance(left.pop(), too_deep)
        if chosen:
            return [*left, frame], chosen
    return [], ""


def _stop_reason(state: FeedbackState, step: Thought) -> StopReason:
    """Returns why the search ends with this visit, if it does."""
    settings = FgdipSettings.of(state["settings"])
    if step["status"] == "terminal":
        if not settings.answer_evaluator:
            return "finished"
        return "" if requests_left(state) or settings.exact_check else limit_reason(state)
    return "" if spare_requests(state) else limit_reason(state)
