"""A database for questions: opened once, its tables read once, queried in its own threads."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from os.path import expanduser
from pathlib import Path
from time import monotonic

from thoughtgraph.errors import InputError
from thoughtgraph.tools.sql.postgres import Postgres
from thoughtgraph.tools.sql.process import rows_of, tables_of
from thoughtgraph.tools.sql.queries import hint, read_query
from thoughtgraph.tools.sql.sqlite import Sqlite
from thoughtgraph.tools.sql.tables import Bounds, QueryError, Rows, Table, brief, cell

LONGEST_SCHEMA = 30_000
"""Characters of a schema in a prompt (ours)."""
AGAIN = 600
"""Seconds after which the tables of a server are read again (ours)."""
WORKERS = 4
"""Queries of one database that run at the same time (ours)."""
BOUNDS = Bounds()
KINDS = (".sqlite", ".db", ".sqlite3")
"""Suffixes of database files in a folder."""


class Database:
    """A database that questions are asked about.

    Args:
        engine: Reads the SQLite file or the PostgreSQL server.

    Raises:
        QueryError: The database cannot be read.
    """

    def __init__(self, engine: Sqlite | Postgres) -> None:
        self._engine = engine
        self.dialect = engine.dialect
        self.tables = tables_of(engine, BOUNDS)
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="sql")
        self._schemas: dict[int, str] = {}

    def schema(self, samples: int = 0) -> str:
        """Returns the tables as `CREATE TABLE` statements.

        Args:
            samples: How many values of each column to show; they are looked up once.
        """
        if samples not in self._schemas:
            statements, room = list[str](), LONGEST_SCHEMA
            for table in self.tables:
                statements.append(table.shown(self._samples(table, samples)))
                if (room := room - len(statements[-1])) < 0:
                    statements[-1] = f"-- and {len(self.tables) - len(statements) + 1} more tables"
                    break
            self._schemas[samples] = "\n".join(statements) or "-- no tables"
        return self._schemas[samples]

    def run_now(self, query: str, bounds: Bounds = BOUNDS) -> Rows | QueryError:
        """Runs a query and waits for it; returns the error of a query that fails.

        Args:
            query: One SELECT, as a model or a person wrote it.
            bounds: The limits of the query.
        """
        try:
            checked = read_query(query, self.dialect)
            outcome = rows_of(self._engine, checked.text, bounds)
        except QueryError as error:
            return QueryError(f"{error}{hint(str(error), self.tables)}")
        return Rows(outcome.columns, outcome.rows, outcome.more, checked.ordered)

    async def run(self, query: str, bounds: Bounds = BOUNDS) -> Rows | QueryError:
        """Runs a query in a thread and awaits its result."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._workers, self.run_now, query, bounds)

    def _samples(self, table: Table, count: int) -> dict[str, str]:
        """Returns up to `count` values by column; none for a column whose query fails."""
        samples: dict[str, str] = {}
        for column, _ in table.columns if count else ():
            source = f"{table.name} WHERE {column} IS NOT NULL LIMIT {count}"
            rows = self.run_now(f"SELECT DISTINCT {column} FROM {source}", Bounds(seconds=1.0))
            if isinstance(rows, Rows) and rows.rows:
                samples[column] = ", ".join(cell(value) for (value,) in rows.rows)
        return samples


def open_database(place: str, name: str = "") -> Database:
    """Opens a database; returns the same object as long as its file is unchanged.

    Args:
        place: An SQLite file, a folder of such files, or the address of a PostgreSQL database;
            empty: the package's own example.
        name: The name of the database in a folder.

    Raises:
        InputError: The database cannot be used; the message says what to do.
    """
    try:
        if not place or "://" in place:
            return _opened(place, int(monotonic() // AGAIN), 0)
        file = _file(Path(expanduser(place)), name)
        status = file.stat()
        return _opened(str(file.resolve()), status.st_mtime_ns, status.st_size)
    except (OSError, ValueError) as error:  # ValueError: such as for an invalid address
        if isinstance(error, InputError) and not isinstance(error, QueryError):
            raise
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(
            f"cannot use {brief(place)!r} as a database ({why}); give a file of SQLite, or "
            "postgresql://ROLE@HOST/DATABASE"
        ) from None


def _file(place: Path, name: str) -> Path:
    """Returns the file of a database; a folder is laid out as in Spider and BIRD.

    Raises:
        InputError: There is no such file, or a folder is given without a name.
    """
    candidates = [place / f"{name}{kind}" for kind in KINDS]
    candidates += [place / name / f"{name}{kind}" for kind in KINDS]
    file = next((each for each in candidates if name and each.is_file()), place)
    if file.is_file():
        return file
    if place.is_dir() and not name:
        example = '{"question": "…", "database": "NAME"}'
        raise InputError(f"{str(place)!r} is a folder; name a file in it, or write {example}")
    remedy = "give a file of SQLite, a folder of them, or postgresql://ROLE@HOST/DATABASE"
    raise InputError(f"there is no database {name or str(place)!r}; {remedy}")


@lru_cache(maxsize=32)
def _opened(place: str, modified: int, size: int) -> Database:
    """Opens a database once for each state of its file, or each period `AGAIN` of a server."""
    scheme, address, _ = place.partition("://")
    if address and scheme not in ("postgresql", "postgres"):
        raise InputError(
            f"{scheme[:20]}:// cannot be asked: only SQLite and PostgreSQL are known, as each "
            "database needs its own way to forbid writing"
        )
    database = Database(Postgres(place) if address else Sqlite(place))
    if not database.tables:
        raise InputError(f"the database {brief(place)!r} has no tables that can be read")
    return database
