"""How often the default demonstration is right, and how long it takes.

    uv run --group qwen python -m thoughtgraph.bench.demonstration --seeds 20

Runs `thoughtgraph solve` as a user would, once a seed, each in a process of its own, the loading of
the model included, and prints one line a seed and a summary.
"""

import argparse
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from thoughtgraph.bench.metrics import wilson

COMMAND = (sys.executable, "-c", "from thoughtgraph.cli.app import run; run()", "solve")
LONGEST = 300.0
"""Seconds after which a run is given up."""


class Run(NamedTuple):
    """What one run of the demonstration came to."""

    seed: int
    right: bool
    calls: int
    seconds: float


def run(seed: int, model: str) -> Run:
    """Runs the demonstration once."""
    began = time.monotonic()
    options = ("--model", model, "--set", f"seed={seed}")
    try:
        done = subprocess.run(
            [*COMMAND, *options], capture_output=True, text=True, timeout=LONGEST, check=False
        )
        out = done.stdout
    except subprocess.TimeoutExpired:
        out = ""
    calls = re.search(r"^tried: +(\d+) call", out, re.M)
    right = re.search(r"^right: +yes", out, re.M) is not None
    return Run(seed, right, int(calls[1]) if calls else 0, time.monotonic() - began)


def summary(runs: Sequence[Run]) -> str:
    """Returns how many were right, with Wilson's interval, and median and longest time."""
    right = sum(each.right for each in runs)
    interval = wilson(right, len(runs))
    seconds = [each.seconds for each in runs]
    return (
        f"{right} of {len(runs)} right ({interval.low:.0%} to {interval.high:.0%}); seconds: "
        f"median {statistics.median(seconds):.0f}, longest {max(seconds):.0f}"
    )


def main(seeds: Sequence[int], model: str) -> None:
    """Measures and prints."""
    runs: list[Run] = []
    for seed in seeds:
        runs.append(each := run(seed, model))
        verdict = "right" if each.right else "not right"
        print(f"seed {seed}: {verdict}, {each.calls} calls, {each.seconds:.0f} s", flush=True)
    print(summary(runs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=20, help="how many, from 0 on")
    parser.add_argument("--model", default="local")
    arguments = parser.parse_args()
    main(range(arguments.seeds), arguments.model)
