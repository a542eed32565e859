"""What was spent is counted once, and what may be spent is kept to."""

from typing import Any

import pytest
from support.clock import Clock

from thoughtgraph.errors import BudgetSpent
from thoughtgraph.llm.meter import Meter
from thoughtgraph.usage import (
    Limits,
    Usage,
    add_usage,
    remaining_requests,
    remaining_thoughts,
    report,
    spent,
)


def side_by_side(clock: Clock, step: int, *seconds: float) -> list[Usage]:
    """What the nodes of one step report that asked a model for some seconds each."""
    began, deltas = clock.now, list[Usage]()
    for length in seconds:
        clock.now = began
        meter = Meter(Limits(), Usage(), step=step, clock=clock)
        with meter.request("generate", "m"):
            meter.check()
            clock.now += length
        deltas.append(meter.usage())
    clock.now = began + max(seconds)
    return deltas


def total(*deltas: Usage) -> Usage:
    usage = Usage()
    for delta in deltas:
        usage = add_usage(usage, delta)
    return usage


def beside(count: int, limits: Any = None, **more: Any) -> list[Meter]:
    """The meters of nodes of one superstep."""
    shared: dict[str, float] = {}
    usage = more.pop("usage", Usage())
    return [Meter(limits or Limits(), usage, siblings=shared, **more) for _ in range(count)]


@pytest.mark.parametrize("seconds", [(1.0, 5.0, 2.0), (5.0, 1.0, 2.0)])
def test_supersteps_add_up_by_their_longest_node_and_pauses_do_not(
    seconds: tuple[float, ...],
) -> None:
    clock = Clock()
    first = side_by_side(clock, 1, *seconds)
    clock.now += 10_000  # paused here, perhaps resumed by another process
    idle = Meter(Limits(), Usage(), step=2, clock=clock).usage()
    usage = total(*first, idle, *side_by_side(clock, 3, 4.0))
    assert usage["levels"] == 2, "a node that asks nothing is no level"
    assert usage["seconds"] == pytest.approx(9.0)
    assert (usage["requests"], usage["roles"]) == (4, {"generate": {"requests": 4}})
    assert set(usage) - set(report(usage)) == {"mark"}, "the report has no bookkeeping"


def test_requests_are_never_exceeded_by_nodes_side_by_side() -> None:
    meters = beside(5, Limits(requests=10), usage=Usage(requests=7))
    for meter in meters[:3]:
        meter.admit()
    for meter in meters[3:]:
        with pytest.raises(BudgetSpent, match="requests"):
            meter.admit()
    meters[0].check()
    meters[0].check()  # what is reserved is granted
    meters[0].release()  # it failed
    meters[4].admit()  # so another may go
    meters[1].release()
    meters[1].count("generate", "m", requests=1)
    with pytest.raises(BudgetSpent, match="requests"):
        meters[3].admit()


@pytest.mark.parametrize(
    ("limits", "numbers"),
    [
        (Limits(tokens=100), {"prompt_tokens": 60, "completion_tokens": 40}),
        (Limits(dollars=0.5), {"completion_tokens": 100_000}),
        (Limits(seconds=60), {}),
    ],
)
def test_what_one_node_spends_while_another_waits_stops_that(
    limits: Limits, numbers: dict[str, int]
) -> None:
    clock = Clock()
    usage = Usage(seconds=50.0)
    one, other = beside(2, limits, usage=usage, prices={"m": (1.0, 5.0)}, clock=clock)
    other.admit()
    clock.now += 9
    other.check()
    with one.request("generate", "m"):
        clock.now += 1
    one.count("generate", "m", **numbers)
    with pytest.raises(BudgetSpent, match=next(iter(limits))):
        other.check()


def test_a_failure_stops_those_that_still_wait() -> None:
    one, other = beside(2)
    other.admit()
    one.fail("the server is down")
    one.fail("and something else")
    assert (one.error, other.error) == ("the server is down", "")
    for refused in (other.check, other.admit, one.admit):
        with pytest.raises(BudgetSpent, match="failed for good"):
            refused()


def test_dollars_follow_the_price_table() -> None:
    meter = Meter(Limits(), Usage(), prices={"m": (2.0, 8.0)})
    meter.count("generate", "m", requests=1, prompt_tokens=1_000_000, completion_tokens=500_000)
    meter.count("generate", "m", cached=1)
    meter.count("generate", "unpriced", requests=1, prompt_tokens=1_000_000)
    assert meter.usage()["dollars"] == pytest.approx(6.0)


def test_what_remains() -> None:
    usage = Usage(requests=3, thoughts=5, prompt_tokens=10, completion_tokens=10)
    assert remaining_requests(Limits(requests=5), usage) == 2
    assert remaining_requests(Limits(requests=2), usage) == 0
    assert remaining_requests(Limits(requests=5, tokens=20), usage) == 0, "any limit ends it"
    assert remaining_requests(Limits(requests=None, thoughts=6), usage) > 10**6
    assert remaining_thoughts(Limits(thoughts=7), usage) == 2
    assert remaining_thoughts(Limits(), usage) > 10**6
    assert spent(Limits(requests=0), Usage()) == "requests", "zero is a limit, None is not"
    assert spent(Limits(requests=None), usage) is None
    assert spent(Limits(thoughts=5), usage) == "thoughts"
