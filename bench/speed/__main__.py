"""Every target of speed beside what is measured here and now.

    uv run python -m thoughtgraph.bench.speed [NAME …] [--quick] [--out FILE]

Without a name all measurements are taken; `--list` says what each measures and how. With `--out`
each is appended to a file as it ends, and one that stands there already is not taken again. Ends
with 1 when a target was missed. Figures are ratios within one run where they can be, but another
program that works meanwhile still falls on one side more than on the other.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from thoughtgraph.bench.speed.acting_waits import ACTING_WAITS
from thoughtgraph.bench.speed.checkpoint_growth import CHECKPOINTS, POSTGRES_CHECKPOINTS
from thoughtgraph.bench.speed.corpus_search import CORPUS
from thoughtgraph.bench.speed.embedded_model import EMBEDDED
from thoughtgraph.bench.speed.game24_searches import LATENCY, RETRIES, THROUGHPUT
from thoughtgraph.bench.speed.many_problems import MANY_PROBLEMS
from thoughtgraph.bench.speed.measurement import (
    Conditions,
    Measurement,
    Readings,
    Unavailable,
    missed,
    report,
)
from thoughtgraph.bench.speed.plan_searches import PLAN_CHECKS, PLAN_SEARCHES, SPECULATION
from thoughtgraph.bench.speed.port_cpu_time import PORT
from thoughtgraph.bench.speed.rollback_waits import ROLLBACK_WAITS, SETTLED_VOTES

MEASUREMENTS: tuple[Measurement, ...] = (
    *(LATENCY, RETRIES, THROUGHPUT, MANY_PROBLEMS, PORT),
    *(CHECKPOINTS, POSTGRES_CHECKPOINTS, ACTING_WAITS, ROLLBACK_WAITS, SETTLED_VOTES),
    *(PLAN_SEARCHES, PLAN_CHECKS, SPECULATION, CORPUS, EMBEDDED),
)
"""All measurements, in the order in which they are taken."""


def options() -> argparse.ArgumentParser:
    """Returns the options of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m thoughtgraph.bench.speed", description=(__doc__ or "").split("\n", 1)[0]
    )
    names = [each.name for each in MEASUREMENTS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--list", action="store_true", help="say what each measures and how")
    parser.add_argument("--quick", action="store_true", help="repeat little: shows that it works")
    parser.add_argument("--out", type=Path, help="where what was measured is kept, and read again")
    parser.add_argument("--count", type=int, help="how many repetitions, instead of each one's own")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds an answer takes")
    parser.add_argument("--endpoint", default="", help="your server, http://HOST:PORT/v1#NAME")
    parser.add_argument("--pages", default="", help="pages of a corpus, one JSON object a line")
    parser.add_argument("--questions", default="", help="questions for them, likewise")
    parser.add_argument("--database", default="", help="a PostgreSQL server, postgresql://…:PORT")
    return parser


def conditions(measurement: Measurement, given: argparse.Namespace) -> Conditions:
    """Returns what a measurement is taken under."""
    count = given.count or (measurement.quick if given.quick else measurement.count)
    return Conditions(
        count, given.latency, given.endpoint, given.pages, given.questions, given.database
    )


def stored(file: Path | None) -> dict[str, Readings]:
    """Returns what a file holds, by `key`; a line that was cut off is left out."""
    if file is None or not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").split("\n")
    entries = [json.loads(line) for line in lines if line.endswith("}")]
    return {key(entry["name"], entry["conditions"]): entry["readings"] for entry in entries}


def key(name: str, under: dict[str, Any]) -> str:
    """Returns what a measurement is known by."""
    return json.dumps([name, under], sort_keys=True)


def taken(measurement: Measurement, under: Conditions, file: Path | None) -> Readings:
    """Takes a measurement, or returns it from a file that holds it.

    Raises:
        Unavailable: It needs something that is not there.
    """
    known = stored(file).get(key(measurement.name, asdict(under)))
    if known is not None:
        return known
    readings = asyncio.run(measurement.take(under))
    if file is not None:
        entry = {"name": measurement.name, "conditions": asdict(under), "readings": dict(readings)}
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")
    return readings


def main(arguments: Sequence[str] | None = None) -> int:
    """Takes what was asked for, prints it, and returns the exit status."""
    parser = options()
    given = parser.parse_args(arguments)
    known = {each.name: each for each in MEASUREMENTS}
    if strange := [name for name in given.names if name not in known]:
        parser.error(f"{strange[0]!r} is none of {', '.join(known)}")
    wrong: list[str] = []
    for each in [known[name] for name in given.names] or MEASUREMENTS:
        if given.list:
            print(f"{each.name}: {each.measures}\n  {each.taken}")
            continue
        try:
            readings = taken(each, conditions(each, given), given.out)
        except Unavailable as reason:
            print(f"{each.name}: skipped, {reason}\n", flush=True)
            continue
        print(*report(each, readings), "", sep="\n", flush=True)
        wrong += [f"{each.name}, {name}" for name in missed(each, readings)]
    print(f"missed: {'; '.join(wrong)}" if wrong else "no target was missed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
