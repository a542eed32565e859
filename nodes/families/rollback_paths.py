"""Paths of a Thought Rollback tree: their rollbacks, the order in which they grow, their vote.

Paths follow parents alone, so rollback edges never make them cyclic. In parallel the path that is
never corrected ends first, as it grows on while it is analysed. The paper's answer is the first
solution of growth of one path at a time: that order is replayed here on what was grown. The paper's
weight of a vote grows with the experiences a path was made with and falls with its rollbacks; its
formula was lost in print and is in no published code. `ratio` and `difference` are ours.
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
        to, at, passed = tree[source]["rollback"]["to"], source, set[str]()
        while at not in (to, ROOT):
            if at in passed:  # a client of a server wrote past the reducer
                raise InputError("the rollbacks go round in a circle; start again")
            passed.add(at)
            if tree[at].get("rollback", {}).get("to") == to:
                tries.append(at)
            at = tree[at].get("caused_by") or tree[at]["parent"] or ROOT
    # A thought was shown those of its whole path: the rollback's destination comes last.
    return [*tree[key].get("experiences", []), *reversed(tries)]


def solution_order(state: SearchState) -> list[str]:
    """Returns the solutions in the paper's order; `parallel=false` finds them in it.

    Those that one path at a time would not reach come last, in the order of their creation.
    """
    return _ordered(state)[0]


def _ordered(state: SearchState) -> tuple[list[str], int]:
    """Returns the solutions in the paper's order, and how many of them keep their places."""
    tree, settings = state["thoughts"], RollbackSettings.of(state["settings"])
    ends = solutions(tree)
    if not settings.parallel:
        return ends, len(ends)
    order, sure = list[str](), None
    for new in _growth(tree, settings):
        if not new:
            sure = len(order) if sure is None else sure
        elif tree[new]["status"] == "terminal":
            order.append(new)
    rest = [key for key in ends if key not in order]
    return [*order, *rest], len(order) if sure is None else sure


def _growth(tree: Tree, settings: RollbackSettings) -> Iterator[str]:
    """Yields the thoughts in the order in which one path at a time makes them.

    An empty id stands for what is not known yet: a step not taken or a thought not decided on.
    """
    steps = {t["parent"]: key for key, t in tree.items() if key != ROOT and "caused_by" not in t}
    branches = {t["caused_by"]: key for key, t in tree.items() if "caused_by" in t}
    age, decided = {ROOT: 0}, {ROOT}
    live = [(priority(tree, settings, ROOT, age.__getitem__), ROOT)]
    while live:
        at = live[0][1]
        # A thought is met twice: its rollback is taken first, then its path goes on.
        back = "rollback" in tree[at] and at not in decided
        few = analysable(tree, settings, at)
        if at not in decided and "bad" not in tree[at] and few:
            yield ""
        decided.add(at)
        if not back or has_ended(tree, at) or (settings.drop_paths and not few):
            heappop(live)
        if (new := (branches if back else steps).get(at)) is not None:
            age[new] = len(age)
            heappush(live, (priority(tree, settings, new, age.__getitem__), new))
            yield new
        elif back or not has_ended(tree, at):
            yield ""


def weight(rule: str, alpha: int, beta: int) -> Fraction:
    """Returns what a solution's vote is worth, exactly.

    Args:
        rule: `ratio`: (1 + beta) / (1 + alpha); `difference`: 1 + beta - alpha, at least `LEAST`;
            anything else: 1.
        alpha: Rollbacks that leave its path.
        beta: Experiences it was made with.
    """
    if rule == "ratio":
        return Fraction(1 + beta, 1 + alpha)
    return max(LEAST, Fraction(1 + beta - alpha)) if rule == "difference" else Fraction(1)


def worth(tree: Tree, rule: str, key: str) -> Fraction:
    """Returns what the vote of a solution is worth."""
    return weight(rule, alpha(tree, key), beta(tree, key))


def ranked(state: SearchState, rule: str) -> list[str]:
    """Returns the solutions that have an answer, those that give an ensemble's answer first.

    Of equally good answers the one given first wins.

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
    """Returns what the search's own ensemble ranks."""
    return ranked(state, RollbackSettings.of(state["settings"]).ensemble)


def settled(state: SearchState) -> bool:
    """Returns whether the first solution with an answer is known, whatever else is found (ours).

    In parallel a solution's place in the order is sure once nothing that comes before it is open.
    """
    order, certain = _ordered(state)
    return any(state["thoughts"][key].get("answer") is not None for key in order[:certain])


def tally(state: SearchState, chosen: str) -> list[Vote]:
    """Tells of the ensemble's vote; `first` and `last` hold none."""
    rule, tree = RollbackSettings.of(state["settings"]).ensemble, state["thoughts"]
    if rule in (FIRST, "last"):
        return []
    voting = {key: tree[key] for key in solution_order(state)}
    weights = {key: worth(tree, rule, key) for key in voting}
    return answers_of("votes" if rule == "majority" else "weights", voting, weights, chosen)


def _answered(state: SearchState) -> list[str]:
    """Returns the solutions that have an answer, in their order."""
    tree = state["thoughts"]
    return [key for key in solution_order(state) if tree[key].get("answer") is not None]
