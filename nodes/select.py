"""Keeps the most promising partial solutions of a step."""

import random
from collections.abc import Sequence
from typing import Any, cast

from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.rounds import this_round, unready
from thoughtgraph.nodes.valuation import valuation
from thoughtgraph.nodes.verdicts import unjudged
from thoughtgraph.outcome import StopReason
from thoughtgraph.run import Run
from thoughtgraph.settings.tot import TotBfsSettings
from thoughtgraph.state import SearchState, updated
from thoughtgraph.task import Checks, Outputs
from thoughtgraph.tree import PERSON, Status, Tree, merge_thoughts, path_to


def select_states(run: Run) -> Node:
    """Makes the node that keeps b candidates of a step: S_t of the paper's Algorithm 1.

    When a limit left candidates unjudged it selects nothing and stops the search.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        if ruled := _added(run, state):
            judged = await node(cast("SearchState", updated(state, {"thoughts": ruled})))
            return {**judged, "thoughts": merge_thoughts(ruled, [judged.get("thoughts", {})])}
        tree, generation = state["thoughts"], this_round(state)
        settings = TotBfsSettings.of(state["settings"])
        counts = {"rounds": 1}
        if unready(state):
            return {"stop_reason": "" if requests_left(state) else "budget"}
        if not generation:
            return {"stop_reason": "dead_end", "usage": counts}
        step = state["step"] + 1
        if settings.select == "greedy":
            kept = best_states(tree, generation, settings.breadth)
        else:
            draws = random.Random(f"{settings.seed}:{state['problem']}:{step}")
            kept = draw_states(tree, generation, settings.breadth, draws)
        status: Status = "terminal" if step == settings.steps else "open"
        thoughts: Tree = {
            key: {"status": status if key in kept else "pruned"} for key in generation
        }
        if settings.select == "sample":
            for key in kept:
                thoughts[key]["draws"] = [at for at, each in enumerate(kept) if each == key]
        return {
            "thoughts": thoughts,
            "step": step,
            "usage": counts,
            "stop_reason": _early(run, state, kept) or _stop_reason(state, step),
        }

    return node


def _added(run: Run, state: SearchState) -> Tree:
    """Returns what is known of thoughts that a person has just added: nobody need be asked."""
    tree = state["thoughts"]
    added = [
        key
        for key in unjudged(state, this_round(state))
        if tree[key].get("created_by") == {"node": PERSON}
    ]
    if not added or TotBfsSettings.of(state["settings"]).evaluate != "value":
        return {}
    return {key: new for key, new in valuation(run, state).verdicts.items() if key in added}


def best_states(tree: Tree, keys: Sequence[str], b: int) -> list[str]:
    """Returns the b thoughts of highest value; ties keep the order of creation."""
    return sorted(keys, key=lambda key: -tree[key]["value"])[:b]


def draw_states(tree: Tree, keys: Sequence[str], b: int, draws: random.Random) -> list[str]:
    """Draws b thoughts with replacement, with probabilities in proportion to their values.

    Values below zero count as zero; when all are zero the draw is uniform.
    """
    weights = [max(0.0, tree[key]["value"]) for key in keys]
    return draws.choices(keys, weights if any(weights) else None, k=b)


def _stop_reason(state: SearchState, step: int) -> StopReason:
    """Returns the limit that forbids another step, if one is still needed."""
    settings = TotBfsSettings.of(state["settings"])
    if step == settings.steps:
        return ""
    if not requests_left(state):
        return "budget"
    if step >= (settings.limit_depth or step + 1):
        return "step_limit"
    return "round_limit" if step >= (settings.limit_rounds or step + 1) else ""


def _early(run: Run, state: SearchState, kept: Sequence[str]) -> StopReason:
    """Stops early when the task can check an output exactly and one is right (off by default)."""
    if not TotBfsSettings.of(state["settings"]).early_stop:
        return ""
    outputs = run.task_for(state["settings"], Outputs)
    checks = run.task_for(state["settings"], Checks)
    for key in kept:
        answer = outputs.output(state["problem"], path_to(state["thoughts"], key))
        if answer is not None and checks.check(state["problem"], answer):
            return "verified"
    return ""
