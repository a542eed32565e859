"""The report's tables, as Markdown and as CSV."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from thoughtgraph.bench.equal_cost import EqualCost, beside_votes
from thoughtgraph.bench.method_tables import across_sets, method_tables
from thoughtgraph.bench.report_lines import Entry, Spent, comparisons, problem_of, told_settings
from thoughtgraph.bench.statistics import Comparison, deviation, mean

COLUMNS = (
    "method",
    "problems",
    "score",
    "95 %",
    "sd over seeds",
    "best of k",
    "k",
    "requests",
    "prompt tokens",
    "completion tokens",
    "tokens to cot",
    "dollars",
    "seconds",
    "without an answer",
    "unread",
)


def cells(entry: Entry, table: Sequence[Entry]) -> dict[str, str]:
    """Returns one line of a table in words, by column.

    Args:
        entry: The line.
        table: All lines of the task and the model; `cot` among them is what tokens are compared
            with.
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
        "best of k": f"{entry.best:.1%}" if scored else "",
        "k": f"{entry.outputs():.1f}" if scored else "",
        "requests": _spread([each.requests for each in entry.spent]),
        "prompt tokens": _spread([each.prompt_tokens for each in entry.spent]),
        "completion tokens": _spread([each.completion_tokens for each in entry.spent]),
        "tokens to cot": f"{entry.tokens / cot.tokens:.2f}" if cot and cot.tokens else "",
        "dollars": "" if money != money else f"{money:.4f}",
        "seconds": f"{mean([each.seconds for each in entry.spent]):.1f}",
        "without an answer": f"{none / len(entry.rows):.0%}",
        "unread": f"{entry.unread():.1f}",
    }


def tables(found: Sequence[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Yields the lines of each task, set of problems and model, with a heading."""
    kind = attrgetter("table")
    for (task, data, model, judge), lines in groupby(sorted(found, key=kind), key=kind):
        table = list(lines)
        of = f" ({data})" if data and data != task else ""
        judged = f", judged by {judge}" if judge else ""
        shared = {name: value for line in table for name, value in line.shared.items()}
        told = f"; {', '.join(told_settings(shared))}" if shared else ""
        yield f"{task}{of}, {model}{judged}{told}", table


def markdown(found: Sequence[Entry]) -> str:
    """Returns all tables, and what is better than what, as Markdown."""
    parts: list[str] = []
    for heading, table in tables(found):
        parts.append(f"## {heading}\n")
        rows = [cells(entry, table) for entry in table]
        shown = [name for name in COLUMNS if any(row[name] for row in rows)]
        parts.append(grid(shown, [[row[name] for name in shown] for row in rows]))
        for own in method_tables(table):
            parts += [f"{own.title}:\n", grid(own.headings, own.rows)]
        if beside := list(beside_votes(table)):
            parts += [f"{EQUAL_TITLE}:\n", grid(EQUAL, [equal_cost(each) for each in beside])]
        if pairs := list(comparisons(table)):
            parts.append("Differences on the same problems (paired bootstrap, McNemar's test):\n")
            parts.append(grid(COMPARED, [compared(*pair) for pair in pairs]))
    for own in across_sets(found):
        parts += [f"## {own.title}\n", grid(own.headings, own.rows)]
    return "\n".join(parts)


EQUAL_TITLE = "Beside as many samples of cot_sc as the same tokens buy (paired bootstrap)"
EQUAL = (
    "method",
    "problems",
    "tokens",
    "score",
    "samples",
    "their tokens",
    "their score",
    "difference",
    "95 %",
)
COMPARED = ("first", "second", "problems", "difference", "95 %", "first alone", "second alone", "p")


def compared(first: Entry, second: Entry, found: Comparison) -> list[str]:
    """Returns one comparison in words; a difference that may be none says so."""
    return [
        first.name,
        second.name,
        str(found.problems),
        *_difference(found),
        str(found.first_alone),
        str(found.second_alone),
        f"{found.p:.3f}",
    ]


def equal_cost(found: EqualCost) -> list[str]:
    """Returns a line and the vote that costs the same in words; a tie says so."""
    return [
        found.entry.name,
        str(found.comparison.problems),
        f"{found.tokens:,.0f}",
        f"{found.score:.1%}",
        f"{found.samples} (all; cheaper)" if found.dearer else str(found.samples),
        f"{found.vote_tokens:,.0f}",
        f"{found.vote_score:.1%}",
        *_difference(found.comparison),
    ]


def _difference(found: Comparison) -> tuple[str, str]:
    low, high = found.interval
    tie = " (a tie)" if low <= 0 <= high else ""
    return f"{found.difference:+.1%}", f"{low:+.1%} to {high:+.1%}{tie}"


def grid(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def as_csv(found: Sequence[Entry]) -> str:
    """Returns all lines as CSV with plain numbers, for other programs."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    named = ["task", "data", "model", "judge", "method", "given", "oracle", "problems", "runs"]
    reached = ["score", "low", "high", "best_of_k"]
    writer.writerow([*named, *reached, *Spent._fields, "unread"])
    for entry in found:
        low, high = entry.interval
        known = bool(entry.scores)
        figures = [entry.score, low, high, entry.best] if known else [""] * 4
        writer.writerow(
            [
                entry.task,
                entry.data,
                entry.model,
                entry.judge,
                entry.method,
                json.dumps(dict(entry.given)),
            ]
            + [entry.oracle, len(entry.scores) or len(entry.rows), len(entry.rows), *figures]
            + [mean([each[at] for each in entry.spent]) for at in range(len(Spent._fields))]
            + [entry.unread()]
        )
    return out.getvalue()


def _spread(values: Sequence[float]) -> str:
    return f"{mean(values):,.1f} ± {deviation(values):,.1f}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
