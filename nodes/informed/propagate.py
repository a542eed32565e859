"""What new thoughts cost, and what failed tool calls do to the thoughts above them."""

from collections import Counter
from typing import Any, NamedTuple, cast

from thoughtgraph.nodes.actions import awaits_tool, carry_out, toolbox
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.settings.informed import ItotDStarLiteSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Propagation, Raise, Thought, Tree, merge_thoughts


class Rank(NamedTuple):
    """What tells the methods of the family apart."""

    pays: bool
    """Whether g adds up what tool calls cost; else g stays 0."""
    judges: bool
    """Whether f = g - value_weight * V; else the youngest thoughts are next (last in, first
    out)."""
    propagates: bool = False
    """Whether a failed call costs `failure_cost`, and raises and reopens the thoughts above it."""


def new_thoughts(state: SearchState) -> list[str]:
    """Returns the thoughts that are not in the open set yet, in the order of their creation."""
    return [
        key
        for key, thought in state["thoughts"].items()
        if "priority" not in thought and key != ROOT and thought["status"] != "pruned"
    ]


ROOT_VALUE = 5.0
"""V of the root, for when it is open again (unpublished; ours)."""


def call_tools(run: Run, rank: Rank) -> Node:
    """Makes the node that carries out the actions of a round, and works out g of the new thoughts.

    An action that calls no tool pays nothing, but counts as much as the dearest call, by its price
    or so far (ours): else it would come before every real step of the same value.

    Args:
        rank: What counts as cost.
    """

    async def call_tool(state: SearchState) -> dict[str, Any]:
        step, new = Step(run, state), new_thoughts(state)
        called = await carry_out(
            run, state, step, [k for k in new if awaits_tool(state["thoughts"][k])]
        )
        tree = merge_thoughts(state["thoughts"], [called])
        costs = _step_costs(run, cast("SearchState", {**state, "thoughts": tree}), rank)
        settled: Tree = {}
        for key in new:
            if awaits_tool(tree[key]):  # the time was over before its tool was called
                written = merge_thoughts(called, [settled])
                return step.update(thoughts=written, stop_reason="budget")
            settled[key] = {"cost": tree[_parent(tree, key)].get("cost", 0.0) + costs[key]}
        return step.update(thoughts=merge_thoughts(called, [settled]))

    return call_tool


def failures(state: SearchState) -> list[str]:
    """Returns the new thoughts whose tool call failed, in the order of the samples."""
    return [key for key in new_thoughts(state) if state["thoughts"][key].get("failed")]


def propagate(run: Run, rank: Rank) -> Node:
    """Makes the node that tells the thoughts above failed calls, once a round (Algorithm 3).

    Each failed child in turn raises its ancestors by `failure_cost` for as long as they are cheaper
    than what lies below them, and keeps a record of it; an ancestor that was raised is open again.
    Nothing below the ancestors changes but the younger siblings of a failed child: they begin at
    their parent's raised cost (Algorithm 2, line 17), unless `sibling_base="snapshot"`.

    Args:
        rank: What counts as cost.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        settings, tree = ItotDStarLiteSettings.of(state["settings"]), state["thoughts"]
        steps = _step_costs(run, state, rank)
        costs = {key: thought.get("cost", 0.0) for key, thought in tree.items()}
        raised: dict[str, list[Raise]] = {}
        new = new_thoughts(state)
        for key in new:
            if settings.sibling_base == "live":
                costs[key] = costs[_parent(tree, key)] + steps[key]
            if tree[key].get("failed"):
                raised[key] = _raise_ancestors(tree, costs, key, settings.failure_cost)
        times = Counter(each["thought"] for raises in raised.values() for each in raises)
        dearer = {key: _raised(settings, tree[key], costs[key], times[key]) for key in times}
        children: Tree = {key: {"cost": costs[key]} for key in new}
        last = max(tree, key=int)
        for key, raises in raised.items():
            children[key]["propagation"] = Propagation(last=last, raised=raises)
        return {"thoughts": {**children, **dearer}}

    return node


def _step_costs(run: Run, state: SearchState, rank: Rank) -> dict[str, float]:
    """Returns what the last step to each new thought adds to g."""
    tree, extra = state["thoughts"], ItotDStarLiteSettings.of(state["settings"]).failure_cost
    new = {key: tree[key] for key in new_thoughts(state)}
    prices = {key: thought.get("price", 0.0) if rank.pays else 0.0 for key, thought in new.items()}
    if rank.pays and any(thought.get("invalid") for thought in new.values()):
        known, paid = toolbox(run, state), [each.get("price", 0.0) for each in tree.values()]
        dearest = max([known.dearest if known else 0.0, *paid])
        prices = {key: dearest if new[key].get("invalid") else prices[key] for key in prices}
    failed = {key for key in new if rank.propagates and new[key].get("failed")}
    return {key: price + (extra if key in failed else 0.0) for key, price in prices.items()}


def _parent(tree: Tree, key: str) -> str:
    parent = tree[key]["parent"]
    assert parent is not None, "the root is nobody's child"
    return parent


def _raise_ancestors(tree: Tree, costs: dict[str, float], key: str, amount: float) -> list[Raise]:
    """Carries out Algorithm 3 on `costs`; returns what it did."""
    raised: list[Raise] = []
    while (parent := tree[key]["parent"]) is not None and costs[parent] < costs[key]:
        before, key = costs[parent], parent
        costs[key] = before + amount
        raised.append(Raise(thought=key, before=before, after=costs[key]))
    return raised


def _raised(settings: ItotDStarLiteSettings, thought: Thought, cost: float, times: int) -> Thought:
    value = thought.get("value", ROOT_VALUE)
    failed = "a failed call" if times == 1 else f"{times} failed calls"
    return {
        "cost": cost,
        "priority": cost - settings.value_weight * value,
        "note": f"dearer by {failed} below it",
        "status": "open",
    }
