"""PostgreSQL: every query runs in a read-only transaction on its own connection."""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from itertools import chain, islice
from typing import Any
from urllib.parse import urlsplit

from thoughtgraph.errors import InputError
from thoughtgraph.tools.sql.tables import (
    MOST_TABLES,
    TOO_LARGE,
    Bounds,
    QueryError,
    Rows,
    Table,
    fetched,
)

UNREACHED = "the database cannot be reached"
_TABLES = f"""
SELECT c.oid::regclass::text, array_agg(quote_ident(a.attname) ORDER BY a.attnum),
    array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum),
    ARRAY(SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype IN ('p', 'f') ORDER BY k.contype DESC, k.oid)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
    AND c.relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'
    AND has_table_privilege(c.oid, 'SELECT')
GROUP BY c.oid ORDER BY c.oid LIMIT {MOST_TABLES}"""

NATIVE = ("bool", "int2", "int4", "int8", "float4", "float8", "numeric", "bytea")
"""Types that become Python values; others stay the server's text (a date may be `infinity`)."""

logger = logging.getLogger("thoughtgraph")


class Postgres:
    """A PostgreSQL database, read with the rights of the role in its address.

    Args:
        address: `postgresql://ROLE@HOST:PORT/DATABASE`.

    Raises:
        InputError: The address has a password in it, or the driver is not installed.
    """

    dialect = "postgres"

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.password or "password" in parts.query.lower():
            raise InputError(
                "the address of a database is kept with results; leave the password out of it and "
                "give it in PGPASSWORD or ~/.pgpass"
            )
        try:
            self._driver: Any = import_module("psycopg")
        except ImportError:
            raise InputError(
                "PostgreSQL needs the extra 'postgres'; pip install 'thoughtgraph[postgres]'"
            ) from None
        self.place = address

    def tables(self, bounds: Bounds) -> list[Table]:
        """Returns the tables and views that the role may read.

        Raises:
            QueryError: The server cannot be reached, or its tables cannot be read.
        """
        with self._opened(bounds) as cursor:
            return [
                Table(name, tuple(zip(columns, kinds, strict=True)), tuple(keys))
                for name, columns, kinds, keys in cursor.execute(_TABLES).fetchall()
            ]

    def read(self, query: str, bounds: Bounds) -> Rows:
        """Runs a checked query, and fetches row by row to stop at a result that is too large.

        Raises:
            QueryError: The query fails or exceeds the bounds.
        """
        loader = import_module("psycopg.types.string").TextLoader
        with self._opened(bounds) as cursor:
            for kind in cursor.adapters.types:
                cursor.adapters.register_loader(kind.array_oid, loader)
                if kind.name not in NATIVE:
                    cursor.adapters.register_loader(kind.oid, loader)
            # A stream uses the extended protocol, which refuses a second statement.
            with closing(cursor.stream(query)) as stream:
                if first := [*islice(stream, 1)]:  # the columns are known from here on
                    columns = [each.name for each in cursor.description]
                    return fetched(columns, chain(first, stream), bounds)
            connection = cursor.connection.pgconn  # describes columns without a row, too
            connection.prepare(b"", query.encode())
            described = connection.describe_prepared(b"")
            names = (described.fname(at).decode() for at in range(described.nfields))
            return Rows(tuple(names), ())

    @contextmanager
    def _opened(self, bounds: Bounds) -> Iterator[Any]:
        """Opens a read-only transaction; an error inside becomes a `QueryError`."""
        milliseconds = int(bounds.seconds * 1_000)
        options = (
            f"-c default_transaction_read_only=on -c statement_timeout={milliseconds} "
            f"-c lock_timeout=1000 -c idle_in_transaction_session_timeout={2 * milliseconds}"
        )
        try:
            connection = self._driver.connect(self.place, connect_timeout=3, options=options)
        except self._driver.Error as error:
            logger.error("%s: %s", UNREACHED, error)
            raise QueryError(f"{UNREACHED} ({type(error).__name__})") from None
        try:
            connection.read_only = True
            with closing(connection), connection.cursor() as cursor:
                yield cursor
        except self._driver.errors.QueryCanceled:
            raise bounds.late from None
        except (self._driver.Error, ValueError, RecursionError, OverflowError) as error:
            if message := getattr(getattr(error, "diag", None), "message_primary", None):
                raise QueryError(message) from None
            message = str(error) or type(error).__name__  # from the driver, not the server
            raise QueryError(TOO_LARGE if "memory" in message else message) from None
