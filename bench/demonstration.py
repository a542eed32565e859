"""What the default demonstration shows, how often it is right, and how long it takes.

    uv run --group qwen python -m thoughtgraph.bench.demonstration --out demonstration.jsonl

Runs `thoughtgraph solve` as a user would, once a seed, each in a process of its own, the loading of
the model included, and prints one line a seed and a summary. With `--out` each run is appended to a
file, and runs that stand there already are not repeated.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from thoughtgraph.bench.statistics import wilson

COMMAND = (sys.executable, "-c", "from thoughtgraph.cli.app import run; run()", "solve")
LONGEST = 900.0
"""Seconds after which a run is given up."""
SHOWN = ("accept", "reject", "backtrack")
"""The events by which a run shows what a search is."""


class DemonstrationRun(NamedTuple):
    """What one run of the demonstration came to."""

    seed: int
    right: bool
    calls: int
    accepted: int
    refused: int
    backtracks: int
    seconds: float

    @property
    def shows_search(self) -> bool:
        """Whether steps were accepted and refused, and the search went back."""
        return min(self.accepted, self.refused, self.backtracks) > 0

    def line(self) -> str:
        """Returns the run as one line."""
        return (
            f"seed {self.seed}: {'right' if self.right else 'not right'}, {self.calls} calls, "
            f"{self.accepted} accepted, {self.refused} refused, {self.backtracks} times back, "
            f"{self.seconds:.0f} s"
        )


def run(seed: int | None, model: str, given: Sequence[str] = ()) -> DemonstrationRun:
    """Runs the demonstration once.

    Args:
        seed: The seed that is given; None: the command as it stands, counted as seed -1.
        model: The model's specifier.
        given: Other settings, as `name=value`.
    """
    began = time.monotonic()
    settings = [*given, *([] if seed is None else [f"seed={seed}"])]
    options = [word for each in settings for word in ("--set", each)]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        command = [*COMMAND, "--model", model, *options]
        with suppress(subprocess.TimeoutExpired):  # what it told until then counts
            subprocess.run(command, stdout=out, timeout=LONGEST, check=False)
        seconds = time.monotonic() - began
        out.seek(0)
        told = out.read()
    calls = len(re.findall(r"^propose ", told, re.M))
    accepted, refused, back = (len(re.findall(rf"^{kind}\b", told, re.M)) for kind in SHOWN)
    right = re.search(r"^right: +yes", told, re.M) is not None
    return DemonstrationRun(
        -1 if seed is None else seed, right, calls, accepted, refused, back, seconds
    )


def summary(runs: Sequence[DemonstrationRun]) -> str:
    """Returns how many were right and showed a search, with Wilson's intervals, and the times."""
    seconds = [each.seconds for each in runs]
    counts = (sum(each.right for each in runs), sum(each.shows_search for each in runs))
    right, shown = (
        f"{count} of {len(runs)} {words} ({low:.0%} to {high:.0%})"
        for count, words in zip(counts, ("right", "with accepted, refused and back"), strict=True)
        for low, high in [wilson(count, len(runs))]
    )
    return (
        f"{right}; {shown}; calls: median {statistics.median(each.calls for each in runs):.0f}; "
        f"seconds: median {statistics.median(seconds):.0f}, longest {max(seconds):.0f}"
    )


def known(file: str) -> Iterator[DemonstrationRun]:
    """Yields the runs that a file holds."""
    if file and Path(file).is_file():
        yield from (
            DemonstrationRun(**json.loads(line)) for line in Path(file).read_text().splitlines()
        )


def main(
    seeds: Sequence[int | None], model: str, file: str = "", given: Sequence[str] = ()
) -> None:
    """Measures what is not measured yet, and prints."""
    runs = list(known(file))
    have = {each.seed for each in runs if each.seed >= 0}
    for seed in seeds:
        if seed in have:
            continue
        runs.append(each := run(seed, model, given))
        print(each.line(), flush=True)
        if file:
            with Path(file).open("a") as out:
                out.write(json.dumps(each._asdict()) + "\n")
    print(summary(runs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=20, help="how many, from 0 on")
    parser.add_argument(
        "--again", type=int, default=0, help="instead: the command as it stands, so many times"
    )
    parser.add_argument("--model", default="local")
    parser.add_argument("--out", default="", help="where runs are kept, one JSON object a line")
    parser.add_argument("--set", action="append", default=[], help="another setting, name=value")
    arguments = parser.parse_args()
    wanted: list[int | None] = [None] * arguments.again or [*range(arguments.seeds)]
    main(wanted, arguments.model, arguments.out, arguments.set)
