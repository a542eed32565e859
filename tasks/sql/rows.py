"""Compares results of queries, in any order of columns and, unless a query orders, of rows."""

import hashlib
from collections.abc import Sequence
from itertools import combinations, islice
from math import isclose
from numbers import Real
from typing import Any

from thoughtgraph.tools.sql.tables import Rows

MOST_CHOICES = 1_000
"""Most choices of columns to try (ours)."""

Column = tuple[str, ...]


def form(rows: Rows) -> str:
    """Returns a digest that equal results share; empty without rows.

    If the query orders its rows, their order counts.
    """
    return _digest(_columns(rows), ordered=rows.ordered) if rows.rows else ""


def matches(rows: Rows, gold: Rows, *, more: bool = False) -> bool:
    """Returns whether a result equals the gold one, row order included if the gold query orders.

    Args:
        rows: The result.
        gold: The gold result.
        more: Whether columns beyond the gold ones are allowed.
    """
    own_columns, gold_columns = _columns(rows), _columns(gold)
    if len(rows.rows) != len(gold.rows) or len(own_columns) < len(gold_columns):
        return False
    if len(own_columns) > len(gold_columns) and not more:
        return False
    gold_contents = {tuple(sorted(column)) for column in gold_columns}
    usable = [column for column in own_columns if tuple(sorted(column)) in gold_contents]
    target = _digest(gold_columns, ordered=gold.ordered)
    choices = islice(combinations(usable, len(gold_columns)), MOST_CHOICES)
    return any(_digest(columns, ordered=gold.ordered) == target for columns in choices)


def _columns(rows: Rows) -> list[Column]:
    return [tuple(_plain(row[at]) for row in rows.rows) for at in range(len(rows.columns))]


def _plain(value: Any) -> str:
    """Returns a cell as text: integers exactly, other numbers with nine digits."""
    if isinstance(value, Real) or type(value).__name__ == "Decimal":
        number = value if isinstance(value, int) else float(value)
        # The sum that one query returns as an integer is a float in another.
        if abs(number) < 10**15 and isclose(number, round(number), rel_tol=1e-9):
            return f"n{round(number)}"
        return f"n{float(number):.9g}"
    return f"s{value}" if isinstance(value, str) else repr(value)


def _digest(columns: Sequence[Column], *, ordered: bool) -> str:
    """Returns a digest that is independent of the order of columns and of unordered rows."""
    if ordered:
        rows = [*zip(*sorted(columns), strict=True)]
    else:  # the other cells of the rows distinguish columns with equal contents
        cells = [sorted(row) for row in zip(*columns, strict=True)]
        rows = sorted(
            zip(*sorted(columns, key=lambda c: sorted(zip(c, cells, strict=True))), strict=True)
        )
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()[:16]
