"""What was spent is counted once, and what may be spent is kept to."""

from typing import Any

import pytest
from support.clock import Clock

from thoughtgraph.errors import BudgetSpent
from thoughtgraph.llm.meter import Meter
from thoughtgraph.usage import (
    Limits,
    Usage,
)


def beside(count: int, limits: Any = None, **more: Any) -> list[Meter]:
    """The meters of nodes of one superstep."""
    shared: dict[str, float] = {}
    usage = more.pop("usage", Usage())
    return [Meter(limits or Limits(), usage, siblings=shared, **more) for _ in range(count)]


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
