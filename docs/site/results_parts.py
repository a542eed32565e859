"""The results of the comparison: the table of docs/results.md."""

from method_parts import ROOT, table

from thoughtgraph.bench.equal_cost import EqualCost, beside_votes
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.bench.report_lines import Entry, Spent, entries
from thoughtgraph.bench.report_tables import tables
from thoughtgraph.bench.result_files import ResultFolder, latest
from thoughtgraph.bench.statistics import Comparison, mean

RESULTS = ROOT / "bench" / "results" / "comparison"
ENOUGH = 50
"""Fewest problems that allow a verdict (docs/results.md)."""
TITLES = (
    *("problems", "method", "right (95 %)", "requests", "tokens", "$ a thousand"),
    "at equal cost (95 %)",
)
PLACES = ("corpus", "database")
"""Settings that every user of the suite chooses: the places of files and databases."""
PRICES = {"prompt": 0.15, "cached": 0.075, "completion": 0.60}
"""Prices of gpt-4o-mini, in dollars per million tokens (OpenAI, 2024 to 2026)."""


def comparison() -> str:
    """Returns a table of each method's score and cost, compared with votes of equal cost."""
    rows = []
    for name, lines in panels():
        verdicts = {id(each.entry): _against_votes(each) for each in beside_votes(lines)}
        for entry in sorted(lines, key=lambda each: each.tokens):
            rows.append((name, line_name(entry), *_figures(entry), verdicts.get(id(entry), "")))
    return table(TITLES, rows)


def line_name(entry: Entry) -> str:
    """Returns the suite's name of a line, which says its settings; else the entry's own name."""
    this_suite = suite("comparison")
    settings = {name: value for name, value in entry.given.items() if name not in PLACES}
    for line in this_suite.rows:
        ids = [part.id for part in this_suite.parts_of(line)]
        key = line.method, line.settings, line.oracle
        if key == (entry.method, settings, entry.oracle) and entry.data in ids:
            return line.name
    return entry.name


def _against_votes(costs: EqualCost) -> str:
    """Returns a line's difference from the votes of equal cost, and the page's verdict on it."""
    verdict = judged(costs.comparison)
    if costs.entry.oracle:
        verdict = "oracle"
    elif costs.dearer and verdict in {"wins", "a tie"}:
        verdict = "costs more"
    return f"{_difference(costs.comparison)}, {verdict}"


def judged(comparison: Comparison) -> str:
    """Returns the verdict of docs/results.md on a difference."""
    low, high = comparison.interval
    if comparison.problems < ENOUGH:
        return "too few"
    if low > 0:
        return "wins"
    return "loses" if high < 0 else "a tie"


def _difference(comparison: Comparison) -> str:
    low, high = comparison.interval
    return f"{comparison.difference:+.0%} ({low:+.0%}, {high:+.0%})"


def _figures(entry: Entry) -> tuple[str, str, str, str]:
    low, high = entry.interval
    score = f"{entry.score:.0%} ({100 * low:.0f}-{high:.0%})"
    requests = mean([each.requests for each in entry.spent])
    dollars = 1000 * mean([*map(_dollars, entry.spent)])
    return score, f"{requests:.1f}", f"{entry.tokens:,.0f}", f"{dollars:.2f}"


def _dollars(spent: Spent) -> float:
    """Returns what a run's tokens would have cost at `PRICES`."""
    read = spent.prompt_tokens - spent.cached_prompt_tokens
    prompt = PRICES["prompt"] * read + PRICES["cached"] * spent.cached_prompt_tokens
    return (prompt + PRICES["completion"] * spent.completion_tokens) / 1e6


def panels() -> list[tuple[str, list[Entry]]]:
    """Returns the name and the lines of each set of problems that has any.

    Of the ensembles of a run, only those with a line in the suite are included.
    """
    all_entries = entries(latest(ResultFolder(RESULTS).rows()).values())
    included = [each for each in all_entries if not each.same_run or line_name(each) != each.name]
    return [(lines[0].data, lines) for _, lines in tables(included)]
