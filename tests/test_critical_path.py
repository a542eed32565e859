"""The critical path of a log, and the logs that the latency figures read it off."""

import asyncio

import pytest

from thoughtgraph.bench import rollback_latency, tool_latency
from thoughtgraph.bench.critical_path import Exchange, critical_path


def test_the_critical_path_follows_answers_into_prompts() -> None:
    log = [
        Exchange(0, 1, "question", ("alpha",)),
        Exchange(1, 2, "after alpha", ("beta", "zeta")),
        Exchange(1, 2, "also after alpha", ("gamma",), "tool", 0.5),
        Exchange(2, 3, "unrelated", ("delta",)),
        Exchange(2, 3, "gamma leads on", ("epsilon",)),
        Exchange(2, 3, "zeta leads on", ("eta",)),
    ]
    assert critical_path(log[:5]) == 2.5
    assert critical_path(log) == 3
    assert critical_path([]) == 0


def test_a_call_waits_for_a_decision_that_its_input_does_not_show() -> None:
    log = [Exchange(0, 1, "a", ("alpha",), "value"), Exchange(1, 2, "b", ("beta",))]
    assert critical_path(log) == 1
    assert critical_path(log, tool_latency.decided) == 2
    side_by_side = [log[0], Exchange(0.5, 2, "b", ("beta",))]
    assert critical_path(side_by_side, tool_latency.decided) == 1


@pytest.mark.parametrize(("method", "levels"), [("itot_a_star", 0.05), ("itot_dfs", 0.03)])
def test_a_round_is_a_step_its_tool_and_its_value(method: str, levels: float) -> None:
    seen = []
    for seed in range(4):
        *_, log = asyncio.run(tool_latency.measured(method, seed, 0.02, 0.01, 4))
        seen.append(sum(call.role == "generate" for call in log))
        assert critical_path(log, tool_latency.decided) == pytest.approx(seen[-1] * levels)
    assert max(seen) > 1


def test_feedback_makes_children_one_after_the_other() -> None:
    *_, log = asyncio.run(tool_latency.measured("fgdip", 0, 0.02, 0.01, 4))
    made = [call.takes for call in log if call.role in ("generate", "tool")]
    path = critical_path(log, tool_latency.decided)
    assert sum(made) < path < sum(call.takes for call in log), "labels stand side by side"


def test_both_protocols_of_a_rollback_have_a_path() -> None:
    _, log = asyncio.run(rollback_latency.measured(1, 0.01, parallel=True))
    assert 0.01 < critical_path(log) <= 0.01 * len(log)
