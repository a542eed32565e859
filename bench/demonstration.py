"""What the default demonstration shows, how often it is right, and how long it takes.

    uv run --group qwen python -m thoughtgraph.bench.demonstration --out demonstration.jsonl

Runs `thoughtgraph demo` as a user would, once a seed, each in a process of its own, the loading of
the model included, and prints one line a seed and a summary. Each run is appended to the file, and
runs that stand there already are not repeated.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from thoughtgraph.bench.statistics import wilson

COMMAND = (sys.executable, "-c", "from thoughtgraph.cli.app import run; run()", "demo")
LONGEST = 900.0
"""Seconds after which a run is given up."""
SHOWN = ("called", "pruned", "backtracked")
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


def run(seed: int, model: str) -> DemonstrationRun:
    """Runs the demonstration once."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        command = [*COMMAND, "--model", model, "--set", f"seed={seed}"]
        with suppress(subprocess.TimeoutExpired):  # what it told until then counts
            subprocess.run(command, stdout=out, timeout=LONGEST, check=False)
        seconds = time.monotonic() - began
        out.seek(0)
        told = out.read()
    calls = len(re.findall(r"^asked +generate ", told, re.M))
    accepted, refused, back = (len(re.findall(rf"^{kind}\b", told, re.M)) for kind in SHOWN)
    right = re.search(r"^right: +yes", told, re.M) is not None
    return DemonstrationRun(seed, right, calls, accepted, refused, back, seconds)


def summary(runs: Sequence[DemonstrationRun]) -> str:
    """Returns how many were right and showed a search, with Wilson's intervals, and the times."""
    counts = {
        "right": sum(each.right for each in runs),
        "with accepted, refused and back": sum(each.shows_search for each in runs),
    }
    told = []
    for words, count in counts.items():
        low, high = wilson(count, len(runs))
        told.append(f"{count} of {len(runs)} {words} ({low:.0%} to {high:.0%})")
    told.append(f"calls: median {statistics.median(each.calls for each in runs):.0f}")
    seconds = [each.seconds for each in runs]
    told.append(f"seconds: median {statistics.median(seconds):.0f}, longest {max(seconds):.0f}")
    return "; ".join(told)


def main(seeds: int, model: str, file: Path) -> None:
    """Measures what is not measured yet, and prints."""
    lines = file.read_text().splitlines() if file.is_file() else []
    runs = [DemonstrationRun(**json.loads(line)) for line in lines]
    for seed in sorted({*range(seeds)} - {each.seed for each in runs}):
        runs.append(each := run(seed, model))
        print(each, flush=True)
        with file.open("a") as out:
            out.write(json.dumps(each._asdict()) + "\n")
    print(summary(runs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=20, help="how many, from 0 on")
    parser.add_argument("--model", default="local")
    parser.add_argument("--out", type=Path, default=Path("demonstration.jsonl"))
    arguments = parser.parse_args()
    main(arguments.seeds, arguments.model, arguments.out)
