"""SQLite, opened so that a query can read and do nothing else."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from thoughtgraph.tools.sql.tables import MOST_TABLES, Bounds, QueryError, Rows, Table, fetched

BUSY = 1.0
"""Seconds to wait for the lock of another program (ours)."""
STEPS = 1_000
"""Steps of SQLite's virtual machine between two checks of the clock (ours)."""
ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
FUNCTIONS = (
    # No other function can be called: not load_extension, readfile, fts3_tokenizer, …
    "abs char coalesce concat concat_ws format glob hex ifnull iif if instr length like likelihood "
    "likely lower ltrim max min nullif octet_length printf quote random replace round rtrim sign "
    "soundex substr substring trim typeof unhex unicode unlikely upper zeroblob avg count total "
    "group_concat string_agg sum median percentile percentile_cont percentile_disc date time "
    "datetime julianday strftime unixepoch timediff current_date current_time current_timestamp "
    "acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 "
    "log2 mod pi pow power radians sin sinh sqrt tan tanh trunc row_number rank dense_rank "
    "percent_rank cume_dist ntile lag lead first_value last_value nth_value json json_array "
    "json_array_length json_extract json_object json_type json_valid json_quote json_group_array "
    "json_group_object json_each json_tree -> ->> match bm25 highlight snippet regexp"
)
"""SQLite's own functions that a query may call: they only compute values."""
_CALLABLE = frozenset(FUNCTIONS.split())
LIMITS = {
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
"""Bounds on a single step, during which the clock is not checked (ours)."""
VIRTUAL = ((sqlite3.SQLITE_PRAGMA, "data_version"), (sqlite3.SQLITE_UPDATE, "sqlite_master"))
"""Actions that reading a virtual table such as json_each requests; they write nothing here."""
PRAGMAS = ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON")


class Sqlite:
    """An SQLite file; every query has its own connection.

    Args:
        place: The path of the file; empty: the package's own example, which stays in memory.
    """

    dialect = "sqlite"

    def __init__(self, place: str) -> None:
        self.place = place

    def tables(self, bounds: Bounds) -> list[Table]:
        """Returns the tables and views, except any that cannot be read.

        Raises:
            QueryError: The file is no database, cannot be read, or takes too long to read.
        """
        names = (
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
            f"'sqlite!_%' ESCAPE '!' ORDER BY rowid LIMIT {MOST_TABLES}"
        )
        until, readable = time.monotonic() + bounds.seconds, list[Table]()
        with self._opened(bounds) as database:
            for (name,) in database.execute(names).fetchall():
                with suppress(sqlite3.Error):
                    readable.append(_table(database, name))
                if time.monotonic() > until:  # a suppressed error may be the timeout
                    raise bounds.late
        return readable

    def read(self, query: str, bounds: Bounds) -> Rows:
        """Runs a checked query.

        Raises:
            QueryError: The query fails or exceeds the bounds.
        """
        with self._opened(bounds) as database:
            database.set_authorizer(_authorized)
            cursor = database.execute(query)
            return fetched([each[0] for each in cursor.description or ()], cursor, bounds)

    @contextmanager
    def _opened(self, bounds: Bounds) -> Iterator[sqlite3.Connection]:
        """Opens the database for reading; any error until it is closed becomes a `QueryError`."""
        until = time.monotonic() + bounds.seconds
        try:
            with closing(self._connected()) as database:
                database.set_progress_handler(lambda: time.monotonic() > until, STEPS)
                for limit, most in {**LIMITS, sqlite3.SQLITE_LIMIT_LENGTH: bounds.size}.items():
                    database.setlimit(limit, most)
                for pragma in PRAGMAS:
                    database.execute(f"PRAGMA {pragma}")
                database.text_factory = lambda text: text.decode("utf-8", "replace")
                yield database
        except QueryError:
            raise
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, OSError) as error:
            raise _query_error(str(error), bounds) from None

    def _connected(self) -> sqlite3.Connection:
        if self.place:
            with Path(self.place).open("rb") as file:
                uses_log = file.read(20)[18:] == b"\x02\x02"  # write-ahead mode
            # SQLite would create a missing log even to read, unless told that nobody writes.
            option = "&immutable=1" * (uses_log and not Path(f"{self.place}-wal").exists())
            address = f"file:{quote(self.place)}?mode=ro{option}"
            return sqlite3.connect(address, uri=True, timeout=BUSY, isolation_level=None)
        memory = sqlite3.connect(":memory:", isolation_level=None)
        script = files("thoughtgraph.tools.sql").joinpath("example.sql")
        memory.executescript(script.read_text(encoding="utf-8"))
        return memory


def _authorized(action: int, first: str | None, second: str | None, *rest: str | None) -> int:
    """Allows only reading; SQLite calls this function for each part of a statement."""
    harmless = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _CALLABLE
    allowed = harmless or action in ALLOWED or (action, first) in VIRTUAL
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _table(database: sqlite3.Connection, name: str) -> Table:
    columns = database.execute("SELECT name, type, pk FROM pragma_table_info(?)", [name]).fetchall()
    foreign = 'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)'
    primary = ", ".join(_quoted(column) for column, _, pk in columns if pk)
    keys = [f"PRIMARY KEY ({primary})"] * bool(primary)
    for column, table, to in database.execute(foreign, [name]):
        target = f"{_quoted(table)} ({_quoted(to)})" if to else _quoted(table)
        keys.append(f"FOREIGN KEY ({_quoted(column)}) REFERENCES {target}")
    return Table(_quoted(name), tuple((_quoted(c), kind) for c, kind, _ in columns), tuple(keys))


def _quoted(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'


def _query_error(message: str, bounds: Bounds) -> QueryError:
    if message == "interrupted":
        return bounds.late
    if message == "string or blob too big":
        message = f"a value is longer than {bounds.size:,} bytes; select other columns"
    if message == "disk I/O error":
        message = "it sorts too much, or the disk fails; write a query that looks at less"
    if message.startswith("not authorized"):
        message = f"a query may only read tables and call functions that compute ({message})"
    return QueryError(message)
