"""Samples in batches: how many could settle the vote, whether it is settled, who leads."""

from collections import Counter
from collections.abc import Mapping
from math import comb
from typing import Any, NamedTuple, cast

from thoughtgraph.nodes.check import is_right
from thoughtgraph.nodes.limits import limit_reason, requests_left, thoughts_left
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import times_expanded
from thoughtgraph.nodes.tally import samples, samples_of
from thoughtgraph.outcome import StopReason, Vote
from thoughtgraph.run import Run
from thoughtgraph.settings import Settings
from thoughtgraph.settings.adaptive import AdaptiveSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Tree, path_to
from thoughtgraph.usage import Usage, add_usage


def sureness(first: int, second: int) -> float:
    """Returns the probability that of two answers the first is the more probable one.

    It is that of Beta(first + 1, second + 1) above 1/2, which is a sum of binomial coefficients.

    Args:
        first: Votes of the leader.
        second: Votes of the runner-up.
    """
    drawn = first + second + 1
    ways = sum(comb(drawn, at) for at in range(first + 1))
    return float(ways / 2**drawn)


def needed(votes: Mapping[str, int], confidence: float) -> int:
    """Returns the fewest samples that settle a vote if all agree with its leader; 0: it is."""
    first, second, *_ = [*sorted(votes.values(), reverse=True), 0, 0]
    more = 0
    while sureness(first + more, second) <= confidence:
        more += 1
    return more


class Batch(NamedTuple):
    """The next samples."""

    start: str
    """Id of the thought that they go on from."""
    size: int


def next_batch(state: SearchState) -> Batch | None:
    """Returns the next samples; None once the search has ended."""
    if state["stop_reason"] or not requests_left(state):
        return None
    settings = AdaptiveSettings.of(state["settings"])
    wanted = min(needed(_standing(state), settings.confidence), _left(state))
    return Batch(_furthest(state), wanted)


def select(run: Run) -> Node:
    """Makes the node that counts the votes and ends the search once they are settled."""

    async def node(state: SearchState) -> dict[str, Any]:
        spent: Usage = {"rounds": 1}
        if accepted := await _accepted(run, state):
            reason = "verified" if state["oracle"] else "finished"
            chosen: Tree = {accepted: {"chosen": True}}
            return {"thoughts": chosen, "stop_reason": reason, "usage": spent}
        after = cast("SearchState", {**state, "usage": add_usage(state["usage"], spent)})
        reason = state["stop_reason"] or _stop_reason(after)
        votes, tree = _votes(state), state["thoughts"]
        worth = {key: votes[tree[key]["answer"] or ""] for key in candidates(state)}
        values: Tree = {key: {"value": float(given)} for key, given in worth.items()}
        return {"thoughts": values, "stop_reason": reason, "usage": spent}

    return node


def _stop_reason(state: SearchState) -> StopReason:
    """Returns why no more samples are drawn; empty while they are."""
    confidence = AdaptiveSettings.of(state["settings"]).confidence
    if not _left(state) or not needed(_standing(state), confidence):
        return "finished"
    rounds = Settings.of(state["settings"]).limit_rounds
    over = rounds is not None and state["usage"].get("rounds", 0) >= rounds
    none_left = not requests_left(state) or not thoughts_left(state)
    return limit_reason(state) if over or none_left else ""


def _left(state: SearchState) -> int:
    return AdaptiveSettings.of(state["settings"]).samples - len(samples(state))


def _votes(state: SearchState) -> Counter[str]:
    """Returns how often each answer was given, in the order of their first occurrence."""
    answers = (state["thoughts"][key].get("answer") for key in samples(state))
    return Counter(answer for answer in answers if answer is not None)


def _standing(state: SearchState) -> Counter[str]:
    """Returns the votes that may settle the search: under an oracle all answers were wrong."""
    return Counter() if state["oracle"] else _votes(state)


def leader(state: SearchState) -> list[str]:
    """Returns the sample that was accepted, else the first that gave the most frequent answer."""
    votes, tree = _votes(state), state["thoughts"]
    if accepted := [key for key, thought in tree.items() if thought.get("chosen")]:
        return accepted
    if not votes:
        return []
    most = max(votes, key=lambda answer: votes[answer])
    return [next(key for key in candidates(state) if tree[key]["answer"] == most)]


def candidates(state: SearchState) -> list[str]:
    """Returns the samples that gave an answer, or should have, in order."""
    return [key for key in samples(state) if state["thoughts"][key]["status"] == "terminal"]


def new_samples(state: SearchState) -> list[str]:
    """Returns the samples of the last request."""
    tree = state["thoughts"]
    drawn = max((tree[key]["created_by"]["expansion"] for key in samples(state)), default=0)
    last = [k for k in samples(state) if tree[k]["created_by"]["expansion"] == drawn]
    return [key for key in last if tree[key]["status"] != "pruned"]


def votes(state: SearchState, chosen: str) -> list[Vote]:
    """Tells how the answers voted; nothing of plans, of which the first that runs answers."""
    plans = AdaptiveSettings.of(state["settings"]).draw == "plans"
    return [] if plans else samples_of(state, chosen)


async def _accepted(run: Run, state: SearchState) -> str:
    """Returns the sample that ends the search: a plan that ran, or what an oracle accepts."""
    new = [key for key in candidates(state) if "value" not in state["thoughts"][key]]
    if not state["oracle"]:
        plans = AdaptiveSettings.of(state["settings"]).draw == "plans"
        return new[0] if plans and new else ""
    known: dict[str | None, bool] = {}
    for key in new:
        answer = state["thoughts"][key]["answer"]
        if answer not in known:
            known[answer] = await is_right(run, state, answer)
        if known[answer]:
            return key
    return ""


def _furthest(state: SearchState) -> str:
    """Returns the start of the next samples: tried least, then furthest, then the oldest."""
    tree = state["thoughts"]
    begun = [key for key in samples(state) if tree[key]["status"] in ("open", "expanded")]

    def order(key: str) -> tuple[int, int, int]:
        steps = sum(len(thought["text"].split("\n")) for thought in path_to(tree, key))
        return times_expanded(state, key), -steps, int(key)

    return min([ROOT, *begun], key=order)
