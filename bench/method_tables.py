"""What a paper reports of its own methods besides score and cost, for the lines of a table.

Beside it stands what is read off the trees of any method: `output_tables`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from thoughtgraph.bench.output_tables import output_tables
from thoughtgraph.bench.paper_figures import FIGURES, RELATIVES
from thoughtgraph.bench.papers.mixed_metrics import PLANNED, ahead, right
from thoughtgraph.bench.papers.rollback_stats import (
    METHODS,
    STRUCTURED,
    Kinds,
    first_steps,
    kinds,
    solutions,
    spans,
)
from thoughtgraph.bench.papers.suites import Figure
from thoughtgraph.bench.report_lines import Entry, Table, outputs_of
from thoughtgraph.bench.result_files import tree_of
from thoughtgraph.bench.statistics import mean, pearson

STEPWISE = "tomt_tot"
"""The method to which savings are relative."""
TRUNCATED = (10, 20, 30)
"""Calls at which Tree-of-Mixed-Thought's appendix B reports accuracy."""


def method_tables(table: Sequence[Entry]) -> Iterator[Table]:
    """Yields the tables that a paper has of its own methods, where they are among the lines.

    Args:
        table: The lines of one task, set of problems and model.
    """
    table = [entry for entry in table if entry.has_trees]
    if planned := [entry for entry in table if entry.method.startswith(PLANNED)]:
        yield Table(PLAN_TITLE, PLAN_HEADINGS, [_plans(entry, planned) for entry in planned])
    if reasoned := [entry for entry in table if entry.method in METHODS]:
        yield Table(ROLLBACK_TITLE, ROLLBACK_HEADINGS, [*map(_rollbacks, reasoned)])
        if first := [row for entry in reasoned for row in _first_steps(entry)]:
            yield Table(FIRST_TITLE, FIRST_HEADINGS, first)
    yield from output_tables(table)


PLAN_TITLE = "Calls and plans, as Tree-of-Mixed-Thought counts them (section 4, appendix B)"
CALLS: Figure = "calls, answered right"
PLAN_HEADINGS = (
    *("method", "inconsistent", "NoBack", CALLS, "ahead", "RSSI", "calls with hops"),
    *(f"right at {calls}" for calls in TRUNCATED),
)


def _plans(entry: Entry, planned: Sequence[Entry]) -> list[str]:
    stepwise = next((other for other in planned if _is_stepwise_of(other, entry)), None)
    return [
        entry.name,
        f"{mean(FIGURES['inconsistent'](entry)):.0%}",
        f"{mean(FIGURES['NoBack'](entry)):.0%}",
        f"{mean(FIGURES[CALLS](entry)):.2f}",
        f"{mean([*map(ahead, entry.rows)]):.2f}",
        RELATIVES["saving"].formatted(entry, stepwise) if stepwise else "",
        _with_hops(entry),
        *(f"{mean([right(row, calls) for row in entry.rows]):.0%}" for calls in TRUNCATED),
    ]


def _is_stepwise_of(other: Entry, entry: Entry) -> bool:
    """Whether a line is the step-by-step search that a line's saving is relative to."""
    same = {name: value for name, value in entry.given.items() if name in other.given}
    return other.method == STEPWISE and all(other.given[name] == same[name] for name in same)


def _with_hops(entry: Entry) -> str:
    """Returns how calls go with the hops of a question, over those answered right (table 3)."""
    answered = [row for row in entry.rows if right(row)]
    hops = [row.get("facts", {}).get("hop") for row in answered]
    pairs = zip(hops, FIGURES[CALLS](entry), strict=True)
    found = pearson([(float(hop), calls) for hop, calls in pairs if hop is not None])
    return "" if found is None else f"{found:+.2f}"


ROLLBACK_TITLE = "Interactions and rollbacks, as Thought Rollback counts them (figure 3)"
ROLLBACK_HEADINGS = ("method", "samples", "rollbacks", "steps back", *("In", "Out", "No"))


def _rollbacks(entry: Entry) -> list[str]:
    samples = f"{mean(FIGURES['interactions'](entry)):.1f}"
    if entry.method != STRUCTURED:
        return [entry.name, samples, *[""] * 5]
    back = [span for row in entry.rows for span in spans(tree_of(row))]
    steps = f"{mean(back):.1f}" if back else ""
    return [entry.name, samples, f"{len(back) / len(entry.rows):.2f}", steps, *_kinds(entry)]


def _kinds(entry: Entry) -> Iterator[str]:
    """Yields how many paths of each kind end in a right answer."""
    paths, good = Counter[str](), Counter[str]()
    for row in entry.rows:
        tree = tree_of(row)
        scores = dict(zip(outputs_of(row), row["scores"], strict=False))
        for key in solutions(tree):
            of = [name for name, holds in kinds(tree, key)._asdict().items() if holds]
            paths.update(of)
            good.update(of if scores.get(tree[key].get("answer")) == 1.0 else ())
    for name in Kinds._fields:
        yield f"{good[name]} of {paths[name]} right"


FIRST_TITLE = "Failures at the first step of Game of 24, by rollbacks to the problem (figure 3 c)"
FIRST_HEADINGS = ("method", "rollbacks before", "first steps", "failed")


def _first_steps(entry: Entry) -> Iterator[list[str]]:
    if entry.task != "game24" or entry.method != STRUCTURED:
        return
    steps, failed = Counter[int](), Counter[int]()
    for row in entry.rows:
        for step in first_steps(row["problem"], tree_of(row)):
            steps[step.before] += 1
            failed[step.before] += step.failed
    for before in sorted(steps):
        yield [entry.name, str(before), str(steps[before]), str(failed[before])]
