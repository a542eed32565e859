"""The figures that measurements of speed give, and what they are taken under."""

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


class Conditions(NamedTuple):
    """What a measurement is taken under."""

    repeats: int
    """How many of what the measurement repeats."""
    latency: float = 0.2
    """Seconds that the server takes for an answer, where one is awaited."""


class Unavailable(Exception):
    """Something that a measurement needs is missing; the text says what."""
