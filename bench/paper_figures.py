"""What each figure of a published table is, computed from our runs."""

from collections.abc import Callable, Mapping
from math import isnan
from typing import NamedTuple

from thoughtgraph.bench import metrics
from thoughtgraph.bench.budget import SAMPLED
from thoughtgraph.bench.crossword_scores import best_state, score
from thoughtgraph.bench.papers import mixed_metrics
from thoughtgraph.bench.papers.suites import Figure
from thoughtgraph.bench.report_lines import Entry, outputs_of
from thoughtgraph.bench.result_files import Row, tree_of
from thoughtgraph.bench.statistics import mean

Values = Callable[[Entry], list[float]]
TIMES: Mapping[Figure, float] = {
    "calls, answered right": 1,
    "interactions": 1,
    "tokens": 1,
    "prompt tokens": 1,
    "completion tokens": 1,
    "dollars": 1,
    "coherence": 10,
    "mean coherence": 10,
}
"""By what figures are shown that are no percentages; scores are between 0 and 1."""
_PERCENT = 100.0
COUNTED: frozenset[Figure] = frozenset(name for name, times in TIMES.items() if times == 1)
"""Figures that count something, whose interval is not that of a share."""


def shown(figure: Figure, value: float) -> str:
    """Returns a value in the unit of the papers' tables."""
    # What a small model costs a problem is a fraction of a cent.
    digits = 4 if figure == "dollars" else 1
    return f"{scale(figure) * value:,.{digits}f}"


def scale(figure: Figure) -> float:
    """Returns by what a figure is multiplied when it is shown."""
    return TIMES.get(figure, _PERCENT)


def _first(entry: Entry) -> list[float]:
    return list(entry.scores.values())


def _all(entry: Entry) -> list[float]:
    return [mean(row["scores"]) for row in entry.rows if row.get("scores")]


def _best(entry: Entry) -> list[float]:
    return [max(row["scores"]) for row in entry.rows if row.get("scores")]


def _f1(entry: Entry) -> list[float]:
    if entry.task != "hotpotqa":
        return []
    return [
        0.0 if row["answer"] is None else metrics.f1(row["answer"], row["gold"])
        for row in entry.rows
    ]


def _dollars(entry: Entry) -> list[float]:
    spent = [each.dollars for each in entry.spent]
    return [] if any(map(isnan, spent)) else spent


def _calls(entry: Entry) -> list[float]:
    return [mixed_metrics.calls(row) for row in entry.rows if mixed_metrics.right(row)]


def _share(holds: Callable[[Row], bool]) -> Values:
    """Makes a figure of plans: the share of problems of which something holds."""
    return lambda entry: [float(holds(row)) for row in entry.rows] if entry.has_trees else []


def _boards(share: str) -> Values:
    """Makes a figure of crosswords: of the answer; where samples are drawn, a mean over these."""

    def values(entry: Entry) -> list[float]:
        if entry.task != "crosswords":
            return []
        sampled = entry.method in SAMPLED
        boards = [outputs_of(row) if sampled else [row["answer"]] for row in entry.rows]
        return [
            mean([float(getattr(score(board, row["gold"]), share)) for board in each])
            for each, row in zip(boards, entry.rows, strict=True)
        ]

    return values


def _best_board(share: str) -> Values:
    """Makes a figure of the best board that each search of crosswords visited."""

    def values(entry: Entry) -> list[float]:
        if entry.task != "crosswords":
            return []
        boards = [best_state(tree_of(row), row["gold"]) for row in entry.rows]
        return [float(getattr(board, share)) for board in boards]

    return values


FIGURES: Mapping[Figure, Values] = {
    "score": _first,
    "mean": _all,
    "coherence": _first,
    "mean coherence": _all,
    "best": _best,
    "f1": _f1,
    "calls, answered right": _calls,
    "NoBack": _share(mixed_metrics.no_back),
    "inconsistent": _share(mixed_metrics.inconsistent),
    "interactions": lambda entry: [each.samples for each in entry.spent],
    "tokens": lambda entry: [each.tokens for each in entry.spent],
    "prompt tokens": lambda entry: [each.prompt_tokens for each in entry.spent],
    "completion tokens": lambda entry: [each.completion_tokens for each in entry.spent],
    "dollars": _dollars,
    "letters": _boards("letters"),
    "games": _boards("game"),
    "best letters": _best_board("letters"),
    "best words": _best_board("words"),
    "best games": _best_board("game"),
}
"""What each figure is, one value a run or a problem."""


class Relative(NamedTuple):
    """A figure of one line relative to another."""

    figure: Figure
    """The figure of either line."""
    relation: Callable[[float, float], float]
    """What is told of this line's mean and the other's."""
    form: str
    """How it is shown."""

    def formatted(self, own: Entry, other: Entry) -> str:
        """Returns the figure in words; nothing where either line has no value."""
        both = [FIGURES[self.figure](each) for each in (own, other)]
        if not all(both):
            return ""
        try:
            value = self.relation(*map(mean, both))
        except ZeroDivisionError:
            return ""
        return format(value, self.form)


def _ratio(own: float, other: float) -> float:
    return own / other


def _saving(own: float, other: float) -> float:
    return other / own


def _change(own: float, other: float) -> float:
    return _PERCENT * (own - other)


RELATIVES: Mapping[Figure, Relative] = {
    "saving": Relative("calls, answered right", _saving, ".2f"),
    "prompt ratio": Relative("prompt tokens", _ratio, ".2f"),
    "completion ratio": Relative("completion tokens", _ratio, ".2f"),
    "score change": Relative("score", _change, "+.1f"),
    "f1 change": Relative("f1", _change, "+.1f"),
}
"""The figures that are relative to the line which a line names."""
