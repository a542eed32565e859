"""Best-first search over tool calls: the open set, what its members cost, who is next."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, cast

from thoughtgraph.generation import Expansion
from thoughtgraph.method import ChooseGenerator
from thoughtgraph.nodes.actions import awaits_tool
from thoughtgraph.nodes.check import is_right
from thoughtgraph.nodes.expand import drafted, expansion
from thoughtgraph.nodes.informed.propagate import Rank, new_thoughts
from thoughtgraph.nodes.limits import expansions_allowed, limit_reason
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place, times_expanded, with_times
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import StopReason
from thoughtgraph.run import Run
from thoughtgraph.settings.informed import ItotDfsSettings, ValuedSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Thought, Tree, children_of, merge_thoughts
from thoughtgraph.usage import Usage, add_usage


def pop_next(run: Run, rank: Rank) -> Node:
    """Makes the node that puts new thoughts into the open set and takes out who is next.

    A terminal thought that comes out ends the search; with an oracle only if its answer is right.
    Thoughts that are too deep are dropped. `frontier` are then the thoughts to expand; when the
    search is solved, the one it returns.

    Args:
        rank: The order of the open set.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        entered = _entered(state, rank)
        tree = merge_thoughts(state["thoughts"], [entered])
        ended: Usage = {"rounds": state["step"] - state["usage"].get("rounds", 0)}
        update = {"thoughts": entered, "usage": ended}
        ordered = open_set(tree)
        if reason := _stop_reason(state, entered, ordered):
            return {**update, "frontier": [], "stop_reason": reason}
        if tree[ordered[0]]["status"] == "terminal":
            return await _finished(run, state, update, tree[ordered[0]])
        batch = ordered[: ItotDfsSettings.of(state["settings"]).width]
        taken = list(takewhile(lambda key: tree[key]["status"] != "terminal", batch))
        deep: Tree = {key: TOO_DEEP for key in taken if not _may_grow(state, tree[key])}
        # What may still be done is asked as if the round that ends here were counted already.
        after = cast("SearchState", {**state, "usage": add_usage(state["usage"], ended)})
        growing = [key for key in taken if key not in deep][: expansions_allowed(after)]
        if not growing and not deep:
            return {**update, "frontier": [], "stop_reason": limit_reason(after)}
        return {
            **update,
            "thoughts": merge_thoughts(entered, [deep]),
            "frontier": growing,
            "step": state["step"] + 1,
        }

    return node


TOO_DEEP: Thought = {"status": "pruned", "note": "too deep to be continued"}


def open_set(tree: Tree) -> list[str]:
    """Returns who may be next (the paper's O), the least f first.

    It is read from the tree, so that what is written there counts: a thought that is expanded or
    pruned is out, one that is open again is in.
    """
    entered = (key for key, thought in tree.items() if "priority" in thought)
    waiting = [key for key in entered if tree[key]["status"] in ("open", "terminal")]
    return sorted(waiting, key=lambda key: by_priority(tree[key]))


def waiting(state: SearchState) -> list[str]:
    """Returns who may be next, and the new thoughts that come in with the next choice."""
    return [] if state["stop_reason"] else [*new_thoughts(state), *open_set(state["thoughts"])]


def by_priority(thought: Mapping[str, Any]) -> tuple[float, int, int]:
    """Orders open thoughts: least f, then the deepest, then the oldest (ties: ours)."""
    return thought.get("priority", 0.0), -thought["depth"], int(thought["id"])


def expand_all(run: Run, generator: ChooseGenerator) -> Node:
    """Makes the node that turns samples into children: distinct ones that there are not yet.

    Two children are the same when thought and action are. What a thought's children are is not
    changed by expanding it again.

    Args:
        generator: From the run's settings to the generator.
    """

    async def generate(state: SearchState) -> dict[str, Any]:
        step, keys = Step(run, state), to_expand(state)
        asks = [expansion(run, state, generator, k, times_expanded(state, k)) for k in keys]
        expansions = drafted(await step.ask(asks))
        distinct = [_distinct(state, expansion) for expansion in expansions]
        placed = place(state, distinct)
        again = [times_expanded(state, key) + 1 for key in placed.parents]
        step.count(**_counts(expansions, placed.new, again))
        # An expansion without a new thought is no shortage: all its samples were there before.
        wanted = any(each["thoughts"] for each in distinct)
        short = len(placed.parents) < len(keys) or (wanted and not placed.new)
        return step.update(
            thoughts=with_times(state, placed),
            stop_reason=limit_reason(state) if short else "",
        )

    return generate


def to_expand(state: SearchState) -> list[str]:
    """Returns the thoughts that were taken out of the open set and that nobody has dropped."""
    return [key for key in state["frontier"] if state["thoughts"][key]["status"] != "pruned"]


def returned_thoughts(state: SearchState) -> list[str]:
    """Returns the thought that solved the search, else the best terminal ones that are open.

    A search that ran to its end without one returns nothing, as the paper does.
    """
    if state["stop_reason"] in ("finished", "verified"):
        return state["frontier"]
    if state["stop_reason"] not in ("budget", "error"):
        return []
    tree = state["thoughts"]
    open_ends = [thought for thought in tree.values() if thought["status"] == "terminal"]
    ranked = sorted(
        open_ends, key=lambda thought: ("priority" not in thought, by_priority(thought))
    )
    return [thought["id"] for thought in ranked]


def _entered(state: SearchState, rank: Rank) -> Tree:
    """Returns the f of new thoughts that can enter the open set, and of those valued anew."""
    # A method without judges has no such setting, nor a use for its default.
    weight, entered = ValuedSettings.of(state["settings"]).value_weight, Tree()
    for key, thought in state["thoughts"].items():
        new = key != ROOT and "priority" not in thought
        if thought["status"] not in ("open", "terminal") or awaits_tool(thought):
            continue
        if rank.judges and "value" in thought:
            f = thought["cost"] - weight * thought["value"]
            if thought.get("priority") != f:  # new, or a person changed its value
                entered[key] = {"priority": f}
        elif new and not rank.judges:
            entered[key] = {"priority": -float(state["step"])}  # youngest first
    return entered


def _stop_reason(state: SearchState, entered: Tree, queue: Sequence[str]) -> StopReason:
    if state["stop_reason"] or not entered.keys() >= set(new_thoughts(state)):
        return limit_reason(state)
    settings = ItotDfsSettings.of(state["settings"])
    if state["step"] == settings.rounds:
        return "round_limit"
    allowed = settings.limit_rounds
    if allowed is not None and state["step"] >= allowed:
        return "round_limit"  # a round that pops a thought too deep to be continued counts as well
    return "" if queue else "exhausted"


async def _finished(
    run: Run, state: SearchState, update: dict[str, Any], end: Thought
) -> dict[str, Any]:
    """Ends the search in a terminal thought, or drops it because the oracle finds it wrong."""
    key, step = end["id"], state["step"] + 1
    update = {**update, "step": step}
    if not run.oracle or await is_right(run, state, end["answer"]):
        ended = {"rounds": step - state["usage"].get("rounds", 0)}
        reason = "verified" if run.oracle else "finished"
        return {**update, "usage": ended, "stop_reason": reason, "frontier": [key]}
    wrong: Thought = {"status": "pruned", "note": "the oracle says wrong"}
    return {
        **update,
        "thoughts": merge_thoughts(update["thoughts"], [{key: wrong}]),
        "frontier": [],
    }


def _may_grow(state: SearchState, thought: Thought) -> bool:
    """Returns whether a thought may have children: the literal `i > L` lets depth L have them."""
    settings, depth = ItotDfsSettings.of(state["settings"]), thought["depth"]
    if depth >= (settings.limit_depth or depth + 1):
        return False
    return depth <= settings.max_depth


def _distinct(state: SearchState, expansion: Expansion) -> Expansion:
    parent, kept = expansion["parent"], []
    seen = {_identity(child) for child in children_of(state["thoughts"], parent)}
    times = times_expanded(state, parent)
    for at, thought in enumerate(expansion["thoughts"]):
        if (identity := _identity(thought)) not in seen:
            seen.add(identity)
            made = {"node": "generate", "expansion": times, "sample": at}
            kept.append({**thought, "created_by": made})
    return {**expansion, "thoughts": kept}


def _identity(thought: Mapping[str, Any]) -> tuple[str, str, str]:
    action = thought["action"] or {"name": "", "argument": ""}
    return thought["text"], action["name"], action["argument"]


def _counts(expansions: Sequence[Expansion], new: Tree, times: Sequence[int]) -> dict[str, Any]:
    written = [thought for expansion in expansions for thought in expansion["thoughts"]]
    counts: dict[str, Any] = {"thoughts": len(new), "expansions": len(times)}
    if again := sum(time > 1 for time in times):
        counts["reexpansions"] = again
    if lost := sum(thought["action"] is None for thought in written):
        counts["parse_errors"] = {"generate": lost}
    return counts
