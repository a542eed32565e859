"""Runs each query in a process of its own, which ends when it exceeds its time or memory.

The process reads a JSON object (dialect, place, query, bounds) from standard input and writes one
to standard output. Within our own process, a single step of SQLite's virtual machine can neither be
interrupted nor bounded in memory, and PostgreSQL's driver receives a cell whole, whatever its size.
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
"""Seconds that the process may take beyond the query's, such as to start (ours)."""
MEMORY, COPIES = 140 << 20, 10
"""Bytes that the process may use, besides so many copies of the largest result (ours)."""
TEMPORARY = 100 << 20
"""Bytes of a temporary file in which SQLite sorts (ours)."""
Engine = Sqlite | Postgres
ENGINES: Mapping[str, type[Engine]] = {each.dialect: each for each in (Sqlite, Postgres)}

logger = logging.getLogger("thoughtgraph")


def rows_of(engine: Engine, query: str, bounds: Bounds) -> Rows:
    """Runs a checked query in a process and waits for it.

    Raises:
        QueryError: The query fails or exceeds the bounds.
    """
    reply = _reply(engine, query, bounds)
    rows = tuple(tuple(map(_cell, row)) for row in reply["rows"])
    return Rows(tuple(reply["columns"]), rows, reply["more"])


def tables_of(engine: Engine, bounds: Bounds) -> list[Table]:
    """Reads the tables of a database in a process and waits for it.

    Raises:
        QueryError: The database cannot be read, or reading it exceeds the bounds.
    """
    return [
        Table(name, tuple((column, kind) for column, kind in columns), tuple(keys))
        for name, columns, keys in _reply(engine, "", bounds)["tables"]
    ]


def _reply(engine: Engine, query: str, bounds: Bounds) -> dict[str, Any]:
    request = {"dialect": engine.dialect, "place": engine.place, "query": query}
    task = json.dumps({**request, "bounds": asdict(bounds)})
    command = [sys.executable, "-P", "-m", __name__]
    limit = bounds.seconds + GRACE
    try:
        done = subprocess.run(command, input=task, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise bounds.late from None
    if done.stderr:
        logger.error("a query: %s", one_line(done.stderr[-2_000:]))
    if done.returncode:  # a limit ended it
        raise QueryError(TOO_LARGE)
    reply: dict[str, Any] = json.loads(done.stdout)
    if "error" in reply:
        raise QueryError(reply["error"])
    return reply


def main() -> None:
    """Runs the query inside the process; an empty query means the tables."""
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
    result = engine.read(query, bounds)
    rows = [[*map(_plain, row)] for row in result.rows]
    return {"columns": result.columns, "rows": rows, "more": result.more}


def _tables(engine: Engine, bounds: Bounds) -> dict[str, Any]:
    """Returns the first tables, as many as the bound on size allows."""
    tables, size = list[Any](), 0
    for table in engine.tables(bounds):
        size += len(str(table))
        if size > bounds.size:
            break
        tables.append((table.name, table.columns, table.keys))
    return {"tables": tables}


def _plain(value: object) -> object:
    """Returns a cell as a JSON value."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return {"number": str(value)} if isinstance(value, Decimal) else value


def _cell(value: Any) -> Any:
    """Restores a cell from the JSON value of `_plain`."""
    if not isinstance(value, dict):
        return value
    return bytes.fromhex(value["bytes"]) if "bytes" in value else Decimal(value["number"])


def _limit(bounds: Bounds) -> None:
    """Limits this process; Windows has no such limits, so only time is bounded there."""
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
