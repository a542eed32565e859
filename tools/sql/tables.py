"""What a database holds and gives: tables, rows, or the line that says why there are none."""

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
"""Tables that are looked at (ours)."""
TOO_LARGE = "it takes too much memory; write a query that looks at less"


class QueryError(InputError):
    """A query that is not run, or fails; one line that says why."""

    def __init__(self, why: str) -> None:
        super().__init__(brief(why, 300))


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a query may take (ours)."""

    seconds: float = 5.0
    rows: int = 1_000
    size: int = 1_000_000
    """Bytes of all cells together, and of each cell that is looked at."""

    @property
    def late(self) -> QueryError:
        """What is said of a query that takes longer."""
        return QueryError(
            f"it took longer than {self.seconds:g} s; write a query that looks at less"
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query returns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False
    """Whether there are further rows that were not fetched."""
    ordered: bool = False
    """Whether the query says in which order they come."""

    def shown(self, most: int, between: str = "\n") -> str:
        """Returns how many there are, the columns, and the first rows, a cell quoted and cut."""
        size = len(self.rows)
        count = f"{size} row{'s' * (size != 1)}{' or more' * self.more}"
        head = f"{count} ({', '.join(map(label, self.columns))})"
        lines = [", ".join(map(cell, row)) for row in self.rows[:most]]
        return between.join([head, *lines, *["…"] * (size > most)])


@dataclass(frozen=True, slots=True)
class Table:
    """A table or a view; all names are written as queries write them, in quotes where needed."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """Names and types."""
    keys: tuple[str, ...] = ()
    """Primary and foreign keys, as the statement says them."""

    def shown(self, samples: Mapping[str, str]) -> str:
        """Returns its `CREATE TABLE`; a sample of a column's values stands behind the column."""
        columns = [
            (brief(f"{name} {kind}".rstrip()), samples.get(name)) for name, kind in self.columns
        ]
        lines = [f"  {column},{f' -- {some}' if some else ''}" for column, some in columns]
        lines += [f"  {brief(key, 200)}," for key in self.keys]
        lines[-1:] = [line.removesuffix(",") for line in lines[-1:]]
        return "\n".join([f"CREATE TABLE {brief(self.name)} (", *lines, ");"])


def fetched(columns: Sequence[str], rows: Iterable[Sequence[Any]], bounds: Bounds) -> Rows:
    """Returns the rows of an open query, fetched one by one within bounds.

    Raises:
        QueryError: They are too large.
    """
    kept: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        if len(kept) == bounds.rows:
            return Rows(tuple(columns), tuple(kept), more=True)
        size += sum(8 if isinstance(each, _SMALL) else len(_sized(each)) for each in row)
        if size > bounds.size:
            raise QueryError(f"the result is larger than {bounds.size:,} bytes; select less of it")
        kept.append(tuple(row))
    return Rows(tuple(columns), tuple(kept))


_SMALL = (int, float, type(None))


_NAME = re.compile(r"[\w.*()?]*")


def _sized(value: object) -> str | bytes:
    return value if isinstance(value, str | bytes) else str(value)


def cell(value: Any) -> str:
    """Returns a value as SQL writes it: what it says can never look like anything else."""
    if value is None or isinstance(value, int | float | Decimal):
        return "NULL" if value is None else brief(str(value))
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    return "'" + brief(str(value)).replace("'", "''") + "'"


def label(name: str) -> str:
    """Returns the name of a column of a result, in quotes where it could be read as a sentence."""
    return brief(name) if _NAME.fullmatch(name) else '"' + brief(name).replace('"', '""') + '"'


def brief(text: str, most: int = LONGEST_CELL) -> str:
    """Returns the beginning of a text from elsewhere, on one line; the cut is marked."""
    plain = one_line(text[: 4 * most])
    return plain if len(plain) <= most and len(text) <= 4 * most else f"{plain[: most - 1]}…"
