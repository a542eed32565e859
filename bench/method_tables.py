"""What a paper reports of its own methods besides score and cost, for the lines of a table.

Beside it stands what is read off the trees of any method: `output_tables`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from thoughtgraph.bench.output_tables import output_tables
from thoughtgraph.bench.papers.mixed_metrics import counts, saving, score
from thoughtgraph.bench.papers.rollback_stats import METHODS, STRUCTURED, Kinds, summary
from thoughtgraph.bench.report_lines import Entry, MethodTable, outputs_of
from thoughtgraph.bench.result_files import Row, tree_of
from thoughtgraph.bench.statistics import mean, pearson

PLANNED = "tomt_"
"""What the methods of Tree-of-Mixed-Thought begin with."""
STEPWISE = "tomt_tot"
"""The method to which savings are relative."""
TRUNCATED = (10, 20, 30)
"""Calls at which Tree-of-Mixed-Thought's appendix B reports accuracy."""

Runs = Sequence[Mapping[str, Any]]
"""What `counts` says of the trees of a line, a run each, and whether it is right."""


def method_tables(table: Sequence[Entry]) -> Iterator[MethodTable]:
    """Yields the tables that a paper has of its own methods, where they are among the lines.

    Args:
        table: The lines of one task, set of problems and model.
    """
    # Summaries have no trees. What is read off the trees is read once: they are packed.
    table = _with_trees(table)
    planned = [(e, [_counted(r) for r in e.rows]) for e in table if e.method.startswith(PLANNED)]
    if planned:
        yield MethodTable(PLAN_TITLE, PLAN_HEADINGS, [_plans(*each, planned) for each in planned])
    if reasoned := [(entry, _summary(entry)) for entry in table if entry.method in METHODS]:
        rows = [_rollbacks(*each) for each in reasoned]
        yield MethodTable(ROLLBACK_TITLE, ROLLBACK_HEADINGS, rows)
        if first := [row for each in reasoned for row in _first_steps(*each)]:
            yield MethodTable(FIRST_TITLE, FIRST_HEADINGS, first)
    yield from output_tables(table)


def across_sets(found: Sequence[Entry]) -> Iterator[MethodTable]:
    """Yields how the means of types of questions go with their hops (table 3 of the paper).

    Hops and types are what a set of scene questions says of each.

    Args:
        found: The lines of all tables.
    """
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in _with_trees(found):
        if entry.method.startswith(PLANNED):
            groups.setdefault(_apart_from_data(entry), []).append(entry)
    if rows := [row for group in groups.values() for row in _correlations(group)]:
        yield MethodTable(HOP_TITLE, HOP_HEADINGS, rows)


HOP_TITLE = (
    "Correlation with the hop number, over the means of types of questions "
    "(Tree-of-Mixed-Thought, table 3)"
)
HOP_HEADINGS = ("method", "task", "model", "types", "accuracy", "calls, answered right", "NoBack")
FEWEST_TYPES = 3
"""Types of which a correlation says something (ours; the paper has nine): of two it is 1 or -1."""


def _correlations(group: Sequence[Entry]) -> Iterator[list[str]]:
    types = [(mean([*map(_hop, rows)]), score([*map(_counted, rows)])) for rows in _types(group)]
    if len(types) >= FEWEST_TYPES:
        first = group[0]
        yield [
            *(first.name, first.task, first.model, str(len(types))),
            _correlation([(hop, of.correct) for hop, of in types], FEWEST_TYPES),
            # A type without a right answer has no mean.
            _correlation([(hop, of.calls) for hop, of in types if of.calls], FEWEST_TYPES),
            _correlation([(hop, of.no_back) for hop, of in types], FEWEST_TYPES),
        ]


def _types(group: Sequence[Entry]) -> Iterable[Sequence[Row]]:
    """Returns the rows of each type of question, those of a type in several sets together."""
    found: dict[str, list[Row]] = {}
    for row in chain.from_iterable(entry.rows for entry in group):
        facts = row.get("facts", {})
        if "hop" in facts and "type" in facts:
            found.setdefault(facts["type"], []).append(row)
    return found.values()


def _apart_from_data(entry: Entry) -> tuple[str, ...]:
    """Returns what lines have in common that differ in the set of problems alone."""
    settings = json.dumps(dict(entry.given), sort_keys=True)
    return entry.task, entry.method, entry.model, entry.judge, str(entry.oracle), settings


def _hop(row: Row) -> float:
    return float(row["facts"]["hop"])


def _with_trees(table: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in table if all("tree" in row for row in entry.rows)]


PLAN_TITLE = "Calls and plans, as Tree-of-Mixed-Thought counts them (section 4, appendix B)"
PLAN_HEADINGS = (
    "method",
    "inconsistent",
    "NoBack",
    "calls, answered right",
    "calls, all",
    "ahead",
    "RSSI",
    "calls with hops",
    *(f"right at {calls}" for calls in TRUNCATED),
)


def _plans(entry: Entry, runs: Runs, planned: Sequence[tuple[Entry, Runs]]) -> list[str]:
    of = score(runs)
    stepwise = next((other for each, other in planned if _is_stepwise_of(each, entry)), None)
    rssi = saving(score(stepwise), of) if stepwise else None
    return [
        entry.name,
        f"{of.inconsistent:.0%}",
        f"{of.no_back:.0%}",
        f"{of.calls:.2f}",
        f"{of.calls_all:.2f}",
        f"{of.ahead:.2f}",
        "" if rssi is None else f"{rssi:.2f}",
        _with_hops(entry, runs),
        *(f"{score(runs, calls).correct:.0%}" for calls in TRUNCATED),
    ]


def _counted(row: Row) -> dict[str, Any]:
    usage = row["usage"]
    counted = counts(tree_of(row), int(usage["requests"]))._asdict()
    return {"right": row.get("score") == 1.0, "answer": row["answer"], **counted}


def _is_stepwise_of(other: Entry, entry: Entry) -> bool:
    """Whether a line is the step-by-step search that a line's saving is relative to."""
    same = {name: value for name, value in entry.given.items() if name in other.given}
    return other.method == STEPWISE and all(other.given[name] == same[name] for name in same)


def _with_hops(entry: Entry, runs: Runs) -> str:
    """Returns how calls go with the hops of a question, over those answered right (table 3)."""
    pairs = [
        (_hop(row), float(run["calls"]))
        for row, run in zip(entry.rows, runs, strict=True)
        if run["right"] and "hop" in row.get("facts", {})
    ]
    return _correlation(pairs)


def _correlation(pairs: Sequence[tuple[float, float]], fewest: int = 2) -> str:
    found = pearson(pairs) if len(pairs) >= fewest else None
    return "" if found is None else f"{found:+.2f}"


ROLLBACK_TITLE = "Interactions and rollbacks, as Thought Rollback counts them (figure 3)"
ROLLBACK_HEADINGS = ("method", "samples", "rollbacks", "steps back", *("In", "Out", "No"))


def _rollbacks(entry: Entry, told: Mapping[str, Any]) -> list[str]:
    spans = [int(span) for span, times in told["spans"].items() for _ in range(times)]
    shown = entry.method == STRUCTURED
    return [
        entry.name,
        f"{mean([float(spent) for each in told['interactions'].values() for spent in each]):.1f}",
        f"{len(spans) / len(entry.rows):.2f}" if shown else "",
        f"{mean([float(span) for span in spans]):.1f}" if spans else "",
        *(_rate(told["paths"][name]) if shown else "" for name in Kinds._fields),
    ]


def _rate(paths: Mapping[str, int]) -> str:
    return f"{paths['right']} of {paths['paths']} right"


FIRST_TITLE = "Failures at the first step of Game of 24, by rollbacks to the problem (figure 3 c)"
FIRST_HEADINGS = ("method", "rollbacks before", "first steps", "failed")


def _first_steps(entry: Entry, told: Mapping[str, Any]) -> Iterator[list[str]]:
    for before, counted in told["first_steps_by_rollbacks"].items():
        yield [entry.name, before, str(counted["steps"]), str(counted["failed"])]


def _summary(entry: Entry) -> dict[str, Any]:
    scores = {
        (row["problem"], answer): score
        for row in entry.rows
        for answer, score in zip(outputs_of(row), row.get("scores") or (), strict=False)
    }
    results = ({**row, "tree": tree_of(row)} for row in entry.rows)
    return summary(results, lambda problem, answer: scores.get((problem, answer)) == 1.0)
