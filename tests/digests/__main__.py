"""Takes the digests, or shows the result behind one.

python -m digests take [METHOD:CELL …]   writes digests.json, of those cells or of all
python -m digests show METHOD:CELL SEED  prints a result, to compare it with another's

A cell is a situation (whole, limits, seconds, failures, edits, reviews) or a task.
"""

import asyncio
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from digests import situations
from digests.searches import own, tasks

from thoughtgraph import registry

FILE = Path(__file__).parent / "digests.json"
COUNT = 50


def names() -> list[str]:
    cells = ("whole", *situations.SITUATIONS, "seconds")
    return [f"{method}:{cell}" for method in registry.METHODS for cell in (*cells, *tasks(method))]


def result(name: str, seed: int) -> dict[str, Any]:
    method, cell = name.split(":")
    if cell == "seconds":
        return situations.late(own(method, seed), seed)
    return asyncio.run(situations.result(method, cell, seed))


def taken(name: str) -> str:
    return "".join(situations.digest(result(name, seed)) for seed in range(COUNT))


def take(wanted: list[str]) -> None:
    kept: dict[str, dict[str, str]] = json.loads(FILE.read_text()) if wanted else {}
    wanted = wanted or names()
    with ProcessPoolExecutor() as pool:
        for name, digits in zip(wanted, pool.map(taken, wanted), strict=True):
            method, cell = name.split(":")
            kept.setdefault(method, {})[cell] = digits
    rows = ",\n".join(f'"{method}": {json.dumps(cells)}' for method, cells in kept.items())
    FILE.write_text(f"{{\n{rows}\n}}\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["show", name, seed]:
            sys.stdout.write(json.dumps(result(name, int(seed)), indent=1, default=str))
        case ["take", *wanted]:
            take(wanted)
        case _:
            sys.stderr.write(__doc__ or "")
