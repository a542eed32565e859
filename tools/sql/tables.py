"""Tables of a database, rows of a query, and the error of a query without rows."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from thoughtgraph.errors import InputError
from thoughtgraph.tools.one_line import one_line

LONGEST_CELL = 80
"""Characters of a cell that are shown (ours)."""
MOST_TABLES = 500
"""Tables of a database that are read (ours)."""
TOO_LARGE = "it takes too much memory; write a query that looks at less"


class QueryError(InputError):
    """A query was refused or failed; one line says why."""

    def __init__(self, why: str) -> None:
        super().__init__(brief(why, 300))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a query (ours)."""

    seconds: float = 5.0
    rows: int = 1_000
    size: int = 1_000_000
    """Bytes of all cells together, and of each value that SQLite works on (characters of texts)."""

    @property
    def late(self) -> QueryError:
        """The error of a query that takes longer."""
        return QueryError(
            f"it took longer than {self.seconds:g} s; write a query that looks at less"
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """The result of a query."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False
    """Whether there are more rows, which were not fetched."""
    ordered: bool = False
    """Whether the query has an ORDER BY for the rows."""

    def shown(self, most: int, between: str = "\n") -> str:
        """Returns the number of rows, the columns and the first rows, with cells quoted and cut."""
        size = len(self.rows)
        count = f"{size} row{'s' * (size != 1)}{' or more' * self.more}"
        head = f"{count} ({', '.join(map(label, self.columns))})"
        lines = [", ".join(map(cell, row)) for row in self.rows[:most]]
        return between.join([head, *lines, *["…"] * (size > most)])


@dataclass(frozen=True, slots=True)
class Table:
    """A table or a view; all names are written as in queries, with quotes where necessary."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """The name and the type of each column."""
    keys: tuple[str, ...] = ()
    """Primary and foreign keys, as `CREATE TABLE` writes them."""

    def shown(self, samples: Mapping[str, str]) -> str:
        """Returns the `CREATE TABLE` statement, with samples as comments behind the columns."""
        columns = [
            (brief(f"{name} {kind}".rstrip()), samples.get(name)) for name, kind in self.columns
        ]
        lines = [f"  {column},{f' -- {sample}' if sample else ''}" for column, sample in columns]
        lines += [f"  {brief(key, 200)}," for key in self.keys]
        lines[-1:] = [line.removesuffix(",") for line in lines[-1:]]
        return "\n".join([f"CREATE TABLE {brief(self.name)} (", *lines, ");"])


def fetched(columns: Sequence[str], rows: Iterable[Sequence[Any]], bounds: Bounds) -> Rows:
    """Returns the rows of an open query, fetched one by one within bounds.

    Raises:
        QueryError: The rows are too large.
    """
    kept_rows: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        if len(kept_rows) == bounds.rows:
            return Rows(tuple(columns), tuple(kept_rows), more=True)
        size += sum(8 if isinstance(each, _SMALL) else len(_with_length(each)) for each in row)
        if size > bounds.size:
            raise QueryError(f"the result is larger than {bounds.size:,} bytes; select less of it")
        kept_rows.append(tuple(row))
    return Rows(tuple(columns), tuple(kept_rows))


_SMALL = (int, float, type(None))


_NAME = re.compile(r"[\w.*()?]*")


def _with_length(value: object) -> str | bytes:
    return value if isinstance(value, str | bytes) else str(value)


def cell(value: Any) -> str:
    """Returns a value as an SQL literal, so that no text can pass for anything but a cell."""
    if value is None or isinstance(value, int | float | Decimal):
        return "NULL" if value is None else brief(str(value))
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    return "'" + brief(str(value)).replace("'", "''") + "'"


def label(name: str) -> str:
    """Returns the name of a result's column, in quotes where it could pass for a sentence."""
    return brief(name) if _NAME.fullmatch(name) else '"' + brief(name).replace('"', '""') + '"'


def brief(text: str, most: int = LONGEST_CELL) -> str:
    """Returns the beginning of a text from outside, on one line; a cut is marked."""
    plain = one_line(text[: 4 * most])
    return plain if len(plain) <= most and len(text) <= 4 * most else f"{plain[: most - 1]}…"
