"""Measures speed and compares each figure with its target.

    uv run python -m thoughtgraph.bench.speed [NAME …] [--quick]

Without a name, all measurements run. The exit status is 1 if a target is missed. Figures are ratios
within one run where possible, but other programs on the machine still disturb them.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple

from thoughtgraph.bench.speed import checkpoint_growth, embedded_model, game24_searches
from thoughtgraph.bench.speed.figures import Conditions, Figure, Unavailable


class Measurement(NamedTuple):
    """A measurement of speed, as ratios within one run where possible."""

    take: Callable[[Conditions], Coroutine[Any, Any, Sequence[Figure]]]
    times: int
    """Number of repetitions."""
    quick: int
    """Number of repetitions with `--quick`, which only shows that the measurement works."""
    measures: str


MEASUREMENTS: Mapping[str, Measurement] = {
    "latency": Measurement(
        *(game24_searches.one_by_one, 3, 1),
        "ten puzzles one after the other, beside a plain loop; medians of COUNT turns",
    ),
    "throughput": Measurement(
        *(game24_searches.at_once, 100, 10),
        "COUNT puzzles at once on a server that answers at once, beside a plain loop",
    ),
    "checkpoints": Measurement(
        *(checkpoint_growth.measured, 10_000, 300),
        "bytes of SQLite and CPU time of a thought of 250 bytes, as trees grow to COUNT thoughts",
    ),
    "embedded": Measurement(
        *(embedded_model.measured, 12, 3),
        "searches of COUNT requests on the embedded model, beside these in the best order",
    ),
}
"""All measurements, in the order in which they run."""


def options() -> argparse.ArgumentParser:
    """Returns the parser of the command's options."""
    measurements = "\n".join(f"  {name}: {each.measures}" for name, each in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m thoughtgraph.bench.speed",
        description=f"Measures speed:\n{measurements}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure; default: all")
    parser.add_argument("--quick", action="store_true", help="repeat little: shows that it works")
    parser.add_argument("--count", type=int, help="how many repetitions")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds an answer takes")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the measurements, prints their figures and returns the exit status."""
    parser = options()
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.names if name not in MEASUREMENTS]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(MEASUREMENTS)}")
    missed = False
    for name in chosen.names or MEASUREMENTS:
        each = MEASUREMENTS[name]
        count = chosen.count or (each.quick if chosen.quick else each.times)
        print(f"{name}: {each.measures}")
        try:
            figures = asyncio.run(each.take(Conditions(count, chosen.latency)))
        except Unavailable as reason:
            print(f"  skipped, {reason}")
            continue
        print(*(figure.line() for figure in figures), sep="\n", flush=True)
        missed |= any(figure.missed() for figure in figures)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
