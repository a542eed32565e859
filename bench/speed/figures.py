"""The figures that measurements of speed give, and what they are taken under."""

from dataclasses import dataclass
from typing import NamedTuple


class Figure(NamedTuple):
    """A number that was measured; without a bound nothing is aimed at."""

    name: str
    value: float
    unit: str = ""
    most: float | None = None
    least: float | None = None

    def missed(self) -> bool:
        """Returns whether the value breaks its bound."""
        above = self.most is not None and self.value > self.most
        return above or (self.least is not None and self.value < self.least)

    def line(self) -> str:
        """Returns the figure, its bound and whether it was missed, as a line."""
        bound = f"at most {self.most:g}" if self.most is not None else ""
        if self.least is not None:
            bound = f"at least {self.least:g}"
        told = f"{bound}{', missed' if self.missed() else ''}"
        return f"  {self.name:<48}{self.value:>10.4g} {self.unit:<14}{told}".rstrip()


@dataclass(frozen=True)
class Conditions:
    """What a measurement is taken under.

    Attributes:
        count: How many of what the measurement repeats.
        latency: Seconds that the server takes for an answer, where one is awaited.
        database: A PostgreSQL server where a database may be made and dropped; empty: none.
    """

    count: int
    latency: float = 0.2
    database: str = ""


class Unavailable(Exception):
    """Something that a measurement needs is missing; the text says what."""
