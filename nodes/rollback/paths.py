"""Reads a Thought Rollback structure off its tree: paths, rollback edges and what they taught.

Paths follow parents alone, so rollback edges never make them cyclic.
"""

from collections.abc import Callable

from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.tree import ROOT, Tree, path_to


def path_ids(tree: Tree, key: str) -> list[str]:
    """Returns the ids of a path's thoughts from the root (included) to thought `key`."""
    return [ROOT, *(thought["id"] for thought in path_to(tree, key))]


def solutions(tree: Tree) -> list[str]:
    """Returns the thoughts that end a path, in the order of their creation."""
    return [key for key, thought in tree.items() if thought["status"] == "terminal"]


def has_ended(tree: Tree, key: str) -> bool:
    """Returns whether a path has no further step."""
    return tree[key]["status"] not in ("open", "expanded")


def alpha(tree: Tree, key: str) -> int:
    """Returns how many rollbacks leave the thoughts of a path: its faults."""
    return sum("rollback" in thought for thought in path_to(tree, key))


def beta(tree: Tree, key: str) -> int:
    """Returns how many experiences a path was made with: those its last thought was shown."""
    return len(tree[key].get("experiences", []))


def analysable(tree: Tree, settings: RollbackSettings, key: str) -> bool:
    """Returns whether few enough rollbacks have left a path for it to be analysed."""
    return alpha(tree, key) <= settings.path_rollbacks


def priority(
    tree: Tree, settings: RollbackSettings, key: str, age: Callable[[str], int]
) -> tuple[int, list[int]]:
    """Returns a path's place in the order of growth, the least first.

    Paths made with more experiences come first (appendix B.4) unless `growth_order` is `dfs`,
    ties depth first, children by age.

    Args:
        key: Id of the path's last thought.
        age: From a thought's id to when it was made, as a number.
    """
    taught = beta(tree, key) if settings.growth_order == "experience" else 0
    return -taught, [age(at) for at in path_ids(tree, key)]


def experiences(tree: Tree, settings: RollbackSettings, key: str, source: str | None) -> list[str]:
    """Returns the sources of the experiences that the next step after a thought is shown.

    For each thought on the path that a rollback made, these are all rollbacks to its parent up to
    that one (section 4.3, appendix D), in the order of the tries. Of the rollbacks to one thought
    those count that led to the last (ours): back from its source, through what made each thought,
    a rollback or else its parent. Branches that happen to grow at the same time do not, so that no
    prompt and no weight depends on when a path is analysed.

    Args:
        key: Id of the thought to continue.
        source: The thought whose rollback asks for the continuation; None: none does.
    """
    if not settings.experiences:
        return []
    tries: list[str] = []
    if source is not None:
        to, at = tree[source]["rollback"]["to"], source
        while at not in (to, ROOT):
            if tree[at].get("rollback", {}).get("to") == to:
                tries.append(at)
            at = tree[at].get("caused_by") or tree[at]["parent"] or ROOT
    # A thought was shown those of its whole path: the rollback's destination comes last.
    return [*tree[key].get("experiences", []), *reversed(tries)]
