"""What a search has spent (`Usage`) and what it may spend (`Limits`): two types.

Both are plain dictionaries in the graph's state, so that routers can check a limit before the call
that would break it, and so that a resumed run goes on counting where it stopped.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal, cast, get_origin

from typing_extensions import TypedDict

from thoughtgraph.errors import InputError

Ending = Literal["cut_off", "filtered", "refused", "tool_call", "empty"]
"""What ended a completion: its length, a filter of the server, the model's refusal, a call of a
tool; or it is empty, reasoning apart."""


class RoleUsage(TypedDict, total=False):
    """What one role (`generate`, `value`, `vote`, …) spent."""

    requests: int
    samples: int
    prompt_tokens: int
    completion_tokens: int
    cached: int


class Usage(TypedDict, total=False):
    """What a search has spent so far.

    A result has every counter; in what a node adds to it, an absent key stands for zero.
    """

    requests: int
    """Questions that the model answered, each with its samples: one, also where an endpoint returns
    fewer samples a call than were asked for and several calls are sent for one question."""
    calls: int
    """Answered calls of the endpoint: more than requests where it returns fewer samples a call than
    a question wants. Each reads the prompt. They are not told by role."""
    samples: int
    """Completions returned by those calls; equals the papers' "interactions"."""
    prompt_tokens: int
    """Counted once a call, however many samples it returns."""
    cached_prompt_tokens: int
    """Of these, what the server had read before, where it says so: providers bill it at less."""
    completion_tokens: int
    cached: int
    """Answers taken from a cache or from the tree instead of the model."""
    retries: int
    """Failed attempts that were repeated."""
    dollars: float | None
    """By the run's prices, without discounts. None in a result of models of which one has no known
    price; the others' dollars are counted while it runs."""
    seconds: float
    """Wall time in which the search was waiting for models or tools; pauses are not counted."""
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
    """Calls that were carried out, by tool; invalid actions are `parse_errors`."""
    tool_failures: dict[str, int]
    tool_cost: float
    """What all tool calls cost together: the cost paid."""
    tool_cost_path: float
    """What those on the path to the answer cost."""
    reasoning_steps: int
    """Thoughts on the path to the answer; 0 without one."""
    reexpansions: int
    """Expansions of thoughts that had been expanded before."""
    parse_errors: dict[str, int]
    """Malformed outputs by role: completions in which nothing could be read of what was asked for,
    or whose action no tool can be called with.
    A line that is no step among others that are is passed over."""
    incomplete: dict[Ending, int]
    """Completions that are no whole answers, by their `Ending`."""
    roles: dict[str, RoleUsage]
    mark: dict[str, float]
    """Bookkeeping of `seconds` and `levels`: last superstep and last instant accounted for."""


def nothing_spent() -> Usage:
    """Returns the usage of a search that has not begun, so that its totals can always be read."""
    kinds = {name: kind for name, kind in Usage.__annotations__.items() if name != "mark"}
    zeros = {name: 0 if kind is int else 0.0 for name, kind in kinds.items()}
    return cast("Usage", zeros | {n: {} for n, kind in kinds.items() if get_origin(kind) is dict})


def add_usage(total: Usage, spent: Usage) -> Usage:
    """Adds what a node spent to the total.

    Numbers add up, dictionaries add up by key. `seconds` and `levels` come from `mark`, so that
    nodes that ran side by side in one superstep count once.
    """
    both = cast("Usage", add_counts(total, {k: v for k, v in spent.items() if k != "mark"}))
    if "mark" in spent:
        _advance(both, spent["mark"])
    return both


def add_usages(total: Usage, writes: Sequence[Usage]) -> Usage:
    """Adds what several nodes spent, in order; the reducer of the channel `spent`.

    A whole total that is written back adds nothing.

    Raises:
        InputError: Something is no count, or less than nothing.
    """
    for spent in writes:
        if spent != total:
            check_counts(spent)
            total = add_usage(total, spent)
    return total


def check_counts(counts: object) -> None:
    """Refuses what no search can have spent.

    Raises:
        InputError: Something is no count, or less than nothing.
    """
    if not isinstance(counts, dict):
        raise InputError('usage is an object of counts, such as {"requests": 3}')
    for name, count in counts.items():
        if isinstance(count, dict):
            check_counts(count)
        elif count is not None and not (isinstance(count, int | float) and 0 <= count < inf):
            raise InputError(f"{str(name)[:60]!r} of usage is a number that is not negative")


def add_counts(total: Mapping[str, Any], spent: Mapping[str, Any]) -> dict[str, Any]:
    """Adds numbers up by key, at every depth."""
    both = dict(total)
    for key, value in spent.items():
        old = both.get(key)
        if isinstance(value, dict):  # looking at a `Mapping` takes ten times as long
            both[key] = add_counts(old or {}, value)
        else:
            both[key] = value if old is None else old + value
    return both


def _advance(total: Usage, mark: Mapping[str, float]) -> None:
    old = total.get("mark", {"step": -1.0, "until": 0.0})
    if mark["step"] > old["step"]:
        total["levels"] = total.get("levels", 0) + 1
    begin = max(mark["begin"], old["until"])
    total["seconds"] = total.get("seconds", 0.0) + max(0.0, mark["until"] - begin)
    total["mark"] = {
        "step": max(mark["step"], old["step"]),
        "until": max(mark["until"], old["until"]),
    }


class Limits(TypedDict, total=False):
    """What a search may spend. A key that is absent or None sets no limit."""

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
    """Returns a total without its bookkeeping, for the result.

    Args:
        usage: The total.
        priced: Whether the price of every model is known, so that its dollars are all there are.
    """
    told = cast("Usage", {key: value for key, value in usage.items() if key != "mark"})
    return told if priced else {**told, "dollars": None}
