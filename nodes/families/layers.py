"""The layers of FGDIP's depth-first search, derived from its tree.

A layer is the children of a visited thought. A step waits until everything below its earlier
siblings was visited, so the deepest steps come first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph.acting import WORTH
from thoughtgraph.nodes.actions import awaits_tool
from thoughtgraph.nodes.limits import limit_reason, requests_left
from thoughtgraph.outcome import REJECTED, StopReason
from thoughtgraph.settings.acting import FgdipSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Shown, Thought, Tree, children_of, living, merge_thoughts

SAME = "the same action as a thought beside it"


def visits(tree: Tree) -> list[str]:
    """Returns the ids of the visited thoughts, in order; the search continues from the last."""
    keys = [key for key, thought in tree.items() if "visit" in thought]
    return sorted(keys, key=lambda key: tree[key]["visit"])


def visited(tree: Tree) -> str:
    """Returns the id of the thought visited last, which the search continues; at first the root."""
    return max(tree, key=lambda key: tree[key].get("visit", 0))


def rejected(tree: Tree) -> list[str]:
    """Returns the ids of the rejected answers, in order: the error memory."""
    return [key for key in visits(tree) if tree[key].get("note", "").startswith(REJECTED)]


def layer(state: SearchState) -> list[str]:
    """Returns the ids of the unpruned steps in the layer below the visited thought."""
    tree = state["thoughts"]
    parent = visited(tree)
    return [key for key in living(tree) if tree[key]["parent"] == parent]


def is_full(state: SearchState) -> bool:
    """Returns whether no more steps are to be requested below the visited thought.

    The extractor gives all steps below the root at once, and a pruned thought gets no more.
    """
    tree, settings = state["thoughts"], FgdipSettings.of(state["settings"])
    parent = visited(tree)
    if (parent == ROOT and settings.extractor) or parent not in living(tree):
        return True
    steps = children_of(tree, parent)
    return len(steps) >= settings.n_generate or any(step.get("only") for step in steps)


def unlabelled(state: SearchState) -> list[str]:
    """Returns the ids of the steps in the layer that the model has yet to label."""
    if not FgdipSettings.of(state["settings"]).step_evaluator:
        return []
    return [key for key in layer(state) if "value" not in state["thoughts"][key]]


def new_layer(state: SearchState) -> list[str]:
    """Returns the ids of the steps in the layer, once all are labelled."""
    return [] if is_unfinished(state) else layer(state)


def is_unfinished(state: SearchState) -> bool:
    """Returns whether steps lack an observation or a label, or the search was stopped."""
    waiting = any(awaits_tool(state["thoughts"][key]) for key in layer(state))
    return bool(state["stop_reason"] or waiting or unlabelled(state))


def labelled(state: SearchState, written: Tree) -> Tree:
    """Adds the labels that need no model to a node's update of a layer, and returns the update.

    An answer is sure, and a step with an invalid action is impossible. Observations decide nothing
    here: the model judges every call that was carried out.
    """
    tree, labels = merge_thoughts(state["thoughts"], [written]), Tree()
    parent = visited(tree)
    for key in written if FgdipSettings.of(state["settings"]).step_evaluator else ():
        thought = tree[key]
        # A person may have judged it.
        is_new = thought["parent"] == parent and "value" not in thought and not awaits_tool(thought)
        if is_new and thought["status"] == "terminal":
            labels[key] = {"value": WORTH["sure"], "note": "sure"}
        elif is_new and thought["status"] == "open" and thought.get("invalid"):
            labels[key] = {"value": WORTH["impossible"], "note": "impossible"}
    return merge_thoughts(written, [labels])


def hopeless(state: SearchState) -> list[str]:
    """Returns the ids of the impossible steps to prune; none if that would prune all entities."""
    tree, settings, steps = state["thoughts"], FgdipSettings.of(state["settings"]), layer(state)
    if not settings.step_evaluator:
        return []
    impossible = [key for key in steps if tree[key]["value"] <= WORTH["impossible"]]
    are_entities = settings.extractor and visited(tree) == ROOT
    return [] if are_entities and impossible == steps else impossible


def next_visit(state: SearchState, lost: Sequence[str]) -> str | None:
    """Returns the id of the step to visit next: in the deepest layer with one, sure before maybe.

    Steps at the depth limit are skipped, unless they are answers.

    Args:
        lost: Ids of the steps that are about to be pruned.
    """
    tree, settings = state["thoughts"], FgdipSettings.of(state["settings"])
    deepest = min(settings.max_depth, settings.limit_depth or settings.max_depth)

    def rank(key: str) -> tuple[int, float]:
        value = tree[key].get("value", 0.0) if settings.step_evaluator else 0.0
        return -tree[key]["depth"], -value

    def waits(step: Thought) -> bool:
        is_answer = step["status"] == "terminal"
        return "visit" not in step and (is_answer or step["depth"] < deepest)

    keys = [key for key in living(tree) if key != ROOT and key not in lost and waits(tree[key])]
    return min(keys, key=rank, default=None)


def shown_beside(state: SearchState) -> Shown:
    """Returns the ids of the thoughts that the next child's prompt shows besides the path."""
    settings, tree = FgdipSettings.of(state["settings"]), state["thoughts"]
    return Shown(
        rejected=rejected(tree) if settings.error_analysis else [],
        beside=layer(state) if settings.feedback else [],
    )


def words_done(thought: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns a key that is equal for equal actions, or for equal texts without an action."""
    action = thought.get("action")
    parts = [thought["text"]] if action is None else [action["name"], action["argument"]]
    return tuple(" ".join(part.casefold().split()) for part in parts)


def spare_requests(state: SearchState) -> int:
    """Returns how many requests the search may still send.

    While no answer was rejected, one request is reserved for the forced answer at the end.
    """
    return max(0, requests_left(state) - (not rejected(state["thoughts"])))


def stop_at(state: SearchState, step: Thought) -> StopReason:
    """Returns the stop reason if the visit of a step ends the search; else empty."""
    settings = FgdipSettings.of(state["settings"])
    if step["status"] == "terminal" and not settings.answer_evaluator:
        return "finished"
    needs_no_request = step["status"] == "terminal" and settings.exact_check
    left = requests_left(state) if step["status"] == "terminal" else spare_requests(state)
    return "" if left or needs_no_request else limit_reason(state)
