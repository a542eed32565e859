"""Informed search over tool calls: the open set, derived from the tree, and its members' costs."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from thoughtgraph.nodes.actions import awaits_tool, toolbox
from thoughtgraph.nodes.step import Step
from thoughtgraph.settings.acting import ItotDfsSettings, ItotDStarLiteSettings, ValuedSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Propagation, Raise, Thought, Tree, living, path_to

ROOT_VALUE = 5.0
"""V of the root, used when a failure reopens it (unpublished; ours)."""


class Rank(NamedTuple):
    """The features in which the methods of the family differ."""

    pays: bool
    """Whether g sums the costs of tool calls; else g stays 0."""
    judges: bool
    """Whether f = g - value_weight * V; else the youngest thoughts come first."""
    propagates: bool = False
    """Whether a failed call costs `failure_cost`, and raises and reopens its ancestors."""


def new_thoughts(state: SearchState) -> list[str]:
    """Returns the ids of the thoughts that have not entered the open set yet."""
    return [key for key in living(state["thoughts"]) if "priority" not in state["thoughts"][key]]


def open_set(tree: Tree) -> list[str]:
    """Returns the ids of the open thoughts (the paper's O), least f first."""
    entered = (tree[key] for key in living(tree) if "priority" in tree[key])
    waiting = [thought for thought in entered if thought["status"] != "expanded"]
    return [thought["id"] for thought in sorted(waiting, key=by_priority)]


def by_priority(thought: Mapping[str, Any]) -> tuple[float, int, int]:
    """Returns the sort key of open thoughts: least f, then deepest, then oldest (ties: ours)."""
    return thought.get("priority", 0.0), -thought["depth"], int(thought["id"])


def priorities(state: SearchState, rank: Rank) -> Tree:
    """Returns f of thoughts that can now enter the open set, and of those revalued by hand."""
    # A method that does not judge lacks this setting, and does not use the default.
    weight, updates = ValuedSettings.of(state["settings"]).value_weight, Tree()
    for key in new_thoughts(state):
        thought = state["thoughts"][key]
        if awaits_tool(thought) or (rank.judges and "value" not in thought):
            continue
        youngest_first = -float(state["step"])
        f = thought["cost"] - weight * thought["value"] if rank.judges else youngest_first
        updates[key] = {"priority": f}
    for key, thought in state["thoughts"].items() if rank.judges else ():
        if "priority" in thought and "value" in thought and thought["status"] == "open":
            f = thought["cost"] - weight * thought["value"]
            if thought["priority"] != f:
                updates[key] = {"priority": f}
    return updates


def may_grow(state: SearchState, thought: Thought) -> bool:
    """Returns whether a thought may have children; the paper's literal `i > L` allows depth L."""
    settings, depth = ItotDfsSettings.of(state["settings"]), thought["depth"]
    return depth < (settings.limit_depth or depth + 1) and depth <= settings.max_depth


def identity(thought: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns the key by which children are equal: their text and their action."""
    action = thought["action"] or {"name": "", "argument": ""}
    return thought["text"], action["name"], action["argument"]


def step_costs(step: Step, tree: Tree, rank: Rank) -> dict[str, float]:
    """Returns the cost that the last step to each new thought adds to g.

    An invalid action costs nothing, but adds the price of the dearest call, announced or paid so
    far (ours). Otherwise it would come before every valid step of the same value.
    """
    settings = ItotDStarLiteSettings.of(step.state["settings"])
    new = {key: tree[key] for key in new_thoughts(step.state)}
    prices = {key: thought.get("price", 0.0) if rank.pays else 0.0 for key, thought in new.items()}
    if rank.pays and any(thought.get("invalid") for thought in new.values()):
        tools = toolbox(step.run, step.state)
        prices_paid = [thought.get("price", 0.0) for thought in tree.values()]
        max_call_cost = max([tools.max_call_cost if tools else 0.0, *prices_paid])
        prices = {key: max_call_cost if new[key].get("invalid") else prices[key] for key in prices}
    penalty = settings.failure_cost if rank.propagates else 0.0
    failed = {key for key, thought in new.items() if thought.get("failed")}
    return {key: price + (penalty if key in failed else 0.0) for key, price in prices.items()}


def propagated(state: SearchState, steps: Mapping[str, float]) -> Tree:
    """Returns the changes after the failures of a round, propagated in turn (Algorithm 3).

    Below the raised ancestors only younger siblings of a failed child change: they start at their
    parent's raised cost (Algorithm 2, line 17), unless `sibling_base` is `snapshot`.

    Args:
        steps: The cost that the last step to each new thought adds to g.
    """
    settings, tree = ItotDStarLiteSettings.of(state["settings"]), state["thoughts"]
    costs = {key: thought.get("cost", 0.0) for key, thought in tree.items()}
    raised: dict[str, list[Raise]] = {}
    for key in steps:
        if settings.sibling_base == "live":
            costs[key] = costs[tree[key]["parent"] or ""] + steps[key]
        if tree[key].get("failed"):
            raised[key] = _raise_ancestors(tree, costs, key, settings.failure_cost)
    failures_below = Counter(each["thought"] for raises in raised.values() for each in raises)
    changed: Tree = {key: {"cost": costs[key]} for key in steps}
    for key, raises in raised.items():
        changed[key]["propagation"] = Propagation(last=max(tree, key=int), raised=raises)
    for key, failures in failures_below.items():
        calls = "a failed call" if failures == 1 else f"{failures} failed calls"
        bonus = settings.value_weight * tree[key].get("value", ROOT_VALUE)
        changed[key] = {
            "cost": costs[key],
            "priority": costs[key] - bonus,
            "note": f"dearer by {calls} below it",
            "status": "open",
        }
    return changed


def _raise_ancestors(tree: Tree, costs: dict[str, float], key: str, amount: float) -> list[Raise]:
    """Raises ancestors of a failed thought in `costs`, up while one costs less than its child."""
    raised: list[Raise] = []
    for thought in reversed(path_to(tree, key)):
        parent = thought["parent"] or ROOT
        if costs[parent] >= costs[thought["id"]]:
            break
        before, costs[parent] = costs[parent], costs[parent] + amount
        raised.append(Raise(thought=parent, before=before, after=costs[parent]))
    return raised
