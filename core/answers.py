"""What a task may be able to say of answers, besides whether they are right (`Checks`)."""

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

        The verdict's label tells a reader what the answer gives when it is run, or what is wrong.
        """
        ...


@runtime_checkable
class Same(Task, Protocol):
    """Can tell which answers are the same, however they are written: one vote of samples."""

    def same(
        self, problem: str, answer: str, options: Options
    ) -> Awaitable[str | None] | str | None:
        """Returns the form that equal answers share.

        None: it has no vote. Empty: it has one only where no answer has another form.
        """
        ...


@runtime_checkable
class Scores(Task, Protocol):
    """Can compare an answer with the gold one, for benchmarks: no search is told."""

    def score(
        self, problem: str, answer: str, gold: str, options: Options
    ) -> Awaitable[float] | float:
        """Returns how right an answer is, from 0 to 1."""
        ...
