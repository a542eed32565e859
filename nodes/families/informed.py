"""Informed search over tool calls: the open set, read off the tree, and what its members cost."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from thoughtgraph.nodes.actions import awaits_tool, toolbox
from thoughtgraph.nodes.step import Step
from thoughtgraph.settings.acting import ItotDfsSettings, ItotDStarLiteSettings, ValuedSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Propagation, Raise, Thought, Tree, living, path_to

ROOT_VALUE = 5.0
"""V of the root, for when it is open again (unpublished; ours)."""


class Rank(NamedTuple):
    """What tells the methods of the family apart."""

    pays: bool
    """Whether g adds up what tool calls cost; else g stays 0."""
    judges: bool
    """Whether f = g - value_weight * V; else the youngest thoughts are next."""
    propagates: bool = False
    """Whether a failed call costs `failure_cost`, and raises and reopens the thoughts above it."""


def new_thoughts(state: SearchState) -> list[str]:
    """Returns the thoughts that are not in the open set yet."""
    return [key for key in living(state["thoughts"]) if "priority" not in state["thoughts"][key]]


def open_set(tree: Tree) -> list[str]:
    """Returns who may be next (the paper's O), the least f first."""
    entered = (tree[key] for key in living(tree) if "priority" in tree[key])
    waiting = [thought for thought in entered if thought["status"] != "expanded"]
    return [thought["id"] for thought in sorted(waiting, key=by_priority)]


def by_priority(thought: Mapping[str, Any]) -> tuple[float, int, int]:
    """Orders open thoughts: least f, then the deepest, then the oldest (ties: ours)."""
    return thought.get("priority", 0.0), -thought["depth"], int(thought["id"])


def priorities(state: SearchState, rank: Rank) -> Tree:
    """Returns the f of new thoughts that can enter the open set, and of those revalued by hand."""
    # A method that does not judge has no such setting, nor a use for its default.
    weight, entered = ValuedSettings.of(state["settings"]).value_weight, Tree()
    for key in new_thoughts(state):
        thought = state["thoughts"][key]
        if awaits_tool(thought) or (rank.judges and "value" not in thought):
            continue
        youngest_first = -float(state["step"])
        f = thought["cost"] - weight * thought["value"] if rank.judges else youngest_first
        entered[key] = {"priority": f}
    for key, thought in state["thoughts"].items() if rank.judges else ():
        if "priority" in thought and "value" in thought and thought["status"] == "open":
            f = thought["cost"] - weight * thought["value"]
            if thought["priority"] != f:
                entered[key] = {"priority": f}
    return entered


def may_grow(state: SearchState, thought: Thought) -> bool:
    """Returns whether a thought may have children: the literal `i > L` lets depth L have them."""
    settings, depth = ItotDfsSettings.of(state["settings"]), thought["depth"]
    return depth < (settings.limit_depth or depth + 1) and depth <= settings.max_depth


def identity(thought: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns what two equal children share: what they think and what they do."""
    action = thought["action"] or {"name": "", "argument": ""}
    return thought["text"], action["name"], action["argument"]


def step_costs(step: Step, tree: Tree, rank: Rank) -> dict[str, float]:
    """Returns what the last step to each new thought adds to g.

    An action that calls no tool pays nothing, but counts as much as the dearest call, by its price
    or so far (ours): else it would come before every real step of the same value.
    """
    settings = ItotDStarLiteSettings.of(step.state["settings"])
    new = {key: tree[key] for key in new_thoughts(step.state)}
    prices = {key: thought.get("price", 0.0) if rank.pays else 0.0 for key, thought in new.items()}
    if rank.pays and any(thought.get("invalid") for thought in new.values()):
        known = toolbox(step.run, step.state)
        paid = [thought.get("price", 0.0) for thought in tree.values()]
        max_call_cost = max([known.max_call_cost if known else 0.0, *paid])
        prices = {key: max_call_cost if new[key].get("invalid") else prices[key] for key in prices}
    extra = settings.failure_cost if rank.propagates else 0.0
    failed = {key for key, thought in new.items() if thought.get("failed")}
    return {key: price + (extra if key in failed else 0.0) for key, price in prices.items()}


def propagated(state: SearchState, steps: Mapping[str, float]) -> Tree:
    """Returns what the failures of a round change: each raises its ancestors in turn (Algorithm 3).

    Nothing below the ancestors changes but the younger siblings of a failed child: they begin at
    their parent's raised cost (Algorithm 2, line 17), unless `sibling_base="snapshot"`.

    Args:
        steps: What the last step to each new thought adds to g.
    """
    settings, tree = ItotDStarLiteSettings.of(state["settings"]), state["thoughts"]
    costs = {key: thought.get("cost", 0.0) for key, thought in tree.items()}
    raised: dict[str, list[Raise]] = {}
    for key in steps:
        if settings.sibling_base == "live":
            costs[key] = costs[tree[key]["parent"] or ""] + steps[key]
        if tree[key].get("failed"):
            raised[key] = _raise_ancestors(tree, costs, key, settings.failure_cost)
    times = Counter(each["thought"] for raises in raised.values() for each in raises)
    changed: Tree = {key: {"cost": costs[key]} for key in steps}
    for key, raises in raised.items():
        changed[key]["propagation"] = Propagation(last=max(tree, key=int), raised=raises)
    for key, failures in times.items():
        calls = "a failed call" if failures == 1 else f"{failures} failed calls"
        worth = settings.value_weight * tree[key].get("value", ROOT_VALUE)
        changed[key] = {
            "cost": costs[key],
            "priority": costs[key] - worth,
            "note": f"dearer by {calls} below it",
            "status": "open",
        }
    return changed


def _raise_ancestors(tree: Tree, costs: dict[str, float], key: str, amount: float) -> list[Raise]:
    """Raises in `costs` who is cheaper than what lies below it, up from a failed thought."""
    raised: list[Raise] = []
    for thought in reversed(path_to(tree, key)):
        parent = thought["parent"] or ROOT
        if costs[parent] >= costs[thought["id"]]:
            break
        before, costs[parent] = costs[parent], costs[parent] + amount
        raised.append(Raise(thought=parent, before=before, after=costs[parent]))
    return raised
