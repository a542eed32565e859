"""Limit checks for routers and nodes: the requests, thoughts and depth that are still allowed."""

from collections.abc import Mapping
from typing import Any

from thoughtgraph.outcome import StopReason
from thoughtgraph.settings import Settings
from thoughtgraph.state import SearchState
from thoughtgraph.usage import reached_limit

UNLIMITED = 1_000_000_000


def requests_left(state: SearchState) -> int:
    """Returns how many requests may still be sent; none once any limit is reached."""
    limits, usage = Settings.of(state["settings"]).limits, state["spent"]
    if reached_limit(limits, usage):
        return 0
    allowed = limits.get("requests")
    return UNLIMITED if allowed is None else max(0, allowed - usage.get("requests", 0))


def may_begin(state: SearchState) -> bool:
    """Returns whether nothing has stopped the search and it may send a request."""
    return not state["stop_reason"] and bool(requests_left(state))


def thoughts_left(state: Mapping[str, Any]) -> int:
    """Returns how many thoughts may still be created."""
    allowed = Settings.of(state["settings"]).limits.get("thoughts")
    # Thoughts that a person added are in the tree but not in `spent`.
    created = max(state["spent"].get("thoughts", 0), len(state["thoughts"]) - 1)
    return UNLIMITED if allowed is None else max(0, allowed - created)


def expansions_allowed(state: SearchState, *, each: int = 1) -> int:
    """Returns how many thoughts may be expanded now.

    Args:
        each: Fewest thoughts that one expansion makes.
    """
    return min(requests_left(state), -(-thoughts_left(state) // each))


def limit_reason(state: SearchState) -> StopReason:
    """Returns the stop reason for the limit that forbids the next request."""
    over = reached_limit(Settings.of(state["settings"]).limits, state["spent"])
    return "round_limit" if over == "rounds" else "budget"


def blocking_limit(state: SearchState, latest: str) -> StopReason:
    """Returns the stop reason for a limit that forbids a thought below `latest`; empty if none."""
    if not thoughts_left(state):
        return "budget"
    depth = Settings.of(state["settings"]).limits.get("depth")
    too_deep = depth is not None and state["thoughts"][latest]["depth"] >= depth
    return "step_limit" if too_deep else ""
