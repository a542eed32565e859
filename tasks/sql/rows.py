"""When two results are the same: in any order of columns, of rows where no order is asked for."""

import hashlib
from collections.abc import Sequence
from itertools import combinations, islice
from numbers import Real
from typing import Any

from thoughtgraph.tools.sql.tables import Rows

MOST_CHOICES = 1_000
"""Choices of columns that are tried (ours)."""

Column = tuple[str, ...]


def form(rows: Rows) -> str:
    """Returns a digest that equal results share; empty where there are no rows.

    Where the query orders its rows, so are they compared.
    """
    return _digest(_columns(rows), ordered=rows.ordered) if rows.rows else ""


def matches(rows: Rows, gold: Rows, *, more: bool = False) -> bool:
    """Returns whether a result is the gold one; rows are in its order where its query orders.

    Args:
        rows: The result.
        gold: What it should be.
        more: Whether columns beyond the gold ones are allowed.
    """
    own, wanted = _columns(rows), _columns(gold)
    if len(rows.rows) != len(gold.rows) or len(own) < len(wanted):
        return False
    if len(own) > len(wanted) and not more:
        return False
    kept = {tuple(sorted(column)) for column in wanted}
    fitting = [column for column in own if tuple(sorted(column)) in kept]
    target = _digest(wanted, ordered=gold.ordered)
    chosen = islice(combinations(fitting, len(wanted)), MOST_CHOICES)
    return any(_digest(columns, ordered=gold.ordered) == target for columns in chosen)


def _columns(rows: Rows) -> list[Column]:
    return [tuple(_plain(row[at]) for row in rows.rows) for at in range(len(rows.columns))]


def _plain(value: Any) -> str:
    """Returns a cell as text; numbers of one value are one text, up to nine digits."""
    if isinstance(value, Real) or type(value).__name__ == "Decimal":
        exact = isinstance(value, int) and abs(value) < 10**15
        return f"n{value:d}" if exact else f"n{float(value):.9g}".removesuffix(".0")
    return f"s{value}" if isinstance(value, str) else repr(value)


def _digest(columns: Sequence[Column], *, ordered: bool) -> str:
    """Returns what is the same in whatever order the columns, and unordered rows, are."""
    if ordered:
        rows = [*zip(*sorted(columns), strict=True)]
    else:  # columns of equal contents are told apart by what stands beside each cell
        whole = [sorted(row) for row in zip(*columns, strict=True)]
        rows = sorted(
            zip(*sorted(columns, key=lambda c: sorted(zip(c, whole, strict=True))), strict=True)
        )
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()[:16]
