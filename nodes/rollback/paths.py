"""Reads a Thought Rollback structure off its tree: rollback edges and what they taught.

Reasoning paths follow parents alone, so rollback edges never make them cyclic.
"""

from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import RollbackState
from thoughtgraph.tree import ROOT, Tree, path_to


def path_ids(tree: Tree, key: str) -> list[str]:
    """Returns the ids of a path's thoughts from the root (included) to thought `key`."""
    return [ROOT, *(thought["id"] for thought in path_to(tree, key))]


def alpha(tree: Tree, key: str) -> int:
    """Returns how many rollbacks leave the thoughts of a path: its faults."""
    return sum("rollback" in thought for thought in path_to(tree, key))


def analysable(state: RollbackState, key: str) -> bool:
    """Returns whether few enough rollbacks have left a path for it to be analysed."""
    return alpha(state["thoughts"], key) <= RollbackSettings.of(state["settings"]).path_rollbacks


def beta(tree: Tree, key: str) -> int:
    """Returns how many experiences a path was made with: those its last thought was shown."""
    return len(tree[key].get("experiences", []))


def experiences(state: RollbackState, key: str, source: str | None) -> list[str]:
    """Returns the sources of the experiences that the next step after a thought is shown.

    For each thought on the path that a rollback made, these are all rollbacks to its parent up to
    that one (section 4.3, appendix D), which counts for the new path alone (section 4.2).

    Args:
        state: The search; its setting `experiences` may turn them off.
        key: Id of the thought to continue.
        source: The rollback that asks for the continuation, by its source; None: none does.

    Returns:
        Ids in the order of the rollbacks' destinations on the path, then of the tries.
    """
    if not RollbackSettings.of(state["settings"]).experiences:
        return []
    # A thought was shown those of its whole path: a pending rollback's destination comes last.
    tree = state["thoughts"]
    return [*tree[key].get("experiences", []), *(_tries(tree, source) if source else [])]


def _tries(tree: Tree, source: str) -> list[str]:
    """Returns the rollbacks to the destination of a thought's rollback, up to that one.

    Those count that led to it (ours): back from the thought, through what made each thought, its
    rollback or else its parent. Branches that happen to grow at the same time do not, so that no
    prompt and no weight depends on when a path is analysed.
    """
    to, at = tree[source]["rollback"]["to"], source
    found: list[str] = []
    while at not in (to, ROOT):
        if tree[at].get("rollback", {}).get("to") == to:
            found.append(at)
        at = tree[at].get("caused_by") or tree[at]["parent"] or ROOT
    return found[::-1]
