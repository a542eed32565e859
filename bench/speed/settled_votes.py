"""What the budget-aware stop of Thought Rollback (`stop_settled`) saves; answers stay the same.

    uv run python -m thoughtgraph.bench.speed.settled_votes [--seeds 50]

Each search of a random scripted model runs twice, to its end and with the stop, for every ensemble
and both orders of growth, with the published limits (K 8, U 3). `first` stops by itself; a search
to the end has the answer of every ensemble. Prints the requests of both and how many answers are
the same, which must be all.
"""

import argparse
import asyncio
from typing import Any, NamedTuple, get_args

import thoughtgraph as tg
from thoughtgraph.bench.speed.critical_path import Sleeper
from thoughtgraph.bench.speed.rollback_latency import QUESTION, said
from thoughtgraph.settings.rollback import Ensemble


class Pair(NamedTuple):
    """One search, run to its end and stopped once its vote was settled."""

    requests: int
    """What the whole search asked for."""
    stopped: int
    """What it asked for with the stop."""
    same: bool
    """Whether both gave the same answer."""


async def pair(seed: int, rule: str, *, parallel: bool) -> Pair:
    """Runs one random search both ways."""
    whole = await _search(seed, "last", parallel=parallel, stop=False)
    early = await _search(seed, rule, parallel=parallel, stop=True)
    asked, spared = whole["usage"]["requests"], early["usage"]["requests"]
    return Pair(asked, spared, whole["ensembles"][rule] == early["answer"])


async def _search(seed: int, rule: str, *, parallel: bool, stop: bool) -> dict[str, Any]:
    model = Sleeper(answer=said, seed=seed, latency=0.0)
    graph = tg.build("rollback", task="gsm8k", model=model)
    context = {"ensemble": rule, "parallel": parallel, "stop_settled": stop}
    return dict(await graph.ainvoke({"problem": QUESTION}, context=context))


async def main(seeds: int) -> None:
    """Measures and prints."""
    print("ensemble    growth      searches  requests  stopped  saved  stopped early  same answer")
    for rule in get_args(Ensemble):
        for parallel in (True, False):
            pairs = [await pair(seed, rule, parallel=parallel) for seed in range(seeds)]
            requests = sum(each.requests for each in pairs)
            stopped = sum(each.stopped for each in pairs)
            shorter = sum(each.stopped < each.requests for each in pairs)
            print(
                f"{rule:10}  {'parallel' if parallel else 'sequential':10}  {seeds:8}  "
                f"{requests:8}  {stopped:7}  {1 - stopped / requests:5.0%}  {shorter:13}  "
                f"{sum(each.same for each in pairs):11}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=50, help="how many searches a row")
    asyncio.run(main(parser.parse_args().seeds))
