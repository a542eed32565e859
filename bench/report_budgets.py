"""The score of each line within budgets of requests, tokens and dollars."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from math import inf
from typing import NamedTuple

from thoughtgraph import registry
from thoughtgraph.bench.budget import Unit, curve, points
from thoughtgraph.bench.report_lines import Entry, Table
from thoughtgraph.bench.result_files import Row

UNITS: Sequence[Unit] = ("requests", "tokens", "dollars")
SCORED = "of the answer, the best output that can be read"
COLUMNS = 6
"""Number of budgets in a table (ours)."""


class BudgetScores(NamedTuple):
    """The scores of lines at budgets of one unit."""

    unit: Unit
    budgets: Sequence[Decimal]
    """Round numbers; the last one is enough for every run."""
    scores: Mapping[str, Sequence[float]]
    """One score per budget, by the name of each line whose runs know the unit."""

    @property
    def table(self) -> Table:
        """The scores as a table of texts."""
        title = f"Score with at most so many {self.unit} a problem ({SCORED})"
        headings = ["method", *(f"{budget:,f}" for budget in self.budgets)]
        rows = [[name, *(f"{s:.1%}" for s in scores)] for name, scores in self.scores.items()]
        return Table(title, headings, rows)


def budget_scores(table: Sequence[Entry]) -> Iterator[BudgetScores]:
    """Yields the scores at round budgets, for each unit with at least two such budgets.

    Args:
        table: The lines of one task, set of problems and model.
    """
    lines = with_points(table)
    for unit in UNITS:
        spent = (float(getattr(each, unit)) for entry in lines for each in entry.spent)
        steps = budgets(unit, max((each for each in spent if 0 < each < inf), default=0.0))
        if len(steps) > 1:
            curves = {entry.name: curve(entry.rows, unit, [*map(float, steps)]) for entry in lines}
            yield BudgetScores(unit, steps, {name: each for name, each in curves.items() if each})


def with_points(table: Sequence[Entry]) -> list[Entry]:
    """Returns the lines with known points, each run with its points filled in.

    A run that several ensembles share appears once, in the line of the ensemble it was run with.
    """
    lines = [e for e in table if e.task in registry.TASKS and all(map(_has_points, e.rows))]
    return [
        replace(entry, rows=[{**row, "points": points(row)} for row in entry.rows])
        for entry in lines
    ]


def _has_points(row: Row) -> bool:
    points_or_tree = row.get("points") or ("tree" in row and "points" not in row)
    return bool(points_or_tree) and row.get("score") is not None and not row.get("same_run")


def budgets(unit: Unit, most: float) -> list[Decimal]:
    """Returns round budgets (1, 2, 5, 10, ...), the last of which is enough for all.

    Args:
        unit: The unit of the budgets; budgets of requests and tokens are at least 1.
        most: The cost of the most expensive run.
    """
    if not most:
        return []
    largest = Decimal(str(most))
    power = largest.adjusted()
    steps = [Decimal(f"{digit}e{at}") for at in range(power - 3, power + 2) for digit in (1, 2, 5)]
    last = next(at for at, step in enumerate(steps) if step >= largest)
    least = 0 if unit == "dollars" else 1
    return [step for step in steps[last + 1 - COLUMNS : last + 1] if step >= least]
