"""The lines of a table divided by what the data set says of its problems, such as their type."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from thoughtgraph.bench.report_lines import Entry, value_of
from thoughtgraph.bench.result_files import Row

MOST = 20
"""Values of one fact that are shown: those of most runs (ours)."""


def dividing(table: Sequence[Entry]) -> dict[str, list[str]]:
    """Returns the facts in which problems of a table differ, and their values in order.

    Args:
        table: The lines of one task, set of problems and model.
    """
    rows = [row for entry in table for row in entry.rows]
    facts = dict.fromkeys(fact for row in rows for fact in row.get("facts", {}))
    found = {fact: Counter(value_of(row, fact) for row in rows) for fact in facts}
    return {
        fact: in_order([value for value, _ in counted.most_common(MOST)])
        for fact, counted in found.items()
        if len(counted) > 1
    }


def divided(entry: Entry, fact: str) -> Mapping[str, Entry]:
    """Returns the parts of a line that have a score, by the value of a fact."""
    groups: dict[str, list[Row]] = {}
    for row in entry.rows:
        groups.setdefault(value_of(row, fact), []).append(row)
    parts = {value: replace(entry, rows=rows) for value, rows in groups.items()}
    return {value: part for value, part in parts.items() if part.scores}


def in_order(values: Sequence[str]) -> list[str]:
    """Returns values sorted, numbers by their size."""
    if all(value.isascii() and value.isdecimal() for value in values):
        return sorted(values, key=lambda value: (len(value), value))
    return sorted(values)
