"""The process in which one query of SQLite runs: what takes too long or too much ends with it.

Reads a JSON object from standard input (file, query, bounds) and writes one to standard output. A
single step of SQLite's machine can neither be interrupted nor bounded in memory from within.
"""

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from thoughtgraph.tools.sql.sqlite import TOO_LARGE, Sqlite
from thoughtgraph.tools.sql.tables import Bounds, QueryError

MEMORY, COPIES = 140 << 20, 10
"""Bytes that a query may use besides its result, and copies of that on the way here (ours)."""
TEMPORARY = 100 << 20
"""Bytes of a file in which SQLite sorts (ours)."""


def main() -> None:
    """Runs the query."""
    task = json.load(sys.stdin)
    bounds = Bounds(**task["bounds"])
    _limit(bounds)
    try:
        found = Sqlite(Path(task["file"]) if task["file"] else None).read(task["query"], bounds)
        rows = [[*map(_plain, row)] for row in found.rows]
        reply: dict[str, Any] = {"columns": found.columns, "rows": rows, "more": found.more}
    except QueryError as error:
        reply = {"error": str(error)}
    except MemoryError:
        reply = {"error": TOO_LARGE}
    sys.stdout.write(json.dumps(reply))


def _plain(value: object) -> object:
    """Returns a cell as JSON can tell it."""
    return {"bytes": value.hex()} if isinstance(value, bytes) else value


def _limit(bounds: Bounds) -> None:
    """Bounds this process; Windows has no such limits, there its time alone is bounded."""
    if find_spec("resource") is None:
        return
    resource = import_module("resource")
    seconds = int(bounds.seconds) + 1
    for kind, most in (
        (resource.RLIMIT_DATA, MEMORY + COPIES * bounds.size),
        (resource.RLIMIT_FSIZE, TEMPORARY),
        (resource.RLIMIT_CPU, seconds),
    ):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
