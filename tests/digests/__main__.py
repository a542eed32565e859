"""Takes the digests, or shows the result behind one.

python -m digests take [SITUATION:METHOD:TASK …]   writes digests.json, of those names or of all
python -m digests show SITUATION:METHOD:TASK SEED  prints a result, to compare it with another's
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
    whole = [f"whole:{m}:{t}" for m in registry.METHODS for t in ("", *tasks(m))]
    return [*whole, *(f"{s}:{m}:" for s in situations.SITUATIONS for m in registry.METHODS)]


def result(name: str, seed: int) -> dict[str, Any]:
    situation, method, task = name.split(":")
    if situation == "seconds":
        return situations.late(own(method, seed), seed)
    return asyncio.run(situations.result(situation, method, task, seed))


def taken(name: str) -> str:
    return "".join(situations.digest(result(name, seed)) for seed in range(COUNT))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["show", name, seed]:
            sys.stdout.write(json.dumps(result(name, int(seed)), indent=1, default=str))
        case ["take", *wanted]:
            kept = json.loads(FILE.read_text()) if wanted else {}
            taking = wanted or names()
            with ProcessPoolExecutor() as pool:
                kept |= dict(zip(taking, pool.map(taken, taking), strict=True))
            FILE.write_text(json.dumps(kept, indent=0) + "\n")
        case _:
            sys.stderr.write(__doc__ or "")
