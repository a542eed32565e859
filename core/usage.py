"""The usage of a search (`Usage`) and the limits on it (`Limits`).

Both are plain dictionaries in the graph's state. So routers can check a limit before the call that
would break it, and a resumed run continues to count where it stopped.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal, cast, get_origin

from typing_extensions import TypedDict

from thoughtgraph.errors import InputError

Ending = Literal["cut_off", "filtered", "refused", "tool_call", "empty"]
"""Why a completion is incomplete: the length limit, a filter of the server, the model's refusal, a
tool call; or it is empty apart from reasoning."""


class RoleUsage(TypedDict, total=False):
    """Usage of one role (`generate`, `value`, `vote`, …)."""

    requests: int
    samples: int
    prompt_tokens: int
    completion_tokens: int
    cached: int


class Usage(TypedDict, total=False):
    """Usage of a search so far.

    A result has every counter. In the update of a node, an absent key means zero.
    """

    requests: int
    """Questions that the model answered. One question with all its samples counts once, even if an
    endpoint returns too few samples per call, so that several calls are sent for it."""
    calls: int
    """Answered calls of the endpoint: more than requests if it returns fewer samples per call than
    a question needs. Each call reads the prompt. Not counted by role."""
    samples: int
    """Completions returned by those calls; equals the papers' "interactions"."""
    prompt_tokens: int
    """Counted once per call, for any number of samples."""
    cached_prompt_tokens: int
    """Of these, tokens cached by the server, if it reports them: providers bill less for them."""
    completion_tokens: int
    cached: int
    """Answers that came from a cache or the tree instead of the model."""
    retries: int
    """Failed attempts that were repeated."""
    dollars: float | None
    """By the run's prices, without discounts. None in a result if a model has no known price;
    during the search, only the dollars of the other models are counted."""
    seconds: float
    """Wall time spent waiting for models or tools; pauses are not counted."""
    levels: int
    """Supersteps that asked a model or called a tool: the length of the chain of dependent
    requests."""
    thoughts: int
    """Thoughts created, the root excluded."""
    evaluated: int
    """Distinct states evaluated."""
    expansions: int
    rounds: int
    analyses: int
    """Reasoning paths checked for bad steps."""
    rollbacks: int
    """Rollback edges added."""
    tool_calls: dict[str, int]
    """Calls made, by tool; invalid actions count as `parse_errors`."""
    tool_failures: dict[str, int]
    tool_cost: float
    """Total cost of all tool calls: the cost paid."""
    tool_cost_path: float
    """Cost of the calls on the path to the answer."""
    reasoning_steps: int
    """Thoughts on the path to the answer; 0 without one."""
    reexpansions: int
    """Repeated expansions of the same thought."""
    parse_errors: dict[str, int]
    """Malformed outputs by role: completions in which no part of the requested output is
    readable, or whose action calls no tool. An unreadable line among readable ones is ignored."""
    incomplete: dict[Ending, int]
    """Incomplete completions, by their `Ending`."""
    roles: dict[str, RoleUsage]
    mark: dict[str, float]
    """Bookkeeping for `seconds` and `levels`: the last superstep and instant already counted."""


def nothing_spent() -> Usage:
    """Returns the usage of a search that has not begun: every counter exists and is zero."""
    kinds = {name: kind for name, kind in Usage.__annotations__.items() if name != "mark"}
    zeros = {name: 0 if kind is int else 0.0 for name, kind in kinds.items()}
    return cast("Usage", zeros | {n: {} for n, kind in kinds.items() if get_origin(kind) is dict})


def add_usage(total: Usage, spent: Usage) -> Usage:
    """Adds the usage of a node to the total.

    Numbers add up; dictionaries add up by key. `seconds` and `levels` come from `mark`, so that
    parallel nodes of one superstep count once.
    """
    both = cast("Usage", add_counts(total, {k: v for k, v in spent.items() if k != "mark"}))
    if "mark" in spent:
        _advance(both, spent["mark"])
    return both


def add_usages(total: Usage, writes: Sequence[Usage]) -> Usage:
    """Adds the usage of several nodes, in order; the reducer of the channel `spent`.

    A write that repeats the whole total adds nothing.

    Raises:
        InputError: A count is no number, or is negative.
    """
    for spent in writes:
        if spent != total:
            check_counts(spent)
            total = add_usage(total, spent)
    return total


def check_counts(counts: object) -> None:
    """Refuses counts that no search can have.

    Raises:
        InputError: A count is no number, or is negative.
    """
    if not isinstance(counts, dict):
        raise InputError('usage is an object of counts, such as {"requests": 3}')
    for name, count in counts.items():
        if isinstance(count, dict):
            check_counts(count)
        elif count is not None and not (isinstance(count, int | float) and 0 <= count < inf):
            raise InputError(f"{str(name)[:60]!r} of usage must be a number of at least 0")


def add_counts(total: Mapping[str, Any], spent: Mapping[str, Any]) -> dict[str, Any]:
    """Adds numbers by key, in nested dictionaries, too."""
    both = dict(total)
    for key, value in spent.items():
        old = both.get(key)
        if isinstance(value, dict):  # isinstance with `Mapping` takes ten times as long
            both[key] = add_counts(old or {}, value)
        else:
            both[key] = value if old is None else old + value
    return both


def _advance(total: Usage, mark: Mapping[str, float]) -> None:
    """Adds a node's superstep and waiting time to `levels` and `seconds`; no time counts twice.

    Args:
        total: The usage so far, changed in place; its `mark` says what is already counted.
        mark: The node's superstep `step`, and the instants `begin` and `until` of its waiting.
    """
    counted = total.get("mark", {"step": -1.0, "until": 0.0})
    if mark["step"] > counted["step"]:
        total["levels"] = total.get("levels", 0) + 1
    begin = max(mark["begin"], counted["until"])
    total["seconds"] = total.get("seconds", 0.0) + max(0.0, mark["until"] - begin)
    total["mark"] = {
        "step": max(mark["step"], counted["step"]),
        "until": max(mark["until"], counted["until"]),
    }


class Limits(TypedDict, total=False):
    """Limits on the usage of a search. A key that is absent or None sets no limit."""

    requests: int | None
    tokens: int | None
    dollars: float | None
    seconds: float | None
    thoughts: int | None
    depth: int | None
    rounds: int | None


def reached_limit(limits: Limits, usage: Usage) -> str | None:
    """Returns the name of a limit that has been reached, or None."""
    used = {
        "requests": usage.get("requests", 0),
        "tokens": usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0),
        "dollars": usage.get("dollars") or 0.0,
        "seconds": usage.get("seconds", 0.0),
        "thoughts": usage.get("thoughts", 0),
        "rounds": usage.get("rounds", 0),
    }
    for name, value in used.items():
        allowed = cast("Mapping[str, float | None]", limits).get(name)
        if allowed is not None and value >= allowed:
            return name
    return None


def report(usage: Usage, *, priced: bool = True) -> Usage:
    """Returns a total for the result, without its bookkeeping.

    Args:
        usage: The total.
        priced: Whether the price of every model is known; otherwise the dollars become None.
    """
    counts = cast("Usage", {key: value for key, value in usage.items() if key != "mark"})
    return counts if priced else {**counts, "dollars": None}
