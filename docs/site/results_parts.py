"""What the comparison showed, in short: a line a method and set of problems."""

from method_parts import kept_lines, table

from thoughtgraph.bench.equal_cost import EqualCost, beside_votes
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.bench.report_lines import Entry
from thoughtgraph.bench.report_tables import tables

ENOUGH = 50
"""Problems below which nothing is decided (docs/results.md)."""


def comparison() -> str:
    """Returns what each method scored and cost, and the vote beside it that costs as much."""
    titles = (
        "problems",
        "method",
        "right (95 %)",
        "tokens",
        "against votes for as many tokens (95 %)",
    )
    rows = []
    for name, lines in panels():
        beside = {id(each.entry): each for each in beside_votes(lines)}
        for entry in sorted(lines, key=lambda each: each.tokens):
            found = beside.get(id(entry))
            difference = _difference(found) if found else ""
            rows.append((name, line_name(entry), *_measured(entry), difference))
    return table(titles, rows)


def line_name(entry: Entry) -> str:
    """Returns what the comparison calls a line, which tells its settings."""
    compared = suite("comparison")
    for line in compared.rows:
        ids = [part.id for part in compared.parts_of(line)]
        told = line.method, line.settings, line.oracle
        if told == (entry.method, entry.given, entry.oracle) and entry.data in ids:
            return line.name
    return entry.name


def _difference(found: EqualCost) -> str:
    low, high = found.comparison.interval
    return f"{found.comparison.difference:+.0%} ({low:+.0%}, {high:+.0%}), {verdict(found)}"


def verdict(found: EqualCost) -> str:
    """Returns what docs/results.md calls a difference."""
    low, high = found.comparison.interval
    if found.entry.oracle:
        return "oracle"
    if found.comparison.problems < ENOUGH:
        return "too few"
    if high < 0:
        return "loses"
    if found.dearer:
        return "dearer"
    return "wins" if low > 0 else "a tie"


def _measured(entry: Entry) -> tuple[str, str]:
    low, high = entry.interval
    return f"{entry.score:.0%} ({100 * low:.0f}-{high:.0%})", f"{entry.tokens:,.0f}"


def panels() -> list[tuple[str, list[Entry]]]:
    """Returns the lines of each set of problems that has some."""
    return [(lines[0].data, lines) for _, lines in tables(kept_lines("comparison"))]
