"""Measures speed, and compares each figure with its target.

    uv run python -m thoughtgraph.bench.speed [NAME …] [--quick]

Without a name all measurements are taken. Ends with 1 when a target was missed. Figures are ratios
within one run where they can be, but other programs on the machine still disturb them.
"""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence

from thoughtgraph.bench.speed.checkpoint_growth import CHECKPOINTS, POSTGRES_CHECKPOINTS
from thoughtgraph.bench.speed.embedded_model import EMBEDDED
from thoughtgraph.bench.speed.game24_searches import LATENCY, THROUGHPUT
from thoughtgraph.bench.speed.measurement import Conditions, Measurement, Unavailable

MEASUREMENTS: Mapping[str, Measurement] = {
    "latency": LATENCY,
    "throughput": THROUGHPUT,
    "checkpoints": CHECKPOINTS,
    "checkpoints_postgres": POSTGRES_CHECKPOINTS,
    "embedded": EMBEDDED,
}
"""All measurements, in the order in which they are taken."""


def options() -> argparse.ArgumentParser:
    """Returns the options of the command."""
    known = "\n".join(f"  {name}: {each.measures}" for name, each in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m thoughtgraph.bench.speed",
        description=f"Measures speed:\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure; default: all")
    parser.add_argument("--quick", action="store_true", help="repeat little: shows that it works")
    parser.add_argument("--count", type=int, help="how many repetitions")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds an answer takes")
    parser.add_argument("--database", default="", help="a PostgreSQL server, postgresql://…:PORT")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Takes the measurements, prints them, and returns the exit status."""
    parser = options()
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.names if name not in MEASUREMENTS]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(MEASUREMENTS)}")
    missed = False
    for name in chosen.names or MEASUREMENTS:
        each = MEASUREMENTS[name]
        count = chosen.count or (each.quick if chosen.quick else each.count)
        print(f"{name}: {each.measures}")
        try:
            figures = asyncio.run(each.take(Conditions(count, chosen.latency, chosen.database)))
        except Unavailable as reason:
            print(f"  skipped, {reason}")
            continue
        print(*(figure.line() for figure in figures), sep="\n", flush=True)
        missed |= any(figure.missed() for figure in figures)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
