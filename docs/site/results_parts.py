"""What the comparison showed, in short: a line a method and set of problems."""

from collections.abc import Iterable, Mapping, Sequence

from method_parts import kept_lines, table

from thoughtgraph.bench.budget import curve
from thoughtgraph.bench.equal_cost import EqualCost, beside_votes
from thoughtgraph.bench.papers.suites import suite
from thoughtgraph.bench.report_lines import Entry
from thoughtgraph.bench.report_tables import tables
from thoughtgraph.bench.result_summaries import rescored
from thoughtgraph.bench.statistics import Comparison, compare

ENOUGH = 50
"""Problems below which nothing is decided (docs/results.md)."""
BUDGETS = 500, 1_000, 2_000, 4_000
"""Tokens a problem: what about four, eight and sixteen votes cost on gsm8k, and twice that."""
COLUMNS = {
    "cot": "one sample",
    "tomt_one_stop": "one sample",
    "cot_sc": "16 votes",
    "adaptive": "adaptive",
}
"""Where README shows the methods that have a column of their own."""
REST = "best of the others"


def comparison() -> str:
    """Returns what each method scored and cost, and the vote beside it that costs as much."""
    titles = (
        "problems",
        "method",
        "right (95 %)",
        "tokens",
        "against what costs as many tokens (95 %)",
    )
    rows = []
    for name, lines in panels():
        voted = {id(each.entry): _beside_votes(each) for each in beside_votes(lines)}
        for entry in sorted(lines, key=lambda each: each.tokens):
            against = voted.get(id(entry), "") if voted else beside_plans(entry, lines)
            rows.append((name, line_name(entry), *_measured(entry), against))
    return table(titles, rows)


def budgets() -> str:
    """Returns what each line had reached with so many tokens a problem; in brackets: too few."""
    rows = []
    for name, lines in panels():
        # What a run has reached is told once, by the ensemble that it was run with.
        for entry in sorted(_as_run(lines), key=lambda each: each.tokens):
            shown = "{:.0%}" if len(entry.scores) >= ENOUGH else "({:.0%})"
            reached = curve(entry.rows, rescored, "tokens", BUDGETS)
            rows.append((name, line_name(entry), *map(shown.format, reached)))
    return table(("problems", "method", *(f"{each:,} tokens" for each in BUDGETS)), rows)


def scores() -> str:
    """Returns a row a set of problems and way of asking: one sample, votes, other methods.

    The last column has the one of them that scored best, of several the cheapest; lines that an
    oracle told have no place, nor have other ensembles of a run that is shown.
    """
    rows: dict[str, dict[str, Entry]] = {}
    marks: dict[int, str] = {}
    for name, lines in panels():
        marks |= {id(each.entry): _verdict(each) for each in beside_votes(lines)}
        for entry in sorted(_as_run(lines), key=lambda each: (each.score, -each.tokens)):
            if entry.method != "io" and not entry.oracle:
                rows.setdefault(name + _asked(entry), {})[_column(entry)] = entry
    titles = [*dict.fromkeys(COLUMNS.values()), REST]
    cells = [
        [row, *(_marked(found[each], marks) if each in found else "" for each in titles)]
        for row, found in sorted(rows.items())
    ]
    return table(("right, and tokens", *titles), cells)


def _column(entry: Entry) -> str:
    """Returns where README shows a line: one plan that may be asked for again is no one sample."""
    return REST if "max_calls" in entry.given else COLUMNS.get(entry.method, REST)


def _asked(entry: Entry) -> str:
    """Returns how a line asks, where it is not in the papers' words alone."""
    if entry.given.get("grammar"):
        return ", grammar"
    if entry.given.get("layout") == "turns":
        return ", turns"
    return ", our words" if entry.given.get("wording") == "chat" else ""


def _marked(entry: Entry, marks: Mapping[int, str]) -> str:
    """Returns what a line scored and cost: in bold where it wins, slanted where it loses."""
    told = f"{entry.score:.0%}, {entry.tokens:,.0f}"
    if _column(entry) == REST:
        told = f"{line_name(entry).partition(',')[0]} {told}"
    if len(entry.scores) < ENOUGH:
        return f"({told})"
    mark = {"wins": "**", "loses": "*"}.get(marks.get(id(entry), ""), "")
    return f"{mark}{told}{mark}"


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
    return f"{_difference(found.comparison)}, {_verdict(found)}"


def _verdict(found: EqualCost) -> str:
    """Returns what the rules call a line beside the votes that cost as much."""
    verdict = judged(found.comparison)
    if found.entry.oracle:
        return "oracle"
    return "dearer" if found.dearer and verdict in {"wins", "a tie"} else verdict


def beside_plans(entry: Entry, lines: Sequence[Entry]) -> str:
    """Returns how a plan does beside those that cost at least as much; of ties the names alone.

    Where a dearer one scores more nothing is told: either may be the better choice.
    """
    told, ties = [], []
    for other in sorted(lines, key=lambda each: each.tokens):
        if other is entry or other.tokens < entry.tokens:
            continue
        common = sorted(entry.scores.keys() & other.scores.keys())
        ours, theirs = ([line.scores[each] for each in common] for line in (entry, other))
        found, name = compare(ours, theirs), line_name(other)
        verdict = judged(found)
        if verdict == "a tie":
            ties.append(name)
        elif verdict != "loses":
            told.append(f"{_difference(found)} beside {name}, {verdict}")
    return "; ".join([*told, *([f"a tie with {', '.join(ties)}"] if ties else [])])


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


def panels() -> list[tuple[str, list[Entry]]]:
    """Returns the lines of each set of problems that has some.

    Of the ensembles of one run those alone that the suite has a line for.
    """
    kept = kept_lines("comparison")
    shown = [each for each in kept if not _same_run(each) or line_name(each) != each.name]
    return [(lines[0].data, lines) for _, lines in tables(shown)]


def _as_run(lines: Iterable[Entry]) -> list[Entry]:
    """Returns the lines without other ensembles of a run."""
    return [each for each in lines if not _same_run(each)]


def _same_run(entry: Entry) -> bool:
    return bool(entry.rows[0].get("same_run"))
