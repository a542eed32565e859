"""What each line had reached at each budget: of requests, of tokens, of dollars."""

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
"""Budgets of a table (ours)."""


class BudgetScores(NamedTuple):
    """The scores of lines at budgets of one unit."""

    unit: Unit
    budgets: Sequence[Decimal]
    """Round ones, the last of which is enough for all."""
    scores: Mapping[str, Sequence[float]]
    """By the names of the lines of which the unit is known."""

    @property
    def table(self) -> Table:
        """The scores in words."""
        title = f"Score with at most so many {self.unit} a problem ({SCORED})"
        headings = ["method", *(f"{budget:,f}" for budget in self.budgets)]
        rows = [[name, *(f"{s:.1%}" for s in scores)] for name, scores in self.scores.items()]
        return Table(title, headings, rows)


def budget_scores(table: Sequence[Entry]) -> Iterator[BudgetScores]:
    """Yields the scores at round budgets, for each unit of which they can have had less.

    Args:
        table: The lines of one task, set of problems and model.
    """
    lines = with_points(table)
    for unit in UNITS:
        spent = (float(getattr(each, unit)) for entry in lines for each in entry.spent)
        at = budgets(unit, max((each for each in spent if 0 < each < inf), default=0.0))
        if len(at) > 1:
            curves = {entry.name: curve(entry.rows, unit, [*map(float, at)]) for entry in lines}
            yield BudgetScores(unit, at, {name: each for name, each in curves.items() if each})


def with_points(table: Sequence[Entry]) -> list[Entry]:
    """Returns the lines whose smaller budgets are known, with the points of each run.

    What a run had reached is told once, by the ensemble that it was run with.
    """
    known = [e for e in table if e.task in registry.TASKS and all(map(_is_known, e.rows))]
    return [
        replace(entry, rows=[{**row, "points": points(row)} for row in entry.rows])
        for entry in known
    ]


def _is_known(row: Row) -> bool:
    whole = row.get("points") or ("tree" in row and "points" not in row)
    return bool(whole) and row.get("score") is not None and not row.get("same_run")


def budgets(unit: Unit, most: float) -> list[Decimal]:
    """Returns round budgets (1, 2, 5, 10, ...), the last of which is enough for all.

    Args:
        unit: What they count; of requests and tokens there is at least one.
        most: The most that a run spent.
    """
    if not most:
        return []
    whole = Decimal(str(most))
    size = whole.adjusted()
    steps = [Decimal(f"{digit}e{at}") for at in range(size - 3, size + 2) for digit in (1, 2, 5)]
    enough = next(at for at, step in enumerate(steps) if step >= whole)
    least = 0 if unit == "dollars" else 1
    return [step for step in steps[enough + 1 - COLUMNS : enough + 1] if step >= least]
