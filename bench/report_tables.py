"""Assembles the tables of a report, as Markdown and CSV; `report_page` renders the HTML."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from math import isnan
from operator import attrgetter
from typing import NamedTuple

from thoughtgraph.bench.equal_cost import EqualCost, beside_votes
from thoughtgraph.bench.method_tables import method_tables
from thoughtgraph.bench.report_budgets import BudgetScores, budget_scores
from thoughtgraph.bench.report_lines import (
    Entry,
    Spent,
    Table,
    compared,
    problem_of,
    told_settings,
    without_empty,
)
from thoughtgraph.bench.statistics import deviation, mean


class Section(NamedTuple):
    """The lines of one task, set of problems and model, and their tables."""

    heading: str
    in_short: str
    """A sentence on the best and the cheapest lines."""
    lines: Sequence[Entry]
    tables: Sequence[Table]
    budgets: Sequence[BudgetScores]
    """The scores at each budget, for plots; the last tables hold the same scores."""


def sections(lines: Sequence[Entry], *, budgets: bool = False) -> list[Section]:
    """Returns the sections of a report.

    Args:
        lines: The lines of all tables.
        budgets: Whether the report has scores at each budget.
    """
    return [_section(heading, table, budgets) for heading, table in tables(lines)]


def _section(heading: str, lines: Sequence[Entry], budgets: bool) -> Section:
    rows = [cells(entry, lines) for entry in lines]
    own = [without_empty("", list(rows[0]), [[*row.values()] for row in rows])]
    own += method_tables(lines)
    if equal := [_equal_cost(each) for each in beside_votes(lines)]:
        own.append(Table(EQUAL_TITLE, EQUAL, equal))
    tiers = [*budget_scores(lines)] if budgets else []
    return Section(heading, in_short(lines), lines, [*own, *(each.table for each in tiers)], tiers)


def tables(lines: Sequence[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Yields the heading and the lines of each table: of a task, a set of problems and a model."""
    kind = attrgetter("table")
    for (task, data, model, judge), group in groupby(sorted(lines, key=kind), key=kind):
        table = list(group)
        set_name = f" ({data})" if data and data != task else ""
        judged = f", judged by {judge}" if judge else ""
        shared = {name: value for line in table for name, value in line.shared.items()}
        settings = f"; {', '.join(told_settings(shared))}" if shared else ""
        yield f"{task}{set_name}, {model}{judged}{settings}", table


def in_short(lines: Sequence[Entry]) -> str:
    """Returns a sentence on the lines that score most, by the paired bootstrap, and the cheapest.

    Lines with an oracle and other ensembles of a run do not compete.
    """
    own = [each for each in lines if each.scores and not each.oracle and not each.same_run]
    if len(own) < 2:
        return "".join(f"{e.name} scores {e.score:.1%} for {e.tokens:,.0f} tokens." for e in own)
    methods = Counter(each.method for each in own)
    names = {id(e): e.method if methods[e.method] == 1 else e.name for e in own}
    best = max(own, key=lambda each: (each.score, -each.tokens))
    others = [each for each in own if each is not best]
    tied = [names[id(each)] for each in others if _ties(best, each)]
    text = f"{names[id(best)]} scores most" + (f"; it ties with {', '.join(tied)}" if tied else "")
    if len(tied) == len(others):
        text = f"All {len(own)} tie" if len(own) > 2 else "Both tie"
    cheapest, *_, costliest = sorted(own, key=lambda each: each.tokens)
    if not cheapest.tokens or round(costliest.tokens / cheapest.tokens) < 2:
        return f"{text}."
    share = f"1/{costliest.tokens / cheapest.tokens:,.0f}"
    return f"{text}; {names[id(cheapest)]} costs {share} of {names[id(costliest)]}."


def _ties(first: Entry, second: Entry) -> bool:
    """Returns whether two lines may be equally good on the problems that both have."""
    comparison = compared(first, second)
    return comparison is None or comparison.interval.low <= 0 <= comparison.interval.high


def cells(entry: Entry, table: Sequence[Entry]) -> dict[str, str]:
    """Returns the cells of a line, as texts by column.

    Args:
        entry: The line.
        table: All lines of its table; `tokens to cot` divides by the tokens of the `cot` among
            them.
    """
    scored = bool(entry.scores)
    low, high = entry.interval
    several = len(entry.repeats) > 1
    cot = next((each for each in table if each.method == "cot"), None)
    none = sum(row["answer"] is None for row in entry.rows)
    money = mean([each.dollars for each in entry.spent])
    return {
        "method": entry.name,
        "problems": str(len({problem_of(row) for row in entry.rows})),
        "score": f"{entry.score:.1%}" if scored else "",
        "95 %": f"{low:.1%} to {high:.1%}" if scored else "",
        "sd over seeds": f"{deviation(entry.repeats):.1%}" if scored and several else "",
        "best of k": f"{entry.best_of():.1%}" if scored else "",
        "k": f"{entry.outputs():.1f}" if scored else "",
        "requests": _spread([each.requests for each in entry.spent]),
        "prompt tokens": _spread([each.prompt_tokens for each in entry.spent]),
        "completion tokens": _spread([each.completion_tokens for each in entry.spent]),
        "tokens to cot": f"{entry.tokens / cot.tokens:.2f}" if cot and cot.tokens else "",
        "dollars": _formatted(money, ".4f"),
        "seconds": _formatted(mean([each.seconds for each in entry.spent]), ".1f"),
        "without an answer": f"{none / len(entry.rows):.0%}",
        "unread": f"{entry.unread():.1f}",
    }


EQUAL_TITLE = "Beside as many samples of cot_sc as the same tokens buy (paired bootstrap)"
EQUAL = (
    *("method", "problems", "tokens", "score"),
    *("samples", "their tokens", "their score", "difference", "95 %", "p"),
)


def _equal_cost(costs: EqualCost) -> list[str]:
    """Returns the cells of a line and the vote of equal cost; a tie is marked."""
    low, high = costs.comparison.interval
    return [
        costs.entry.name,
        str(costs.comparison.problems),
        f"{costs.tokens:,.0f}",
        f"{costs.score:.1%}",
        f"{costs.samples} (all; cheaper)" if costs.dearer else str(costs.samples),
        f"{costs.vote_tokens:,.0f}",
        f"{costs.vote_score:.1%}",
        f"{costs.comparison.difference:+.1%}",
        f"{low:+.1%} to {high:+.1%}{' (a tie)' if low <= 0 <= high else ''}",
        f"{costs.comparison.p:.3f}",
    ]


def markdown(report: Sequence[Section]) -> str:
    """Returns all tables as Markdown."""
    parts: list[str] = []
    for section in report:
        parts.append(f"## {section.heading}\n")
        parts += [f"{section.in_short}\n"] if section.in_short else []
        for title, headings, rows in section.tables:
            parts += [f"{title}:\n"] if title else []
            parts.append(grid(headings, rows))
    return "\n".join(parts)


def grid(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def as_csv(lines: Sequence[Entry]) -> str:
    """Returns all lines as CSV with plain numbers, for other programs."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ["task", "data", "model", "judge", "method", "given", "oracle", "problems", "runs"]
    scores = ["score", "low", "high", "best_of_k"]
    writer.writerow([*names, *scores, *Spent._fields, "unread"])
    for entry in lines:
        figures = [entry.score, *entry.interval, entry.best_of()] if entry.scores else [""] * 4
        writer.writerow(
            [
                *(*entry.table, entry.method, json.dumps(dict(entry.given)), entry.oracle),
                *(len(entry.scores) or len(entry.rows), len(entry.rows), *figures),
                *(mean(values) for values in zip(*entry.spent, strict=True)),
                entry.unread(),
            ]
        )
    return text.getvalue()


def pairs_csv(report: Sequence[Section]) -> str:
    """Returns the comparison of each pair of lines as CSV: the first's score minus the second's."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["table", "first", "second", "problems", "difference", "low", "high", "p"])
    for section in report:
        for first, second in combinations(section.lines, 2):
            if result := compared(first, second):
                figures = result.problems, result.difference, *result.interval, result.p
                writer.writerow([section.heading, first.name, second.name, *figures])
    return text.getvalue()


def _spread(values: Sequence[float]) -> str:
    centre = _formatted(mean(values), ",.1f")
    return centre and f"{centre} ± {deviation(values):,.1f}"


def _formatted(value: float, form: str) -> str:
    return "" if isnan(value) else format(value, form)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
