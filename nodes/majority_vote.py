"""Self-consistency: the most frequent answer wins."""

from collections import Counter
from typing import Any

from thoughtgraph.state import SearchState


async def majority_vote(state: SearchState) -> dict[str, Any]:
    """Counts how often each answer was given and puts the winner into the frontier.

    Samples without a readable answer do not vote; when no sample has one the frontier is empty. Of
    equally frequent answers the one given first wins. Every sample's value becomes the number of
    samples that gave its answer.
    """
    answers = {key: state["tree"][key].get("answer") for key in state["generation"]}
    given = {key: answer for key, answer in answers.items() if answer is not None}
    # Both keep the order of first occurrence, so `max` finds the earliest of equals.
    votes = Counter(given.values())
    winner = max(given, key=lambda key: votes[given[key]], default=None)
    return {
        "tree": {
            key: {"value": float(votes[given[key]] if key in given else 0)} for key in answers
        },
        "frontier": [] if winner is None else [winner],
    }
