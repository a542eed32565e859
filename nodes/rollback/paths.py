"""Reads a Thought Rollback structure off its tree: rollback edges and what they taught.

Reasoning paths follow parents alone, so rollback edges never make them cyclic.
"""

from collections.abc import Collection

from thoughtgraph.settings.rollback import RollbackSettings, Scope
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
    return alpha(state["tree"], key) <= RollbackSettings.of(state["settings"]).path_rollbacks


def beta(tree: Tree, key: str) -> int:
    """Returns how many experiences a path was made with: those its last thought was shown."""
    return len(tree[key].get("experiences", []))


def incoming(tree: Tree, key: str) -> list[str]:
    """Returns the sources of the rollbacks to a thought, in the order of their ids."""
    return [
        source
        for source, thought in tree.items()
        if "rollback" in thought and thought["rollback"]["to"] == key
    ]


def experiences(
    tree: Tree, key: str, source: str | None, scope: Scope, unseen: Collection[str] = ()
) -> list[str]:
    """Returns the sources of the experiences that the next step after a thought is shown.

    Args:
        key: Id of the thought to continue.
        source: The rollback that asks for the continuation, by its source; None: none does.
        scope: Which experiences count.
        unseen: Rollbacks, by their sources, that are decided on only after this continuation.

    Returns:
        Ids in the order of the rollbacks' destinations on the path.
    """
    if scope == "incoming":
        known = (back for at in path_ids(tree, key) for back in incoming(tree, at))
        return [back for back in known if back not in unseen]
    # A thought was shown those of its whole path: a pending rollback's destination comes last.
    return [*tree[key].get("experiences", []), *([] if source is None else [source])]


def experiences_shown(state: RollbackState, key: str, source: str | None) -> list[str]:
    """Returns the experiences the next step after a thought is shown under a run's settings.

    Rollbacks of one round are as if decided one by one: none shows those after it, so that two
    tries at one thought are not asked for by the same prompt.
    """
    settings, pending = RollbackSettings.of(state["settings"]), state["pending"]
    if not settings.experiences:
        return []
    after = pending[pending.index(source) + 1 :] if source in pending else ()
    return experiences(state["tree"], key, source, settings.experience_scope, after)
