"""The rollback controller's hand: decides whether and where to go back, and adds the edges."""

from collections import Counter
from typing import Any

from thoughtgraph.nodes.rollback.paths import alpha, path_ids
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import RollbackState
from thoughtgraph.tree import Rollback, Thought, Tree, with_note

BACK = "step {step} is bad: back to thought {to}"
FINE = "no step was found to be bad"
FULL = "every thought to go back to has as many rollbacks as it may have"
FORGIVEN = "the path has as many rollbacks as it may have"


async def rollback(state: RollbackState) -> dict[str, Any]:
    """Goes back from each path with named bad steps; where to is continued next.

    That is the thought before the first bad step, unless it has U rollbacks already: then the one
    before the next bad step. Paths are decided on in the order of their last thoughts' ids, each
    knowing the decisions before it.
    """
    tree, new = state["thoughts"], Tree()
    into = Counter(t["rollback"]["to"] for t in tree.values() if "rollback" in t)
    chosen: dict[str, Rollback] = {}
    for key in sorted(state.get("reports") or [], key=int):
        edge = _edge(state, key, into, chosen)
        if isinstance(edge, str):
            new[key] = Thought(note=with_note(tree[key], edge))
        else:
            note = with_note(tree[key], BACK.format(**edge))
            chosen[key], new[key] = edge, Thought(rollback=edge, note=note)
            into[edge["to"]] += 1
    counted = {"usage": {"rollbacks": len(chosen)}} if chosen else {}
    return {"thoughts": new, "pending": [*state["pending"], *chosen], **counted}


def _edge(
    state: RollbackState, key: str, into: Counter[str], chosen: dict[str, Rollback]
) -> Rollback | str:
    """Returns the rollback from a thought, or why there is none."""
    settings, tree = RollbackSettings.of(state["settings"]), state["thoughts"]
    line = path_ids(tree, key)
    left = alpha(tree, key) + sum(at in chosen for at in line)
    if not tree[key]["bad"]:
        return FINE
    if left > settings.path_rollbacks:
        return FORGIVEN
    # line[0] is the root, so line[step - 1] is the thought before a step.
    free = (step for step in tree[key]["bad"] if into[line[step - 1]] < settings.incoming)
    step = next(free, None)
    return FULL if step is None else Rollback(to=line[step - 1], step=step)
