"""What the limits still allow, for routers and nodes: requests, thoughts, depth."""

from thoughtgraph.outcome import StopReason
from thoughtgraph.settings import limits_of
from thoughtgraph.state import SearchState
from thoughtgraph.usage import remaining_requests, remaining_thoughts, spent


def requests_left(state: SearchState) -> int:
    """Returns how many requests may still be sent, for routers that fan out."""
    return remaining_requests(limits_of(state["settings"]), state["usage"])


def expansions_allowed(state: SearchState, *, each: int = 1) -> int:
    """Returns how many thoughts may be expanded now.

    Args:
        state: The state.
        each: How many thoughts an expansion makes at least.
    """
    room = remaining_thoughts(limits_of(state["settings"]), state["usage"])
    return min(requests_left(state), -(-room // each))


def limit_reason(state: SearchState) -> StopReason:
    """Returns which limit forbids the next request."""
    over = spent(limits_of(state["settings"]), state["usage"])
    return "round_limit" if over == "rounds" else "budget"


def blocking_limit(state: SearchState, latest: str) -> StopReason:
    """Returns which limit forbids a thought after the latest one; empty if none does."""
    limits = limits_of(state["settings"])
    if not remaining_thoughts(limits, state["usage"]):
        return "budget"
    depth = limits.get("depth")
    too_deep = depth is not None and state["tree"][latest]["depth"] >= depth
    return "step_limit" if too_deep else ""
