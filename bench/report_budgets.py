"""What each line had reached at each budget: of requests, of tokens, of dollars."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from math import inf

from thoughtgraph import registry
from thoughtgraph.bench.budget import Unit, curve, points
from thoughtgraph.bench.report_lines import Entry, Table, outputs_of
from thoughtgraph.bench.result_files import Row
from thoughtgraph.bench.result_summaries import rescored

UNITS: Sequence[Unit] = ("requests", "tokens", "dollars")
SCORED = "of the answer, the best output that can be read"
COLUMNS = 6
"""Budgets of a table (ours)."""
POINTS, SPAN = 200, 1_000
"""Budgets at which a curve is drawn, and the largest as a multiple of the smallest (ours)."""


def with_points(table: Sequence[Entry]) -> list[Entry]:
    """Returns the lines whose smaller budgets are known, with the points of each run.

    What a run had reached is told once, by the ensemble that it was run with.

    Args:
        table: The lines of one task, set of problems and model.
    """
    known = [e for e in table if e.task in registry.TASKS and all(map(_is_known, e.rows))]
    return [replace(entry, rows=[*map(_pointed, entry.rows)]) for entry in known]


def _is_known(row: Row) -> bool:
    whole = row.get("points") or ("tree" in row and "points" not in row)
    return bool(whole) and row.get("score") is not None and not row.get("same_run")


def _pointed(row: Row) -> Row:
    return row if "points" in row else {**row, "points": points(row, _scored)}


def _scored(row: Row, answers: Sequence[str | None]) -> Sequence[float]:
    """Returns the scores of answers; what a judge or a scorer said is not asked for again."""
    said = dict(zip(outputs_of(row), row["scores"], strict=False))
    known = all(answer in said for answer in answers)
    return [said[answer] for answer in answers] if known else rescored(row, answers)


def units(lines: Sequence[Entry]) -> Iterator[tuple[Unit, float]]:
    """Yields the units in which lines can have had less, and the most that a run spent.

    Args:
        lines: Those of `with_points`.
    """
    for unit in UNITS:
        spent = (float(getattr(each, unit)) for entry in lines for each in entry.spent)
        most = max((each for each in spent if 0 < each < inf), default=0.0)
        if len(budgets(unit, most)) > 1:
            yield unit, most


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
    return [step for step in steps[enough + 1 - COLUMNS : enough + 1] if step >= _least(unit)]


def _least(unit: Unit) -> int:
    return 0 if unit == "dollars" else 1


def curves(lines: Sequence[Entry], unit: Unit, most: float) -> dict[str, list[tuple[float, float]]]:
    """Returns budgets and scores of each line of which the unit is known, by name.

    Args:
        lines: Those of `with_points`.
        unit: What a budget counts.
        most: The largest budget.
    """
    least = max(_least(unit), most / SPAN)
    shares = (1 - step / POINTS for step in range(POINTS + 1))
    at = [max(least, most * (least / most) ** share) for share in shares]
    found = {entry.name: _reached(entry, unit, at) for entry in lines}
    return {name: [*zip(at, scores, strict=True)] for name, scores in found.items() if scores}


def budget_tables(table: Sequence[Entry]) -> Iterator[Table]:
    """Yields a table of scores at round budgets for each unit.

    Args:
        table: The lines of one task, set of problems and model.
    """
    lines = with_points(table)
    for unit, most in units(lines):
        at = budgets(unit, most)
        found = {entry.name: _reached(entry, unit, [*map(float, at)]) for entry in lines}
        rows = [[name, *(f"{s:.1%}" for s in scores)] for name, scores in found.items() if scores]
        title = f"Score with at most so many {unit} a problem ({SCORED})"
        yield Table(title, ["method", *(f"{budget:,f}" for budget in at)], rows)


def _reached(entry: Entry, unit: Unit, at: Sequence[float]) -> list[float]:
    """Returns the score at each budget; nothing where the unit is not known of every run."""
    return [score for score in curve(entry.rows, rescored, unit, at) if score is not None]
