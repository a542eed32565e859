"""How close Thought Rollback's parallel growth comes to the time its dependent requests need.

    uv run python -m thoughtgraph.bench.rollback_latency [--latency 0.2] [--seeds 5]

A scripted chat model answers after a fixed latency. The critical path is the longest chain of
requests whose prompt contains an earlier answer, read off the model's own log; a search cannot be
faster. Under `two_call` a rollback's branch also waits for the reading of its analysis, which its
prompt does not show: the second ratio counts that too. Strictly sequential growth is timed beside.
"""

import argparse
import asyncio
import random
import statistics
import time
from functools import partial

import thoughtgraph as tg
from thoughtgraph.bench.critical_path import Exchange, Sleeper, critical_path, new_name

QUESTION = "How many apples are left?"


def said(draws: random.Random, role: str, prompt: str) -> tuple[str, str]:
    """Returns what the model answers, twice: later prompts show all of it."""
    name = new_name(draws)
    if role == "extract_index" or "Bad step index" in prompt:
        name = f"{name}. Bad step index: {'1, 2' if draws.random() < 0.2 else 'None'}"
    elif role == "generate" and draws.random() < 0.15:
        name = f"{name}. The final solution is {draws.randrange(3)}"
    return name, name


def was_read(log: list[Exchange], reading: Exchange, later: Exchange) -> bool:
    """Returns whether a request shows an analysis that an earlier one read the indexes of.

    Under `two_call` it then waits for that reading: whether and where to go back is known only
    then.
    """
    if reading.role != "extract_index" or later.role != "generate":
        return False
    analyses = [text for call in log if call.role == "analyse" for text in call.answers]
    return any(text in reading.prompt and text in later.prompt for text in analyses)


async def measured(
    seed: int, latency: float, *, parallel: bool, protocol: str = "two_call"
) -> tuple[float, list[Exchange]]:
    """Returns a search's seconds and its model's log."""
    model = Sleeper(answer=said, seed=seed, latency=latency)
    graph = tg.build("rollback", task="gsm8k", model=model)
    context = {"parallel": parallel, "protocol": protocol}
    began = time.perf_counter()
    await graph.ainvoke({"problem": QUESTION}, context=context)
    return time.perf_counter() - began, model.log


async def main(latency: float, seeds: int) -> None:
    """Measures and prints."""
    await measured(0, 0.0, parallel=True)  # warms imports up
    for protocol in ("two_call", "single_call"):
        print(
            f"{protocol}\nseed  parallel s  requests  path s  times  with decisions  sequential s"
        )
        ratios: list[tuple[float, float]] = []
        for seed in range(seeds):
            spent, log = await measured(seed, latency, parallel=True, protocol=protocol)
            alone, _ = await measured(seed, latency, parallel=False, protocol=protocol)
            path = critical_path(log)
            ratios.append((spent / path, spent / critical_path(log, partial(was_read, log))))
            print(
                f"{seed:4}  {spent:10.2f}  {len(log):8}  {path:6.2f}  {ratios[-1][0]:5.3f}  "
                f"{ratios[-1][1]:14.3f}  {alone:12.2f}"
            )
        medians = [statistics.median(column) for column in zip(*ratios, strict=True)]
        print(f"median {medians[0]:.3f} times the critical path, {medians[1]:.3f} with decisions\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds an answer takes")
    parser.add_argument("--seeds", type=int, default=5, help="how many searches")
    given = parser.parse_args()
    asyncio.run(main(given.latency, given.seeds))
