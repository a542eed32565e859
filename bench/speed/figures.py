"""The figures of speed measurements, and the conditions of a measurement."""

from typing import NamedTuple


class Figure(NamedTuple):
    """A measured number; without a bound it has no target."""

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
        """Returns a line with the figure, its bound and whether the bound was missed."""
        bound = f"at most {self.most:g}" if self.most is not None else ""
        if self.least is not None:
            bound = f"at least {self.least:g}"
        target = f"{bound}{', missed' if self.missed() else ''}"
        return f"  {self.name:<48}{self.value:>10.4g} {self.unit:<14}{target}".rstrip()


class Conditions(NamedTuple):
    """The conditions of a measurement."""

    repeats: int
    """Number of repetitions, in the measurement's own unit."""
    latency: float = 0.2
    """Seconds that the server takes for an answer, in measurements that use it."""


class Unavailable(Exception):
    """Something that a measurement needs is missing; the text says what."""
