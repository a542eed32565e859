"""What siblings generated ahead of need (`speculate`) cost Tree-of-Mixed-Thought, and save it.

    uv run python -m thoughtgraph.bench.speed.speculation [--questions 10] [--latency 0.1]

A scripted model that answers after a latency writes the gold plan's next step, and sometimes a
fault, by the call alone. The same questions are searched with every value from 0, the paper's
cost, to b. Prints requests, dependent levels and wall time, and whether trees and answers are those
of 0, which must hold for all.
"""

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from typing import Any

import thoughtgraph as tg
from thoughtgraph.bench.questions.plan_writer import PlanWriter, plans_of
from thoughtgraph.bench.questions.scene_questions import SceneQuestion, generate
from thoughtgraph.usage import Usage

BRANCHES = 3
"""b, as in the paper."""


async def searched(
    graph: Any, questions: Sequence[SceneQuestion], speculate: int
) -> tuple[list[Any], Usage, float]:
    """Returns the trees and answers of all questions, what they cost together, and the seconds."""
    found: list[Any] = []
    cost = Usage(requests=0, levels=0)
    began = time.perf_counter()
    for question in questions:
        context = {"speculate": speculate, "branches": BRANCHES}
        out = await graph.ainvoke({"problem": question.problem()}, context=context)
        found.append((out["tree"], out["answer"], out["stop_reason"]))
        cost["requests"] += out["usage"]["requests"]
        cost["levels"] += out["usage"]["levels"]
    return found, cost, time.perf_counter() - began


async def main(count: int, latency: float, fault: float) -> None:
    """Measures and prints."""
    questions = generate("ptr", "sum", count, 1)
    model = PlanWriter(
        plans=plans_of(questions),
        fails=lambda draw: random.Random(repr(draw)).random() < fault,
        latency=latency,
    )
    graph = tg.build("tomt_tot", task="ptr", model=model)
    plain, _, _ = await searched(graph, questions, 0)  # warms imports up
    calls = sum(len(tree) - 1 for tree, _, _ in plain)
    print(f"{count} questions, {calls} judged calls, a fault in {fault:.0%} of the calls")
    print("speculate  requests  levels  seconds  the same results")
    for speculate in range(BRANCHES + 1):
        found, cost, seconds = await searched(graph, questions, speculate)
        same = sum(one == other for one, other in zip(found, plain, strict=True))
        print(
            f"{speculate:9}  {cost['requests']:8}  {cost['levels']:6}  {seconds:7.1f}  "
            f"{same} of {count}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds an answer takes")
    parser.add_argument("--fault", type=float, default=0.4, help="share of calls that are faults")
    given = parser.parse_args()
    asyncio.run(main(given.questions, given.latency, given.fault))
