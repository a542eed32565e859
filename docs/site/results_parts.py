"""What the comparison showed: the table of docs/results.md and all pairs, results_pairs.csv."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import combinations

from method_parts import ROOT, table

from thoughtgraph.bench.equal_cost import EqualCost, beside_votes
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.bench.report_lines import Entry, entries
from thoughtgraph.bench.report_tables import tables
from thoughtgraph.bench.result_files import ResultFolder, latest
from thoughtgraph.bench.statistics import Comparison, compare

RESULTS = ROOT / "bench" / "results"
PAIRS = ROOT / "docs" / "results_pairs.csv"
ENOUGH = 50
"""Problems below which nothing is decided (docs/results.md)."""
TITLES = ("problems", "method", "right (95 %)", "tokens", "at equal cost (95 %)")
PAIR_TITLES = (
    *("problems of", "first", "second", "problems", "difference", "low", "high"),
    *("verdict", "first alone", "second alone", "p"),
)


def comparison() -> str:
    """Returns what each method scored and cost, and how it does against the same cost."""
    rows = []
    for name, lines in panels():
        voted = {id(each.entry): _beside_votes(each) for each in beside_votes(lines)}
        for entry in sorted(lines, key=lambda each: each.tokens):
            against = voted.get(id(entry), "") if voted else beside_plans(entry, lines)
            rows.append((name, line_name(entry), *_measured(entry), against))
    return table(TITLES, rows)


def pairs() -> str:
    """Returns every pair of lines of each kept folder and set of problems, as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(PAIR_TITLES)
    for folder in sorted(path.parent.name for path in RESULTS.glob("*/results.jsonl")):
        for heading, lines in tables(kept_lines(folder)):
            writer.writerows((heading, *row) for row in _pairs(lines))
    return out.getvalue()


def _pairs(lines: Sequence[Entry]) -> Iterator[Sequence[str]]:
    for first, second in combinations(lines, 2):
        if found := _compared(first, second):
            shares = (found.difference, *found.interval)
            alone = (found.first_alone, found.second_alone)
            yield (
                *(first.name, second.name, str(found.problems)),
                *(f"{share:+.3f}" for share in shares),
                *(judged(found), *map(str, alone), f"{found.p:.3f}"),
            )


def _compared(first: Entry, second: Entry) -> Comparison | None:
    """Compares two lines on the problems that both have; None where there are none."""
    common = sorted(first.scores.keys() & second.scores.keys())
    ours, theirs = ([line.scores[each] for each in common] for line in (first, second))
    return compare(ours, theirs) if common else None


def line_name(entry: Entry) -> str:
    """Returns what the comparison calls a line, which tells its settings."""
    compared = suite("comparison")
    # Where the pages are is said by whoever runs it, not by the suite.
    given = {name: value for name, value in entry.given.items() if name != "corpus"}
    for line in compared.rows:
        ids = [part.id for part in compared.parts_of(line)]
        told = line.method, line.settings, line.oracle
        if told == (entry.method, given, entry.oracle) and entry.data in ids:
            return line.name
    return entry.name


def _beside_votes(found: EqualCost) -> str:
    """Returns how a line does against the votes that cost as much, by the rules of the page."""
    verdict = judged(found.comparison)
    if found.entry.oracle:
        verdict = "oracle"
    elif found.dearer and verdict in {"wins", "a tie"}:
        verdict = "costs more"
    return f"{_difference(found.comparison)}, {verdict}"


def beside_plans(entry: Entry, lines: Sequence[Entry]) -> str:
    """Returns whom a plan beats, and ties with, of those that cost at least as much.

    Nothing is said of a dearer line that scores more: either may be the better choice.
    """
    found: dict[str, list[str]] = {"wins": [], "a tie": []}
    for other in sorted(lines, key=lambda each: each.tokens):
        compared = None if other is entry else _compared(entry, other)
        if compared and other.tokens >= entry.tokens and judged(compared) in found:
            found[judged(compared)].append(line_name(other))
    told = [f"beats {', '.join(found['wins'])}"] if found["wins"] else []
    return "; ".join(
        [*told, *([f"ties with {', '.join(found['a tie'])}"] if found["a tie"] else [])]
    )


def judged(found: Comparison) -> str:
    """Returns what docs/results.md calls a difference."""
    low, high = found.interval
    if found.problems < ENOUGH:
        return "too few"
    if low > 0:
        return "wins"
    return "loses" if high < 0 else "a tie"


def _difference(found: Comparison) -> str:
    low, high = found.interval
    return f"{found.difference:+.0%} ({low:+.0%}, {high:+.0%})"


def _measured(entry: Entry) -> tuple[str, str]:
    low, high = entry.interval
    return f"{entry.score:.0%} ({100 * low:.0f}-{high:.0%})", f"{entry.tokens:,.0f}"


def kept_lines(folder: str) -> list[Entry]:
    """Returns the lines of results that are kept in a folder of `bench/results/`."""
    return entries(latest(ResultFolder(RESULTS / folder).rows()).values())


def panels() -> list[tuple[str, list[Entry]]]:
    """Returns the lines of each set of problems that has some.

    Of the ensembles of one run those alone that the suite has a line for.
    """
    kept = kept_lines("comparison")
    shown = [each for each in kept if not _same_run(each) or line_name(each) != each.name]
    return [(lines[0].data, lines) for _, lines in tables(shown)]


def _same_run(entry: Entry) -> bool:
    return bool(entry.rows[0].get("same_run"))
