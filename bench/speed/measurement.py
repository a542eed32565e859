"""What a measurement of speed is, and its table: what is aimed at beside what was measured."""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Readings = Mapping[str, float]
"""What was measured, by the name of its figure."""


class Figure(NamedTuple):
    """A number that a measurement gives; without a bound nothing is aimed at."""

    name: str
    unit: str
    most: float | None = None
    least: float | None = None

    def target(self) -> str:
        """Returns the bound in words, empty without one."""
        if self.most is not None:
            return f"≤ {self.most:g}"
        return f"≥ {self.least:g}" if self.least is not None else ""

    def outcome(self, value: float) -> str:
        """Returns whether a value keeps to the bound: kept or missed, empty without one."""
        if self.most is None and self.least is None:
            return ""
        low = self.most is None or value <= self.most
        return "kept" if low and (self.least is None or value >= self.least) else "missed"


@dataclass(frozen=True)
class Conditions:
    """What a measurement is taken under; plain values, by which a stored one is known again.

    Attributes:
        count: How many of what the measurement repeats.
        latency: Seconds that an answer of a scripted model or server takes, where one is awaited.
        endpoint: A server to measure against, `http://HOST:PORT/v1#NAME`; empty: one of our own.
        pages: The pages of an offline corpus, one JSON object a line; empty: none.
        questions: Questions to search them for; empty: sentences of the pages.
        database: A PostgreSQL server where a database may be made and dropped; empty: none.
    """

    count: int
    latency: float = 0.2
    endpoint: str = ""
    pages: str = ""
    questions: str = ""
    database: str = ""


@dataclass(frozen=True)
class Measurement:
    """Something about speed that is measured, always as ratios within one run where it can be.

    Attributes:
        name: Its name on the command line.
        measures: What it measures, in a line.
        taken: How it is taken.
        figures: The numbers it gives.
        count: How many are repeated, of what `taken` says.
        quick: How many with `--quick`, which shows that it works and little more.
        take: Takes it.
    """

    name: str
    measures: str
    taken: str
    figures: tuple[Figure, ...]
    count: int
    quick: int
    take: Callable[[Conditions], Coroutine[Any, Any, Readings]]


class Unavailable(Exception):
    """What a measurement needs is not there; the text says what, and how it is had."""


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields rows as lines with their cells below each other, the first cell to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()


def report(measurement: Measurement, readings: Readings) -> Iterator[str]:
    """Yields the lines of one measurement: each figure with target, reading and outcome."""
    yield f"{measurement.name}: {measurement.measures}"
    rows = [("figure", "unit", "target", "measured", "")]
    for figure in measurement.figures:
        if (value := readings.get(figure.name)) is not None:
            cells = (figure.unit, figure.target(), f"{value:.4g}", figure.outcome(value))
            rows.append((f"  {figure.name}", *cells))
    yield from table(rows)


def missed(measurement: Measurement, readings: Readings) -> list[str]:
    """Returns the figures whose target was missed."""
    return [
        figure.name
        for figure in measurement.figures
        if figure.name in readings and figure.outcome(readings[figure.name]) == "missed"
    ]
