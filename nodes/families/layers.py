"""The layers of FGDIP's depth-first search, read off its tree.

A layer is the children of a visited thought. Its steps wait until all that is below those before
them was visited, so what is deepest comes first.
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
    """Returns the visited thoughts, in order; the last one is gone on from."""
    seen = [key for key, thought in tree.items() if "visit" in thought]
    return sorted(seen, key=lambda key: tree[key]["visit"])


def visited(tree: Tree) -> str:
    """Returns the thought that is gone on from: the latest that was visited, at first the root."""
    return max(tree, key=lambda key: tree[key].get("visit", 0))


def rejected(tree: Tree) -> list[str]:
    """Returns the answers that were found wrong, in order: the error memory."""
    return [key for key in visits(tree) if tree[key].get("note", "").startswith(REJECTED)]


def layer(state: SearchState) -> list[str]:
    """Returns the steps of the layer below the visited thought that were not dropped."""
    tree = state["thoughts"]
    above = visited(tree)
    return [key for key in living(tree) if tree[key]["parent"] == above]


def is_full(state: SearchState) -> bool:
    """Returns whether the layer below the visited thought has all its steps."""
    tree, settings = state["thoughts"], FgdipSettings.of(state["settings"])
    above = visited(tree)
    if (above == ROOT and settings.extractor) or above not in living(tree):
        return True
    steps = children_of(tree, above)
    return len(steps) >= settings.n_generate or any(step.get("only") for step in steps)


def unlabelled(state: SearchState) -> list[str]:
    """Returns the steps of the layer whose labels are the model's to give."""
    if not FgdipSettings.of(state["settings"]).step_evaluator:
        return []
    return [key for key in layer(state) if "value" not in state["thoughts"][key]]


def new_layer(state: SearchState) -> list[str]:
    """Returns the steps of the layer, once all are labelled."""
    return [] if is_unfinished(state) else layer(state)


def is_unfinished(state: SearchState) -> bool:
    """Returns whether a limit or an error cut the layer short."""
    waiting = any(awaits_tool(state["thoughts"][key]) for key in layer(state))
    return bool(state["stop_reason"] or waiting or unlabelled(state))


def labelled(state: SearchState, written: Tree) -> Tree:
    """Returns what a node writes of a layer, with the labels of the steps that need no model.

    An answer is sure, a step whose action calls no tool impossible. What a page says has no part
    in it: a call that was carried out is the model's to judge.
    """
    tree, known = merge_thoughts(state["thoughts"], [written]), Tree()
    above = visited(tree)
    for key in written if FgdipSettings.of(state["settings"]).step_evaluator else ():
        thought = tree[key]
        # A person may have judged it.
        new = thought["parent"] == above and "value" not in thought and not awaits_tool(thought)
        if new and thought["status"] == "terminal":
            known[key] = {"value": WORTH["sure"], "note": "sure"}
        elif new and thought["status"] == "open" and thought.get("invalid"):
            known[key] = {"value": WORTH["impossible"], "note": "impossible"}
    return merge_thoughts(written, [known])


def hopeless(state: SearchState) -> list[str]:
    """Returns the impossible steps of a layer; of entities none where all are impossible."""
    tree, settings, steps = state["thoughts"], FgdipSettings.of(state["settings"]), layer(state)
    if not settings.step_evaluator:
        return []
    lost = [key for key in steps if tree[key]["value"] <= WORTH["impossible"]]
    entities = settings.extractor and visited(tree) == ROOT
    return [] if entities and lost == steps else lost


def next_visit(state: SearchState, lost: Sequence[str]) -> str | None:
    """Returns the step that is visited next: in the deepest layer that has one, sure before maybe.

    Steps at the depth limit are passed over.

    Args:
        lost: Steps that are pruned now.
    """
    tree, settings = state["thoughts"], FgdipSettings.of(state["settings"])
    deepest = min(settings.max_depth, settings.limit_depth or settings.max_depth)

    def place(key: str) -> tuple[int, float]:
        value = tree[key].get("value", 0.0) if settings.step_evaluator else 0.0
        return -tree[key]["depth"], -value

    def waits(step: Thought) -> bool:
        ends = step["status"] == "terminal"
        return "visit" not in step and (ends or step["depth"] < deepest)

    left = [key for key in living(tree) if key != ROOT and key not in lost and waits(tree[key])]
    return min(left, key=place, default=None)


def shown_beside(state: SearchState) -> Shown:
    """Returns what the prompt of the next child shows besides the path."""
    settings, tree = FgdipSettings.of(state["settings"]), state["thoughts"]
    return Shown(
        rejected=rejected(tree) if settings.error_analysis else [],
        beside=layer(state) if settings.feedback else [],
    )


def words_done(thought: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what tells whether two thoughts do the same, whatever they say."""
    action = thought.get("action")
    said = [thought["text"]] if action is None else [action["name"], action["argument"]]
    return tuple(" ".join(part.casefold().split()) for part in said)


def spare_requests(state: SearchState) -> int:
    """Returns how many requests the search may still send.

    While no answer was rejected, one is kept back for the answer that is forced at the end.
    """
    return max(0, requests_left(state) - (not rejected(state["thoughts"])))


def stop_at(state: SearchState, step: Thought) -> StopReason:
    """Returns why the search ends with the visit of a step, if it does."""
    settings = FgdipSettings.of(state["settings"])
    if step["status"] == "terminal" and not settings.answer_evaluator:
        return "finished"
    free = step["status"] == "terminal" and settings.exact_check
    left = requests_left(state) if step["status"] == "terminal" else spare_requests(state)
    return "" if left or free else limit_reason(state)
