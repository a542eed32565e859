"""What Tree-of-Mixed-Thought reports of its searches (section 4), from recorded runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from thoughtgraph.bench.statistics import Interval, mean, wilson
from thoughtgraph.tree import ROOT, Tree, path_to


class Counts(NamedTuple):
    """What one search did."""

    calls: int
    """Calls of the generator that were judged: the paper's reasoning steps, one-stop has 1."""
    rejected: int
    """Judged calls whose steps were refused; the paper's NoBack has none."""
    steps: int
    """Atomic steps of the accepted plan; 0 without one."""
    ahead: int
    """Requests paid for calls that were generated ahead and never judged."""


def counts(tree: Tree, requests: int) -> Counts:
    """Reads the counts of one search off its tree.

    Args:
        tree: The search tree; every judged call is a thought of it.
        requests: Requests that reached the model.
    """
    calls = [thought for key, thought in tree.items() if key != ROOT]
    end = next((key for key, t in tree.items() if t["status"] == "terminal"), None)
    plan = [] if end is None else path_to(tree, end)
    return Counts(
        calls=len(calls),
        rejected=sum(thought["status"] == "pruned" for thought in calls),
        steps=sum(len(thought["text"].split("\n")) for thought in plan),
        ahead=max(0, requests - len(calls)),
    )


@dataclass(frozen=True)
class Score:
    """What a method reached on a set of questions.

    Attributes:
        questions: How many there were.
        correct: Share with the right answer.
        interval: Its 95 % interval (Wilson).
        inconsistent: Share with an accepted plan and a wrong answer.
        unfinished: Share without an accepted plan.
        no_back: Share with the right answer and no refused call.
        calls: Mean calls over the questions answered right, as the paper counts; 0 for none.
        calls_all: Mean calls over all questions.
        ahead: Mean requests paid over all questions for calls that were never judged.
    """

    questions: int
    correct: float
    interval: Interval
    inconsistent: float
    unfinished: float
    no_back: float
    calls: float
    calls_all: float
    ahead: float


def score(rows: Sequence[Mapping[str, Any]], calls: int | None = None) -> Score:
    """Scores the recorded runs of one method.

    Args:
        rows: The runs: `answer`, whether it is `right`, and what `counts` says of their trees.
        calls: Score them as if T had been this; None: as they were. A search that ended after more
            calls had no plan yet, so one run with a large T holds all smaller ones (section B).
    """
    size = len(rows)
    ended = [row for row in rows if row["answer"] is not None and _within(row, calls)]
    right = [row for row in ended if row["right"]]
    spent = [row["calls"] if calls is None else min(calls, row["calls"]) for row in rows]
    return Score(
        questions=size,
        correct=_share(right, size),
        interval=wilson(len(right), size),
        inconsistent=_share(ended, size) - _share(right, size),
        unfinished=1.0 - _share(ended, size) if size else 0.0,
        no_back=_share([row for row in right if not row["rejected"]], size),
        calls=mean([row["calls"] for row in right]),
        calls_all=mean(spent),
        ahead=mean([row["ahead"] for row in rows]),
    )


def saving(tot: Score, other: Score) -> float | None:
    """Returns the paper's RSSI: mean calls of step-by-step search divided by another method's.

    Each mean is over the questions that the method itself answers right; None when there are none.
    """
    return tot.calls / other.calls if tot.calls and other.calls else None


def _within(row: Mapping[str, Any], calls: int | None) -> bool:
    return calls is None or row["calls"] <= calls


def _share(some: Iterable[object], size: int) -> float:
    return len(list(some)) / size if size else 0.0
