"""Capabilities of tasks to compare and rate answers, besides the exact check (`Checks`)."""

from collections.abc import Awaitable
from typing import Protocol, runtime_checkable

from thoughtgraph.task import Options, Task, Verdict


@runtime_checkable
class Plausible(Task, Protocol):
    """Can tell whether an answer may be right, such as that it runs; this verifies nothing."""

    def plausible(
        self, problem: str, answer: str, options: Options
    ) -> Verdict | Awaitable[Verdict]:
        """Returns a verdict whose value is above 0 if the answer may be right.

        The verdict's label tells a reader what running the answer returns, or what is wrong.
        """
        ...


@runtime_checkable
class Same(Task, Protocol):
    """Can tell which answers are equal, however they are written, so that they share a vote."""

    def same(
        self, problem: str, answer: str, options: Options
    ) -> Awaitable[str | None] | str | None:
        """Returns the form that equal answers share.

        None: the answer has no vote. Empty: it has a vote only if all forms are empty.
        """
        ...


@runtime_checkable
class Scores(Task, Protocol):
    """Can score an answer against the gold one, for benchmarks: no search sees the score."""

    def score(
        self, problem: str, answer: str, gold: str, options: Options
    ) -> Awaitable[float] | float:
        """Returns how right an answer is, from 0 to 1."""
        ...
