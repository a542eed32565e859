"""Paths of a Thought Rollback tree: their rollbacks, the order in which they grow, their vote.

Paths follow parents alone, so rollback edges never make them cyclic. In parallel, the path that is
never corrected ends first, as it grows while it is analysed. The paper's answer is the first
solution found by growing one path at a time, so that order is replayed here on the grown tree. The
paper's weight of a vote grows with a path's experiences and falls with its rollbacks. Its formula
is missing from the paper and from all published code: `ratio` and `difference` are ours.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from heapq import heappop, heappush

from thoughtgraph.errors import InputError
from thoughtgraph.nodes.tally import answers_of, ballots_of
from thoughtgraph.outcome import Vote
from thoughtgraph.settings.rollback import RollbackSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Tree, path_to

FIRST = "first"
"""The ensemble that needs no further solution once it has one."""
LEAST = Fraction(1, 1000)
"""The smallest weight under `difference` (ours)."""


def path_ids(tree: Tree, key: str) -> list[str]:
    """Returns the ids of a path's thoughts from the root (included) to thought `key`."""
    return [ROOT, *(thought["id"] for thought in path_to(tree, key))]


def solutions(tree: Tree) -> list[str]:
    """Returns the ids of the thoughts that end a path, in the order of their creation."""
    return [key for key, thought in tree.items() if thought["status"] == "terminal"]


def has_ended(tree: Tree, key: str) -> bool:
    """Returns whether a path has no further step."""
    return tree[key]["status"] not in ("open", "expanded")


def alpha(tree: Tree, key: str) -> int:
    """Returns how many rollbacks start from the thoughts of a path: its faults."""
    return sum("rollback" in thought for thought in path_to(tree, key))


def beta(tree: Tree, key: str) -> int:
    """Returns how many experiences a path was made with: those in its last thought's prompt."""
    return len(tree[key].get("experiences", []))


def analysable(tree: Tree, settings: RollbackSettings, key: str) -> bool:
    """Returns whether a path may be analysed: not too many rollbacks start from it."""
    return alpha(tree, key) <= settings.path_rollbacks


def priority(
    tree: Tree, settings: RollbackSettings, key: str, age: Callable[[str], int]
) -> tuple[int, list[int]]:
    """Returns the sort key of a path in the order of growth, least first.

    Paths made with more experiences come first (appendix B.4), unless `growth_order` is `dfs`.
    Ties grow depth first, children by age.

    Args:
        key: Id of the path's last thought.
        age: From a thought's id to its rank by time of creation.
    """
    experience_count = beta(tree, key) if settings.growth_order == "experience" else 0
    return -experience_count, [age(at) for at in path_ids(tree, key)]


def experiences(tree: Tree, settings: RollbackSettings, key: str, source: str | None) -> list[str]:
    """Returns the ids of the thoughts whose experiences the next step's prompt shows, in order.

    For each thought on the path that a rollback made, these are the sources of all rollbacks to its
    parent up to that one (section 4.3, appendix D), in the order of the tries. Of the rollbacks to
    one thought, only those count that led to the last (ours). The trace starts at its source and
    goes from each thought to the source of the rollback that made it, else to its parent. Branches
    that grow at the same time do not count: no prompt or weight depends on the time of an analysis.

    Args:
        key: Id of the thought to continue.
        source: Id of the thought whose rollback requests the continuation; None: no rollback does.
    """
    if not settings.experiences:
        return []
    tries: list[str] = []
    if source is not None:
        destination, at, visited = tree[source]["rollback"]["to"], source, set[str]()
        while at not in (destination, ROOT):
            if at in visited:  # a client of a server wrote past the reducer
                raise InputError("the rollbacks go round in a circle; start again")
            visited.add(at)
            if tree[at].get("rollback", {}).get("to") == destination:
                tries.append(at)
            at = tree[at].get("caused_by") or tree[at]["parent"] or ROOT
    # The thought's own list is that of its whole path: the tries from here come last.
    return [*tree[key].get("experiences", []), *reversed(tries)]


def solution_order(state: SearchState) -> list[str]:
    """Returns the ids of the solutions in the paper's order, in which `parallel=false` finds them.

    Solutions that one path at a time would not reach come last, in the order of their creation.
    """
    return _ordered(state)[0]


def _ordered(state: SearchState) -> tuple[list[str], int]:
    """Returns the solutions in the paper's order, and how many of the places are final."""
    tree, settings = state["thoughts"], RollbackSettings.of(state["settings"])
    ends = solutions(tree)
    if not settings.parallel:
        return ends, len(ends)
    order, final = list[str](), None
    for new in _growth(tree, settings):
        if not new:
            final = len(order) if final is None else final
        elif tree[new]["status"] == "terminal":
            order.append(new)
    rest = [key for key in ends if key not in order]
    return [*order, *rest], len(order) if final is None else final


def _growth(tree: Tree, settings: RollbackSettings) -> Iterator[str]:
    """Yields the ids of the thoughts in the order in which one path at a time makes them.

    An empty id stands for a gap: a step or branch not grown yet, or an analysis not made yet.
    """
    steps = {t["parent"]: key for key, t in tree.items() if key != ROOT and "caused_by" not in t}
    branches = {t["caused_by"]: key for key, t in tree.items() if "caused_by" in t}
    age, decided = {ROOT: 0}, {ROOT}
    live = [(priority(tree, settings, ROOT, age.__getitem__), ROOT)]
    while live:
        at = live[0][1]
        # A thought with a rollback comes up twice: first its branch grows, then its own path.
        rolls_back = "rollback" in tree[at] and at not in decided
        may_analyse = analysable(tree, settings, at)
        if at not in decided and "bad" not in tree[at] and may_analyse:
            yield ""
        decided.add(at)
        if not rolls_back or has_ended(tree, at) or (settings.drop_paths and not may_analyse):
            heappop(live)
        if (new := (branches if rolls_back else steps).get(at)) is not None:
            age[new] = len(age)
            heappush(live, (priority(tree, settings, new, age.__getitem__), new))
            yield new
        elif rolls_back or not has_ended(tree, at):
            yield ""


def weight(rule: str, alpha: int, beta: int) -> Fraction:
    """Returns the weight of a solution's vote, as an exact fraction.

    Args:
        rule: `ratio`: (1 + beta) / (1 + alpha); `difference`: 1 + beta - alpha, at least `LEAST`;
            anything else: 1.
        alpha: Number of rollbacks that start from its path.
        beta: Number of experiences it was made with.
    """
    if rule == "ratio":
        return Fraction(1 + beta, 1 + alpha)
    return max(LEAST, Fraction(1 + beta - alpha)) if rule == "difference" else Fraction(1)


def worth(tree: Tree, rule: str, key: str) -> Fraction:
    """Returns the weight of the vote of a solution in a tree."""
    return weight(rule, alpha(tree, key), beta(tree, key))


def ranked(state: SearchState, rule: str) -> list[str]:
    """Returns the ids of the solutions with an answer, those with the ensemble's answer first.

    Of equally good answers the first one wins.

    Args:
        rule: The ensemble.
    """
    tree, voting = state["thoughts"], _answered(state)
    if rule in (FIRST, "last"):
        return voting if rule == FIRST else voting[::-1]
    votes, totals = ballots_of({key: tree[key] for key in voting}), dict[str | None, Fraction]()
    for key, ballot in votes.items():
        if ballot is not None:
            totals[ballot] = totals.get(ballot, Fraction(0)) + worth(tree, rule, key)
    return sorted(voting, key=lambda key: -totals.get(votes[key], Fraction(0)))


def winners(state: SearchState) -> list[str]:
    """Returns the ids of the solutions as ranked by the ensemble of the settings."""
    return ranked(state, RollbackSettings.of(state["settings"]).ensemble)


def settled(state: SearchState) -> bool:
    """Returns whether the first solution with an answer is final, whatever else is grown (ours).

    In parallel, a solution's place in the order is final once nothing before it is open.
    """
    order, final_count = _ordered(state)
    return any(state["thoughts"][key].get("answer") is not None for key in order[:final_count])


def tally(state: SearchState, chosen: str) -> list[Vote]:
    """Returns the votes of the ensemble; `first` and `last` hold none."""
    rule, tree = RollbackSettings.of(state["settings"]).ensemble, state["thoughts"]
    if rule in (FIRST, "last"):
        return []
    voting = {key: tree[key] for key in solution_order(state)}
    weights = {key: worth(tree, rule, key) for key in voting}
    return answers_of("votes" if rule == "majority" else "weights", voting, weights, chosen)


def _answered(state: SearchState) -> list[str]:
    """Returns the ids of the solutions with an answer, in the paper's order."""
    tree = state["thoughts"]
    return [key for key in solution_order(state) if tree[key].get("answer") is not None]
