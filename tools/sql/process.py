"""A process for each query: what takes too long or too much ends with it.

The process reads a JSON object from standard input (dialect, place, query, bounds) and writes one
to standard output. A single step of SQLite's machine can neither be interrupted nor bounded in
memory from within, and the driver of PostgreSQL receives a cell whole, whatever its size.
"""

import json
import logging
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tools.sql.postgres import Postgres
from thoughtgraph.tools.sql.sqlite import Sqlite
from thoughtgraph.tools.sql.tables import TOO_LARGE, Bounds, QueryError, Rows, Table

GRACE = 1.0
"""Seconds that the process may take besides, such as to begin (ours)."""
MEMORY, COPIES = 140 << 20, 10
"""Bytes that a query may use besides its result, and copies of that on the way here (ours)."""
TEMPORARY = 100 << 20
"""Bytes of a file in which SQLite sorts (ours)."""
Engine = Sqlite | Postgres
ENGINES: Mapping[str, type[Engine]] = {each.dialect: each for each in (Sqlite, Postgres)}

logger = logging.getLogger("thoughtgraph")


def rows_of(engine: Engine, query: str, bounds: Bounds) -> Rows:
    """Runs a query that was checked, and waits for it.

    Raises:
        QueryError: It fails, or takes too much.
    """
    reply = _reply(engine, query, bounds)
    rows = tuple(tuple(map(_cell, row)) for row in reply["rows"])
    return Rows(tuple(reply["columns"]), rows, reply["more"])


def tables_of(engine: Engine, bounds: Bounds) -> list[Table]:
    """Looks at the tables of a database, and waits for it.

    Raises:
        QueryError: It cannot be read, or takes too much.
    """
    return [
        Table(name, tuple((column, kind) for column, kind in columns), tuple(keys))
        for name, columns, keys in _reply(engine, "", bounds)["tables"]
    ]


def _reply(engine: Engine, query: str, bounds: Bounds) -> dict[str, Any]:
    told = {"dialect": engine.dialect, "place": engine.place, "query": query}
    task = json.dumps({**told, "bounds": asdict(bounds)})
    command = [sys.executable, "-P", "-m", __name__]
    most = bounds.seconds + GRACE
    try:
        done = subprocess.run(command, input=task, capture_output=True, text=True, timeout=most)
    except subprocess.TimeoutExpired:
        raise bounds.late from None
    if done.stderr:
        logger.error("a query: %s", one_line(done.stderr[-2_000:]))
    if done.returncode:  # it was ended by a limit
        raise QueryError(TOO_LARGE)
    reply: dict[str, Any] = json.loads(done.stdout)
    if "error" in reply:
        raise QueryError(reply["error"])
    return reply


def main() -> None:
    """Runs the query, in the process; an empty one asks for the tables."""
    task = json.load(sys.stdin)
    bounds = Bounds(**task["bounds"])
    _limit(bounds)
    try:
        engine = ENGINES[task["dialect"]](task["place"])
        reply = _rows(engine, task["query"], bounds) if task["query"] else _tables(engine, bounds)
    except QueryError as error:
        reply = {"error": str(error)}
    except MemoryError:
        reply = {"error": TOO_LARGE}
    sys.stdout.write(json.dumps(reply))


def _rows(engine: Engine, query: str, bounds: Bounds) -> dict[str, Any]:
    read = engine.read(query, bounds)
    rows = [[*map(_plain, row)] for row in read.rows]
    return {"columns": read.columns, "rows": rows, "more": read.more}


def _tables(engine: Engine, bounds: Bounds) -> dict[str, Any]:
    """Returns the tables, up to the one with which their names are too long."""
    kept, size = list[Any](), 0
    for table in engine.tables(bounds):
        size += len(str(table))
        if size > bounds.size:
            break
        kept.append((table.name, table.columns, table.keys))
    return {"tables": kept}


def _plain(value: object) -> object:
    """Returns a cell as JSON can tell it."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return {"number": str(value)} if isinstance(value, Decimal) else value


def _cell(value: Any) -> Any:
    """Returns a cell as the database gave it."""
    if not isinstance(value, dict):
        return value
    return bytes.fromhex(value["bytes"]) if "bytes" in value else Decimal(value["number"])


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
