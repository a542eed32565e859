"""What else must change with thoughts that a person edits: frontier, round, stack, open set.

What a search keeps beside its tree is made to fit, so that the next node finds a state that could
have come about by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from thoughtgraph.entries import METHODS
from thoughtgraph.errors import InputError
from thoughtgraph.reducers import StackWrite
from thoughtgraph.tree import PERSON, Thought, Tree, merge_thoughts

BELOW = "below a thought that was pruned by hand"


def following(state: Mapping[str, Any], changes: Tree) -> dict[str, Any]:
    """Returns what else must change with thoughts."""
    tree = merge_thoughts(state["thoughts"], [changes])
    gone = _below(tree, [key for key, each in changes.items() if each.get("status") == "pruned"])
    more: Tree = {
        key: {"status": "pruned", "note": BELOW, "pruned_by": PERSON}
        for key in gone
        if key not in changes
    }
    for key, thought in changes.items():
        if "value" in thought and "priority" in tree[key]:
            weight = state["settings"].get("value_weight", 0.0)
            more[key] = {"priority": tree[key].get("cost", 0.0) - weight * thought["value"]}
    update = _without(state, gone)
    for key in [key for key, thought in changes.items() if thought.get("status") == "open"]:
        update |= _opened({**state, **update}, tree, key, more)
    if any("value" in thought for thought in changes.values()):
        update |= _resorted({**state, **update}, tree)
    if "stack" in update:
        update["stack"] = StackWrite(keep=0, frames=[*update["stack"]])
    if added := len(changes.keys() - state["thoughts"].keys()):
        update["usage"] = {"thoughts": added}
    return {**update, **({"thoughts": more} if more else {})}


def _below(tree: Tree, pruned: Iterable[str]) -> set[str]:
    """Returns pruned thoughts and all that follow them."""
    gone = set(pruned)
    for key in sorted(tree, key=int):
        if tree[key]["parent"] in gone:
            gone.add(key)
    return gone


def _without(state: Mapping[str, Any], gone: set[str]) -> dict[str, Any]:
    """Returns what a search keeps beside its tree, without thoughts that are gone.

    Raises:
        InputError: The search stands at one of them.
    """
    kept: dict[str, Any] = {}
    for name in ("frontier", "generation"):
        if gone & set(state.get(name) or ()):
            kept[name] = [key for key in state[name] if key not in gone]
    entry, last = METHODS.get(state.get("method", "")), next(reversed(state["thoughts"]))
    if entry is not None and entry.stands and last in gone:
        raise InputError(f"the search stands at thought {last}; prune it later")
    if "stack" in state:
        stack = state["stack"]
        cut = next((at for at, frame in enumerate(stack) if frame["thought"] in gone), len(stack))
        left = [_passed_over(frame, gone) for frame in stack[:cut]]
        if left != stack:
            kept["stack"] = left
    return kept


def _passed_over(frame: Mapping[str, Any], gone: set[str]) -> Mapping[str, Any]:
    """Returns a frame without candidates that are gone, those apart that were looked at already."""
    seen, left = frame["candidates"][: frame["pos"]], frame["candidates"][frame["pos"] :]
    return {**frame, "candidates": [*seen, *(key for key in left if key not in gone)]}


def _opened(state: Mapping[str, Any], tree: Tree, key: str, more: Tree) -> dict[str, Any]:
    """Returns where a search takes up a thought that is open again, or new.

    Raises:
        InputError: It has left that place and does not come back.
    """
    thought, frontier = tree[key], state.get("frontier", [])
    if "priority" in thought or key in frontier or key in state.get("generation", []):
        return {}  # It is there, or in the open set, which is read from the tree.
    if not any(state.get(name) for name in ("frontier", "generation", "stack", "stop_reason")):
        return {}  # What is open is read from the tree.
    if "visiting" in state and "visit" in thought:
        return _visited_again(state, thought, more)
    generation = state.get("generation", [])
    if any(tree[each]["parent"] == thought["parent"] for each in generation):
        return {"generation": sorted([*generation, key], key=int)}
    if state.get("stack"):
        return _on_stack(state["stack"], thought)
    for name in ("generation", "frontier"):
        if any(tree[each]["depth"] == thought["depth"] for each in state.get(name, [])):
            return {name: sorted([*state[name], key], key=int)}
    if thought["parent"] in frontier:
        return {"generation": [*generation, key]}
    raise _left_behind(key)


def _visited_again(state: Mapping[str, Any], thought: Thought, more: Tree) -> dict[str, Any]:
    """Returns how a depth-first search goes into a state that it visited and left alone."""
    key, settings = thought["id"], state["settings"]
    if state["frontier"]:
        raise InputError(f"thought {state['frontier'][0]} comes first; open thought {key} later")
    if settings.get("variant") == "no_backtrack":
        raise InputError("variant no_backtrack takes nothing up again that it left")
    if thought["depth"] >= settings["steps"]:
        more[key] = {**more.get(key, {}), "status": "terminal"}
        return {}
    if thought["depth"] >= (settings.get("limit_depth") or thought["depth"] + 1):
        raise InputError(f"no thought is deeper than {settings['limit_depth']} (limit_depth)")
    update: dict[str, Any] = {"frontier": [key]}
    if (waiting := state["visiting"]) and "visit" not in state["thoughts"][waiting]:
        *below, top = state["stack"]  # Its turn comes again.
        top = {**top, "pos": top["pos"] - 1, "tried": top["tried"] - 1}
        update |= {"visiting": "", "stack": [*below, top]}
    return update


def _on_stack(stack: Sequence[Mapping[str, Any]], thought: Thought) -> dict[str, Any]:
    key, parent = thought["id"], thought["parent"]
    for at, frame in enumerate(stack):
        if frame["thought"] == parent:
            done = frame["candidates"][: frame["pos"]]
            left = [each for each in frame["candidates"][frame["pos"] :] if each != key]
            moved = {**frame, "candidates": [*done, key, *left]}
            return {"stack": [*stack[:at], moved, *stack[at + 1 :]]}
    raise _left_behind(key)


def _left_behind(key: str) -> InputError:
    return InputError(
        f"the search has left the place of thought {key} and does not come back to it; go back in "
        "its history and edit it there"
    )


def _resorted(state: Mapping[str, Any], tree: Tree) -> dict[str, Any]:
    """Returns the stack with candidates in the order of their values, where all have one."""
    frames = []
    for frame in state.get("stack") or []:
        left = frame["candidates"][frame["pos"] :]
        if left and all("value" in tree[key] for key in left):
            done = frame["candidates"][: frame["pos"]]
            ordered = sorted(left, key=lambda key: -tree[key]["value"])
            frame = {**frame, "candidates": [*done, *ordered]}
        frames.append(frame)
    return {"stack": frames} if frames and frames != state["stack"] else {}
